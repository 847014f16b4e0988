import { APIGatewayClient, type UsagePlan } from '@aws-sdk/client-api-gateway';
import { describe, expect, test } from '@jest/globals';
import { agreedLimits, customerPlans } from '../../../shared/key-registry/customer-plan.ts';

const BAD_LIMITS = 'needs both tags per-minute and per-day, as numbers from 1';
const STAGE = { apiId: 'a1b2c3d4e5', stage: 'v1' };

describe('the limits agreed in tags', () => {
  test.each([
    ['no tags at all', undefined, {}],
    ['other tags only', { plan: 'enterprise', 'cost-centre': '60' }, {}],
    ['both', { 'per-minute': '1', 'per-day': '999999999999' }, { limits: { perMinute: 1, perDay: 999_999_999_999 } }],
  ])('with %s', (_, tags, limits) => {
    expect(agreedLimits(tags)).toEqual(limits);
  });

  test.each(['', '060', '60\n', '1000000000000', undefined])('are wrong with %j for either', (text) => {
    const wrong = text === undefined ? {} : { 'per-minute': text };

    expect(agreedLimits({ ...wrong, 'per-day': '60' })).toEqual({ problem: BAD_LIMITS });
    expect(agreedLimits({ 'per-minute': '60', ...(text !== undefined && { 'per-day': text }) })).toEqual({
      problem: BAD_LIMITS,
    });
  });
});

/** What the service makes of a usage plan. */
function read(differences: UsagePlan) {
  const client = new APIGatewayClient({ region: 'eu-central-1' });
  const items = [{ id: 'pl4n1d', name: 'Acme', apiStages: [STAGE], ...differences }];
  client.middlewareStack.add(() => () => Promise.resolve({ output: { $metadata: {}, items }, response: undefined }), {
    step: 'initialize',
  });
  return customerPlans(client, STAGE);
}

const free = { perMinute: 60, perDay: 1_000 };
const agreed = { 'per-minute': '6000', 'per-day': '50000' };
const guard = { throttle: { rateLimit: 1, burstLimit: 120 }, quota: { limit: 1_060, period: 'DAY' } } as const;
const ofAgreed = { throttle: { rateLimit: 100, burstLimit: 12_000 }, quota: { limit: 56_000, period: 'DAY' } } as const;

describe('a usage plan that customers are on', () => {
  test.each<[string, UsagePlan, object]>([
    ['has its limits from the catalogue (spec §8)', { tags: { plan: 'free' } }, { plan: 'free', limits: free }],
    ['may be guarded by just what they need', { tags: { plan: 'free' }, ...guard }, { plan: 'free', limits: free }],
    ['may have a throttle alone', { tags: { plan: 'free' }, throttle: guard.throttle }, { plan: 'free' }],
    [
      'leaves agreed limits to each of its keys',
      { tags: { plan: 'enterprise' } },
      { plan: 'enterprise', limits: undefined },
    ],
    [
      'is of one Enterprise customer',
      { tags: { plan: 'enterprise', ...agreed, 'own-plan-of': 'x' }, ...ofAgreed },
      { plan: 'enterprise', limits: { perMinute: 6_000, perDay: 50_000 }, isOwn: true },
    ],
    [
      'is so with agreed limits alone',
      { tags: agreed },
      { plan: 'enterprise', limits: { perMinute: 6_000, perDay: 50_000 } },
    ],
  ])('%s', async (_, plan, expected) => {
    const { plans, ...rest } = await read(plan);

    expect(plans).toEqual([{ usagePlanId: 'pl4n1d', name: 'Acme', isOwn: false, limits: free, ...expected }]);
    expect(rest).toEqual({ unreadable: [], problems: [] });
  });

  const tooFew = 'allows less than its limits: it needs a rate of 1, a burst of 120, a quota of 1060 a DAY';

  test.each<[string, UsagePlan, string]>([
    ['half of its limits', { tags: { plan: 'enterprise', 'per-minute': '60' } }, BAD_LIMITS],
    ['a lower rate', { throttle: { rateLimit: 0.9, burstLimit: 120 } }, tooFew],
    ['a lower burst', { throttle: { rateLimit: 1, burstLimit: 119 } }, tooFew],
    ['a lower quota', { quota: { limit: 1_059, period: 'DAY' } }, tooFew],
    ['a quota a week', { quota: { limit: 7_000, period: 'WEEK' } }, tooFew],
    [
      'too little for agreed limits',
      { tags: agreed, ...guard },
      'allows less than its limits: it needs a rate of 100, a burst of 12000, a quota of 56000 a DAY',
    ],
    [
      'a throttle of a method',
      { apiStages: [{ ...STAGE, throttle: { '/inventory/GET': { rateLimit: 1 } } }] },
      'throttles single methods, which may refuse what its limits allow',
    ],
  ])('is a problem with %s, and its customers stay', async (_, differences, problem) => {
    expect(await read({ tags: { plan: 'free' }, ...differences })).toMatchObject({
      plans: [{ usagePlanId: 'pl4n1d' }],
      unreadable: [],
      problems: [`The usage plan Acme ${problem}.`],
    });
  });
});

describe('a usage plan that no customer is on', () => {
  test.each<[string, UsagePlan]>([
    ['on no stage', { apiStages: [], tags: {} }],
    ['of another stage', { apiStages: [{ ...STAGE, stage: 'v2' }], tags: { plan: 'free' } }],
    ['that is internal', { tags: { plan: 'internal' } }],
  ])('is one %s, and none of our business', async (_, plan) => {
    expect(await read(plan)).toEqual({ plans: [], unreadable: [], problems: [] });
  });

  test.each([{}, { 'per-day': '1000' }, { plan: 'gold' }])(
    'is one tagged %j, which an admin should put right',
    async (tags) => {
      expect(await read({ tags })).toEqual({
        plans: [],
        unreadable: ['pl4n1d'],
        problems: ['The usage plan Acme is on no plan: tag it with plan, one of free, pro, business, enterprise.'],
      });
    },
  );
});
