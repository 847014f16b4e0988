import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { stageNames, stages } from '../../../infra/stages.ts';
import { isIssued, parseToken } from '../../../shared/keys/token.ts';
import { propertiesOf, readableStage } from '../../support/readable-template.ts';
import { resourcesOf, synthesizedStages, withoutHash } from '../../support/synthesized.ts';

const synthesized = synthesizedStages();
const functionSchema = v.object({ Environment: v.object({ Variables: v.looseObject({}) }) });

/** The values of all keys of a stage, by their logical ids without hashes. */
const keysOf = (stage: (typeof stageNames)[number]): Record<string, string> =>
  Object.fromEntries(
    resourcesOf(synthesized[stage], 'AWS::ApiGateway::ApiKey', v.object({ Value: v.string() })).map(
      ({ id, properties }) => [withoutHash(id), properties.Value],
    ),
  );

const ofPlan = (plan: string) => ({ KeyId: `<UsagePlans${plan}Key>`, UsagePlanId: `<UsagePlans${plan}>` });

describe.each(stageNames)('the usage plans of %s', (stage) => {
  test('never refuse what the exact limits admit (spec §8); refused requests are throttled together', () => {
    const plans = propertiesOf(readableStage(stage), 'AWS::ApiGateway::UsagePlan', v.looseObject({})).map(
      ([name, { Throttle, Quota }]) => [name.replace('UsagePlans', ''), { Throttle, Quota }],
    );

    expect(Object.fromEntries(plans)).toEqual({
      Free: { Throttle: { RateLimit: 1, BurstLimit: 120 }, Quota: { Limit: 1_060, Period: 'DAY' } },
      Pro: { Throttle: { RateLimit: 5, BurstLimit: 600 }, Quota: { Limit: 10_300, Period: 'DAY' } },
      Business: { Throttle: { RateLimit: 17, BurstLimit: 2_000 }, Quota: { Limit: 101_000, Period: 'DAY' } },
      // Each of its keys has limits of its own: no quota, and what the stage takes from all clients at once.
      Enterprise: { Throttle: { RateLimit: stages[stage].throttle.requestsPerSecond, BurstLimit: 5_000 } },
      Overflow: { Throttle: { RateLimit: 100, BurstLimit: 200 } },
      Interim: {},
    });
  });

  test('have no keys of customers: only one of each internal plan, which the authorizer names, and which opens nothing', () => {
    const functions = resourcesOf(synthesized[stage], 'AWS::Lambda::Function', v.unknown());
    const authorizer = functions.find(({ id }) => withoutHash(id) === 'FunctionsAuthorizer')?.properties;
    const { UsagePlansOverflowKey: overflow = '', UsagePlansInterimKey: interim = '', ...others } = keysOf(stage);
    const planKeys = propertiesOf(readableStage(stage), 'AWS::ApiGateway::UsagePlanKey', v.unknown());

    expect(others).toEqual({});
    expect(v.parse(functionSchema, authorizer).Environment.Variables).toMatchObject({
      OVERFLOW_USAGE_IDENTIFIER: overflow,
      INTERIM_USAGE_IDENTIFIER: interim,
    });
    expect(planKeys.map(([, properties]) => properties)).toMatchObject([ofPlan('Interim'), ofPlan('Overflow')]);
    for (const value of [overflow, interim]) {
      expect(value).toMatch(/^[0-9a-f]{64}$/);
      expect({ isRecordId: isIssued(value), token: parseToken(value) }).toEqual({ isRecordId: false });
    }
  });
});

test('No internal key is that of another plan or another stage', () => {
  expect(new Set(stageNames.flatMap((stage) => Object.values(keysOf(stage)))).size).toBe(4);
});
