import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { stageNames } from '../../../infra/stages.ts';
import { isKeyHash, isPlausibleApiKey } from '../../../shared/keys/api-key.ts';
import { ref, resourcesOf, type SynthesizedStage, synthesizedStages, withoutHash } from '../../support/synthesized.ts';

const synthesized = synthesizedStages();

const planSchema = v.looseObject({ UsagePlanName: v.string(), Tags: v.unknown() });
const planKeySchema = v.object({ KeyId: ref, UsagePlanId: ref });
const authorizerSchema = v.object({ Environment: v.object({ Variables: v.looseObject({}) }) });

/** The value of the one key that an internal plan has. */
function identifierOf(stage: SynthesizedStage, plan: string): string {
  const planKeys = resourcesOf(stage, 'AWS::ApiGateway::UsagePlanKey', planKeySchema);
  const planKey = planKeys.find(({ properties }) => withoutHash(properties.UsagePlanId) === `UsagePlans${plan}`);
  const apiKeys = resourcesOf(stage, 'AWS::ApiGateway::ApiKey', v.object({ Value: v.string() }));
  return apiKeys.find(({ id }) => id === planKey?.properties.KeyId)?.properties.Value ?? '';
}

describe.each(stageNames)('the usage plans of %s', (name) => {
  const stage = synthesized[name];

  test('never refuse what the exact limits admit (spec §8); refused requests are throttled together', () => {
    const plans = resourcesOf(stage, 'AWS::ApiGateway::UsagePlan', planSchema).map(({ properties }) => [
      properties.UsagePlanName.replace(`${name}-Inventory `, ''),
      { throttle: properties['Throttle'], quota: properties['Quota'] },
    ]);

    expect(Object.fromEntries(plans)).toEqual({
      Free: { throttle: { RateLimit: 1, BurstLimit: 120 }, quota: { Limit: 1_060, Period: 'DAY' } },
      Pro: { throttle: { RateLimit: 5, BurstLimit: 600 }, quota: { Limit: 10_300, Period: 'DAY' } },
      Business: { throttle: { RateLimit: 17, BurstLimit: 2_000 }, quota: { Limit: 101_000, Period: 'DAY' } },
      // Each of its keys has limits of its own.
      Enterprise: {},
      Overflow: { throttle: { RateLimit: 100, BurstLimit: 200 } },
      Interim: {},
    });
  });

  test('have no keys of customers: only one of each internal plan, which the authorizer names', () => {
    const authorizer = resourcesOf(stage, 'AWS::Lambda::Function', v.looseObject({})).find(
      ({ id }) => withoutHash(id) === 'FunctionsAuthorizer',
    );

    expect(resourcesOf(stage, 'AWS::ApiGateway::ApiKey', v.unknown())).toHaveLength(2);
    expect(v.parse(authorizerSchema, authorizer?.properties).Environment.Variables).toMatchObject({
      OVERFLOW_USAGE_IDENTIFIER: identifierOf(stage, 'Overflow'),
      INTERIM_USAGE_IDENTIFIER: identifierOf(stage, 'Interim'),
    });
  });

  test.each(['Overflow', 'Interim'])('open nothing: the value of the %s key is never taken for a key', (plan) => {
    expect(isKeyHash(identifierOf(stage, plan))).toBe(true);
    expect(isPlausibleApiKey(identifierOf(stage, plan))).toBe(false);
  });
});

test('No internal key is that of another plan or another stage', () => {
  const values = stageNames.flatMap((name) =>
    ['Overflow', 'Interim'].map((plan) => identifierOf(synthesized[name], plan)),
  );

  expect(new Set(values).size).toBe(4);
});
