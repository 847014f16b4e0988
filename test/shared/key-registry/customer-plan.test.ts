import { APIGatewayClient, type UsagePlan } from '@aws-sdk/client-api-gateway';
import { afterEach, describe, expect, test } from '@jest/globals';
import { agreedLimits, customerPlans } from '../../../shared/key-registry/customer-plan.ts';

const BAD_LIMITS = 'needs both tags per-minute and per-day, as numbers from 1';
const ON_NO_PLAN = 'is on no plan: tag it with plan, one of free, pro, business, enterprise';

describe('the limits agreed in tags', () => {
  test.each([
    ['no tags at all', undefined],
    ['other tags only', { plan: 'enterprise', 'cost-centre': '60' }],
  ])('are none with %s', (_, tags) => {
    expect(agreedLimits(tags)).toEqual({});
  });

  test.each([
    ['1', '1', { perMinute: 1, perDay: 1 }],
    ['999999999999', '999999999999', { perMinute: 999_999_999_999, perDay: 999_999_999_999 }],
  ])('are %s a minute and %s a day where both are given', (perMinute, perDay, limits) => {
    expect(agreedLimits({ 'per-minute': perMinute, 'per-day': perDay })).toEqual({ limits });
  });

  test.each([
    ['nothing', undefined],
    ['a leading zero', '060'],
    ['a line end', '60\n'],
    ['thirteen digits', '1000000000000'],
  ])('are wrong with %s for either, whatever the other is', (_, text) => {
    const good = '60';

    expect(agreedLimits({ 'per-minute': text ?? '', 'per-day': good })).toEqual({ problem: BAD_LIMITS });
    expect(agreedLimits({ 'per-minute': good, ...(text !== undefined && { 'per-day': text }) })).toEqual({
      problem: BAD_LIMITS,
    });
  });

  test.each(['per-minute', 'per-day'])('are wrong with the tag %s alone', (name) => {
    expect(agreedLimits({ [name]: '60' })).toEqual({ problem: BAD_LIMITS });
  });
});

const STAGE = { apiId: 'a1b2c3d4e5', stage: 'v1' };
const client = new APIGatewayClient({ region: 'eu-central-1' });
const ANSWERS = 'answers';

afterEach(() => {
  client.middlewareStack.remove(ANSWERS);
});

/** What the service makes of these usage plans, as API Gateway lists them: page by page. */
function read(...pages: UsagePlan[][]) {
  client.middlewareStack.add(
    () => (args) => {
      const page = 'position' in args.input ? Number(args.input.position ?? 0) : 0;
      const next = page + 1 < pages.length ? { position: String(page + 1) } : {};
      return Promise.resolve({ output: { $metadata: {}, items: pages[page] ?? [], ...next }, response: undefined });
    },
    { step: 'initialize', name: ANSWERS },
  );
  return customerPlans(client, STAGE);
}

const aUsagePlan = (differences: UsagePlan = {}): UsagePlan => ({
  id: 'pl4n1d',
  name: 'Acme',
  apiStages: [STAGE],
  ...differences,
});

describe('a usage plan that customers are on', () => {
  test.each([['free', { perMinute: 60, perDay: 1_000 }]])(
    'with the tag plan = %s has its limits from the catalogue (spec §8)',
    async (plan, limits) => {
      expect(await read([aUsagePlan({ tags: { plan } })])).toEqual({
        plans: [{ usagePlanId: 'pl4n1d', name: 'Acme', plan, limits, isOwn: false }],
        unreadable: [],
        problems: [],
      });
    },
  );

  test.each([
    ['the tag plan = enterprise and', { plan: 'enterprise' }],
    ['only', {}],
  ])('with %s agreed limits is of one Enterprise customer', async (_, planTag) => {
    const tags = { ...planTag, 'per-minute': '5000', 'per-day': '1000000' };

    expect(await read([aUsagePlan({ tags })])).toMatchObject({
      plans: [{ plan: 'enterprise', limits: { perMinute: 5_000, perDay: 1_000_000 } }],
      problems: [],
    });
  });

  test('with the tag plan = enterprise alone leaves the limits to each of its keys', async () => {
    const { plans, problems } = await read([aUsagePlan({ tags: { plan: 'enterprise' } })]);

    expect(plans).toMatchObject([{ plan: 'enterprise' }]);
    expect(plans[0]?.limits).toBeUndefined();
    expect(problems).toEqual([]);
  });

  test('with the tag plan = enterprise and half of its limits has none, and a problem', async () => {
    const { plans, problems } = await read([aUsagePlan({ tags: { plan: 'enterprise', 'per-minute': '60' } })]);

    expect(plans).toMatchObject([{ plan: 'enterprise' }]);
    expect(plans[0]?.limits).toBeUndefined();
    expect(problems).toEqual([`The usage plan Acme ${BAD_LIMITS}.`]);
  });
});

describe('a usage plan that no customer is on', () => {
  test.each([
    ['on no stage', []],
    ['of another stage', [{ ...STAGE, stage: 'v2' }]],
  ])('is one %s, and none of our business', async (_, apiStages) => {
    const { apiStages: _stage, ...onNone } = aUsagePlan({ tags: { plan: 'free' } });

    expect(await read([{ ...onNone, apiStages }, onNone, { ...onNone, apiStages, tags: {} }])).toEqual({
      plans: [],
      unreadable: [],
      problems: [],
    });
  });

  test.each([
    ['no tag', {}],
    ['half of the limits as its only tag', { 'per-day': '1000' }],
    ['a plan that is not in the catalogue', { plan: 'gold' }],
  ])('is one with %s, which an admin should put right', async (_, tags) => {
    expect(await read([aUsagePlan({ tags })])).toEqual({
      plans: [],
      unreadable: ['pl4n1d'],
      problems: [`The usage plan Acme ${ON_NO_PLAN}.`],
    });
  });
});

describe('the throttle and quota of a usage plan', () => {
  const needs = 'it needs a rate of 1, a burst of 120, a quota of 1060 a DAY';
  const throttle = { rateLimit: 1, burstLimit: 120 };

  test.each<[string, Partial<UsagePlan>]>([
    ['are none', {}],
    ['are just what the exact limits need', { throttle, quota: { limit: 1_060, period: 'DAY' } }],
    ['are a throttle alone', { throttle }],
  ])('may stand where they %s', async (_, guard) => {
    expect(await read([aUsagePlan({ tags: { plan: 'free' }, ...guard })])).toMatchObject({ problems: [] });
  });

  test.each<[string, Partial<UsagePlan>]>([
    ['a lower rate', { throttle: { ...throttle, rateLimit: 0.9 } }],
    ['a lower burst', { throttle: { ...throttle, burstLimit: 119 } }],
    ['a lower quota', { quota: { limit: 1_059, period: 'DAY' } }],
    ['a quota a week', { quota: { limit: 7_000, period: 'WEEK' } }],
  ])('are a problem with %s, and its customers keep their limits', async (_, guard) => {
    expect(await read([aUsagePlan({ tags: { plan: 'free' }, ...guard })])).toMatchObject({
      plans: [{ plan: 'free', limits: { perMinute: 60, perDay: 1_000 } }],
      problems: [`The usage plan Acme allows less than its limits: ${needs}.`],
    });
  });

  test('are held against the agreed limits of an Enterprise customer', async () => {
    const tags = { plan: 'enterprise', 'per-minute': '6000', 'per-day': '50000' };

    expect(await read([aUsagePlan({ tags, throttle })])).toMatchObject({
      problems: [expect.stringContaining('it needs a rate of 100, a burst of 12000, a quota of 56000 a DAY')],
    });
  });
});
