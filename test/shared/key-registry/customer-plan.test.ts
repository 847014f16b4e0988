import { APIGatewayClient, type UsagePlan } from '@aws-sdk/client-api-gateway';
import { describe, expect, test } from '@jest/globals';
import { customerPlans } from '../../../shared/key-registry/customer-plan.ts';
import { planIds } from '../../../shared/keys/plans.ts';

const STAGE = { apiId: 'a1b2c3d4e5', stage: 'v1' };

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
const guard = { throttle: { rateLimit: 1, burstLimit: 120 }, quota: { limit: 1_060, period: 'DAY' } } as const;

describe('a usage plan that customers are on', () => {
  test.each<[string, UsagePlan, object]>([
    ['has its limits from the catalogue (spec §8)', { tags: { plan: 'free' } }, { plan: 'free', limits: free }],
    ['may be guarded by just what they need', { tags: { plan: 'free' }, ...guard }, { plan: 'free', limits: free }],
    [
      'leaves agreed limits to each of its keys',
      { tags: { plan: 'enterprise' }, throttle: { rateLimit: 10_000, burstLimit: 5_000 } },
      { plan: 'enterprise', limits: 'agreed' },
    ],
  ])('%s', async (_, plan, expected) => {
    const { plans, ...rest } = await read(plan);

    expect(plans).toEqual([expect.objectContaining({ usagePlanId: 'pl4n1d', limits: free, ...expected })]);
    expect(rest).toEqual({ unreadable: [], problems: [] });
  });

  const tooFew = 'allows less than its limits: it needs a rate of 1, a burst of 120, a quota of 1060 a DAY';

  test.each<[string, UsagePlan, string]>([
    ['a lower rate', { throttle: { rateLimit: 0.9, burstLimit: 120 } }, tooFew],
    ['a lower burst', { throttle: { rateLimit: 1, burstLimit: 119 } }, tooFew],
    ['a lower quota', { quota: { limit: 1_059, period: 'DAY' } }, tooFew],
    ['a quota a week', { quota: { limit: 7_000, period: 'WEEK' } }, tooFew],
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

  test.each([{}, { plan: 'gold' }])('is one tagged %j, which an admin should put right', async (tags) => {
    expect(await read({ tags })).toEqual({
      plans: [],
      unreadable: ['pl4n1d'],
      problems: [`The usage plan Acme is none of this service: tag it with plan, one of ${planIds.join(', ')}.`],
    });
  });
});
