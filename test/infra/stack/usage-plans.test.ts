import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { isPlausibleApiKey } from '../../../shared/keys/api-key.ts';
import { outerGuard, plans } from '../../../shared/keys/plans.ts';
import { ref, resourcesOf, type SynthesizedStage, synthesizeStages, withoutHash } from '../../support/synthesized.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const synthesized = synthesizeStages(temporaryFolder());
const stages = ['staging', 'production'] as const;

const planSchema = v.object({
  UsagePlanName: v.string(),
  ApiStages: v.array(v.object({ ApiId: ref, Stage: ref })),
  Throttle: v.optional(v.unknown()),
  Quota: v.optional(v.unknown()),
});

const usagePlansOf = (stage: SynthesizedStage) => resourcesOf(stage, 'AWS::ApiGateway::UsagePlan', planSchema);

function planTitled(stage: SynthesizedStage, title: string) {
  return usagePlansOf(stage).find(({ properties }) => properties.UsagePlanName.endsWith(` ${title}`));
}

const apiKeySchema = v.object({ Value: v.string(), Enabled: v.boolean() });
const apiKeysOf = (stage: SynthesizedStage) => resourcesOf(stage, 'AWS::ApiGateway::ApiKey', apiKeySchema);

function overflowIdentifierOfAuthorizer(stage: SynthesizedStage): string | undefined {
  const variables = v.looseObject({ OVERFLOW_USAGE_IDENTIFIER: v.optional(v.string()) });
  const functions = resourcesOf(
    stage,
    'AWS::Lambda::Function',
    v.object({ Environment: v.optional(v.object({ Variables: variables })) }),
  );
  const authorizer = functions.find(({ id }) => withoutHash(id) === 'FunctionsAuthorizer');
  return authorizer?.properties.Environment?.Variables.OVERFLOW_USAGE_IDENTIFIER;
}

describe.each(stages)('the usage plans of %s', (name) => {
  const stage = synthesized[name];

  test('are one per plan of the catalogue, and one for refused requests', () => {
    const titles = [...Object.values(plans).map(({ title }) => title), 'Overflow'];

    expect(usagePlansOf(stage).map(({ properties }) => properties.UsagePlanName)).toEqual(
      titles.map((title) => `${name}-Inventory ${title}`),
    );
  });

  test('are all of the one stage of the API', () => {
    const [restApi] = resourcesOf(stage, 'AWS::ApiGateway::RestApi', v.unknown());
    const [apiStage] = resourcesOf(stage, 'AWS::ApiGateway::Stage', v.unknown());

    for (const { properties } of usagePlansOf(stage)) {
      expect(properties.ApiStages).toEqual([{ ApiId: restApi?.id, Stage: apiStage?.id }]);
    }
  });

  test.each([
    ['Free', { RateLimit: 1, BurstLimit: 120 }, { Limit: 1_000, Period: 'DAY' }],
    ['Pro', { RateLimit: 5, BurstLimit: 600 }, { Limit: 10_000, Period: 'DAY' }],
    ['Business', { RateLimit: 17, BurstLimit: 2_000 }, { Limit: 100_000, Period: 'DAY' }],
  ])('%s: never below the exact limits (spec §8)', (title, throttle, quota) => {
    expect(planTitled(stage, title)?.properties).toMatchObject({ Throttle: throttle, Quota: quota });
  });

  test.each(Object.values(plans).filter(({ limits }) => limits !== 'agreed'))(
    '$title is as the catalogue has it',
    ({ title, limits }) => {
      const guard = limits === 'agreed' ? undefined : outerGuard(limits);

      expect(planTitled(stage, title)?.properties).toMatchObject({
        Throttle: { RateLimit: guard?.rateLimit, BurstLimit: guard?.burstLimit },
        Quota: { Limit: guard?.quotaPerDay, Period: 'DAY' },
      });
    },
  );

  test('Enterprise has no throttle and no quota: each of its keys has limits of its own', () => {
    const enterprise = planTitled(stage, 'Enterprise')?.properties;

    expect(enterprise).toBeDefined();
    expect(enterprise).not.toHaveProperty('Throttle');
    expect(enterprise).not.toHaveProperty('Quota');
  });

  test('Overflow lets a hundred refused requests a second reach their exact answer, on any number of days', () => {
    const overflow = planTitled(stage, 'Overflow')?.properties;

    expect(overflow).toMatchObject({ Throttle: { RateLimit: 100, BurstLimit: 200 } });
    expect(overflow).not.toHaveProperty('Quota');
  });
});

describe.each(stages)('the API keys of %s', (name) => {
  const stage = synthesized[name];

  test('are none of a customer: only the key of the overflow plan', () => {
    const [overflowKey, ...others] = apiKeysOf(stage);
    const planKeys = resourcesOf(
      stage,
      'AWS::ApiGateway::UsagePlanKey',
      v.object({ KeyId: ref, KeyType: v.string(), UsagePlanId: ref }),
    );

    expect(others).toEqual([]);
    expect(planKeys.map(({ properties }) => properties)).toEqual([
      { KeyId: overflowKey?.id, KeyType: 'API_KEY', UsagePlanId: planTitled(stage, 'Overflow')?.id },
    ]);
  });

  test('meter a refused request: the overflow key is enabled, and the one that the authorizer names', () => {
    const [overflowKey] = apiKeysOf(stage);

    expect(overflowKey?.properties).toEqual({ Enabled: true, Value: overflowIdentifierOfAuthorizer(stage) });
  });

  test('open nothing: the value of the overflow key is never taken for a key', () => {
    const value = apiKeysOf(stage)[0]?.properties.Value ?? '';

    expect(value).toMatch(/^[0-9a-f]{64}$/);
    expect(isPlausibleApiKey(value)).toBe(false);
  });
});

test('The overflow key of one stage is not that of another', () => {
  const values = stages.map((name) => apiKeysOf(synthesized[name])[0]?.properties.Value);

  expect(new Set(values).size).toBe(stages.length);
});
