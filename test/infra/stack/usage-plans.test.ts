import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { isKeyHash, isPlausibleApiKey } from '../../../shared/keys/api-key.ts';
import { outerGuard, plans } from '../../../shared/keys/plans.ts';
import { ref, resourcesOf, type SynthesizedStage, synthesizedStages, withoutHash } from '../../support/synthesized.ts';

const synthesized = synthesizedStages();
const stages = ['staging', 'production'] as const;
const internalPlans = ['Overflow', 'Interim'] as const;

const planSchema = v.object({
  UsagePlanName: v.string(),
  ApiStages: v.array(v.object({ ApiId: ref, Stage: ref })),
  Tags: v.array(v.strictObject({ Key: v.string(), Value: v.string() })),
  Throttle: v.optional(v.unknown()),
  Quota: v.optional(v.unknown()),
});

const usagePlansOf = (stage: SynthesizedStage) => resourcesOf(stage, 'AWS::ApiGateway::UsagePlan', planSchema);

function planTitled(stage: SynthesizedStage, title: string) {
  return usagePlansOf(stage).find(({ properties }) => properties.UsagePlanName.endsWith(` ${title}`));
}

const apiKeySchema = v.looseObject({ Value: v.string(), Enabled: v.boolean() });
const apiKeysOf = (stage: SynthesizedStage) => resourcesOf(stage, 'AWS::ApiGateway::ApiKey', apiKeySchema);

const planKeySchema = v.object({ KeyId: ref, KeyType: v.string(), UsagePlanId: ref });
const planKeysOf = (stage: SynthesizedStage) =>
  resourcesOf(stage, 'AWS::ApiGateway::UsagePlanKey', planKeySchema).map(({ properties }) => properties);

/** The one key of an internal plan. */
function keyOfPlan(stage: SynthesizedStage, title: string) {
  const planKey = planKeysOf(stage).find(({ UsagePlanId }) => UsagePlanId === planTitled(stage, title)?.id);
  return apiKeysOf(stage).find(({ id }) => id === planKey?.KeyId)?.properties;
}

/** What the authorizer hands to the gateway as the usage identifier of a request. */
function identifierOfAuthorizer(stage: SynthesizedStage, variable: string): unknown {
  const functions = resourcesOf(
    stage,
    'AWS::Lambda::Function',
    v.object({ Environment: v.optional(v.object({ Variables: v.record(v.string(), v.unknown()) })) }),
  );
  const authorizer = functions.find(({ id }) => withoutHash(id) === 'FunctionsAuthorizer');
  return authorizer?.properties.Environment?.Variables[variable];
}

describe.each(stages)('the usage plans of %s', (name) => {
  const stage = synthesized[name];

  test('are one per plan of the catalogue, one for refused requests, and one for keys not known everywhere', () => {
    const titles = [...Object.values(plans).map(({ title }) => title), ...internalPlans];

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
    ['Free', 'free'],
    ['Pro', 'pro'],
    ['Business', 'business'],
    ['Enterprise', 'enterprise'],
    ['Overflow', 'internal'],
    ['Interim', 'internal'],
  ])('%s is tagged plan = %s, which the sync knows it by', (title, tag) => {
    expect(planTitled(stage, title)?.properties.Tags).toEqual([{ Key: 'plan', Value: tag }]);
  });

  test.each([
    ['Free', { RateLimit: 1, BurstLimit: 120 }, { Limit: 1_060, Period: 'DAY' }],
    ['Pro', { RateLimit: 5, BurstLimit: 600 }, { Limit: 10_300, Period: 'DAY' }],
    ['Business', { RateLimit: 17, BurstLimit: 2_000 }, { Limit: 101_000, Period: 'DAY' }],
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

  test('Interim has no throttle and no quota: it never refuses what the exact limits admit', () => {
    const interim = planTitled(stage, 'Interim')?.properties;

    expect(interim).toBeDefined();
    expect(interim).not.toHaveProperty('Throttle');
    expect(interim).not.toHaveProperty('Quota');
  });
});

describe.each(stages)('the API keys of %s', (name) => {
  const stage = synthesized[name];

  test('are none of a customer: only those of the internal plans, one each', () => {
    const planIds = internalPlans.map((title) => planTitled(stage, title)?.id);

    expect(planKeysOf(stage).map(({ UsagePlanId }) => UsagePlanId)).toEqual(planIds);
    expect(apiKeysOf(stage).map(({ id }) => id)).toEqual(planKeysOf(stage).map(({ KeyId }) => KeyId));
  });

  test.each([
    ['Overflow', 'OVERFLOW_USAGE_IDENTIFIER'],
    ['Interim', 'INTERIM_USAGE_IDENTIFIER'],
  ])('meter requests on %s: the key is enabled, and the one that the authorizer names', (title, variable) => {
    expect(planKeysOf(stage).map(({ KeyType }) => KeyType)).toEqual(['API_KEY', 'API_KEY']);
    expect(keyOfPlan(stage, title)).toMatchObject({ Enabled: true, Value: identifierOfAuthorizer(stage, variable) });
  });

  test.each(internalPlans)('open nothing: the value of the %s key is never taken for a key', (title) => {
    const value = keyOfPlan(stage, title)?.Value ?? '';

    expect(isKeyHash(value)).toBe(true);
    expect(isPlausibleApiKey(value)).toBe(false);
  });

  test('are of no customer plan by their tags either', () => {
    for (const { properties } of apiKeysOf(stage)) expect(properties).not.toHaveProperty('Tags');
  });
});

test('No internal key is that of another plan or another stage', () => {
  const values = stages.flatMap((name) => internalPlans.map((title) => keyOfPlan(synthesized[name], title)?.Value));

  expect(new Set(values).size).toBe(stages.length * internalPlans.length);
});
