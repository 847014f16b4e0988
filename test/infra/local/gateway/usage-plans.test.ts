import { describe, expect, test } from '@jest/globals';
import { UsagePlans } from '../../../../infra/local/gateway/usage-plans.ts';
import { HostError } from '../../../../infra/local/host-error.ts';
import { LocalStack } from '../../../../infra/local/template/stack.ts';

const MIDNIGHT = Date.UTC(2026, 10, 21);
const DAY_MS = 86_400_000;

const usagePlan = (name: string, settings: object = {}) => ({
  Type: 'AWS::ApiGateway::UsagePlan',
  Properties: { UsagePlanName: name, ApiStages: [{ ApiId: 'api', Stage: 'v1' }], ...settings },
});

const plan = usagePlan('staging Free', {
  Throttle: { RateLimit: 2, BurstLimit: 5 },
  Quota: { Limit: 20, Period: 'DAY' },
});

const apiKey = (settings: object) => ({ Type: 'AWS::ApiGateway::ApiKey', Properties: settings });
const planKey = (KeyId: unknown, UsagePlanId: unknown) => ({
  Type: 'AWS::ApiGateway::UsagePlanKey',
  Properties: { KeyId, KeyType: 'API_KEY', UsagePlanId },
});

const load = (Resources: Readonly<Record<string, object>>) => new UsagePlans(new LocalStack('test', { Resources }));

/** Usage plans with one plan and one key on it. */
function plansOf(settings: object, enabled = true): UsagePlans {
  const plans = load({ Plan: usagePlan('staging Free', settings) });
  plans.addKey({ id: 'k1', value: 'value-1', enabled }, 'Plan');
  return plans;
}

/** What becomes of requests at these times: `ok`, or the type of the error. */
function outcomes(plans: UsagePlans, times: readonly number[], value = 'value-1'): string[] {
  return times.map((time) => {
    try {
      plans.meter(value, time);
      return 'ok';
    } catch (error) {
      return error instanceof Error && 'type' in error ? String(error.type) : 'no gateway error';
    }
  });
}

const repeated = <Item>(item: Item, count: number): Item[] => Array.from({ length: count }, () => item);

describe('a metered request', () => {
  test('is of the key with its value', () => {
    const plans = load({ Plan: plan });
    plans.addKey({ id: 'k1', value: 'value-1', enabled: true }, 'Plan');
    plans.addKey({ id: 'k2', value: 'value-2', enabled: true }, 'Plan');

    expect(plans.meter('value-2', MIDNIGHT)).toBe('k2');
    expect(plans.meter('value-1', MIDNIGHT)).toBe('k1');
  });

  test.each([
    ['of no key', undefined],
    ['of a key that is on no plan', 'value-2'],
    ['of a key named by its id', 'k1'],
    ['of an empty key', ''],
  ])('%s is refused', (_, value) => {
    const meter = () => plansOf({}).meter(value, MIDNIGHT);

    expect(meter).toThrow(expect.objectContaining({ type: 'INVALID_API_KEY' }));
  });

  test('of a disabled key is refused', () => {
    expect(outcomes(plansOf({}, false), [MIDNIGHT])).toEqual(['INVALID_API_KEY']);
  });

  test('is always let through on a plan without throttle and quota', () => {
    expect(new Set(outcomes(plansOf({}), repeated(MIDNIGHT, 10_000)))).toEqual(new Set(['ok']));
  });
});

describe('the throttle of a plan', () => {
  const throttled = { Throttle: { RateLimit: 2, BurstLimit: 5 } };

  test('lets a burst through, and no more', () => {
    expect(outcomes(plansOf(throttled), repeated(MIDNIGHT, 7))).toEqual([
      ...repeated('ok', 5),
      ...repeated('THROTTLED', 2),
    ]);
  });

  test.each([
    [499, []],
    [500, ['ok']],
    [999, ['ok']],
    [1_000, ['ok', 'ok']],
    [2_499, repeated('ok', 4)],
    [2_500, repeated('ok', 5)],
    [3_600_000, repeated('ok', 5)],
  ])('fills up again by its rate: %d ms after the burst', (elapsed, admitted) => {
    const plans = plansOf(throttled);
    outcomes(plans, repeated(MIDNIGHT, 5));

    const after = outcomes(plans, repeated(MIDNIGHT + elapsed, 6));

    expect(after).toEqual([...admitted, ...repeated('THROTTLED', 6 - admitted.length)]);
  });

  test('is not emptied by what it refuses', () => {
    const plans = plansOf(throttled);
    outcomes(plans, repeated(MIDNIGHT, 100));

    expect(outcomes(plans, [MIDNIGHT + 500, MIDNIGHT + 1_000])).toEqual(['ok', 'ok']);
  });

  test('lets requests through for ever that come as fast as it fills', () => {
    const times = Array.from({ length: 1_000 }, (_, index) => MIDNIGHT + 500 * index);

    expect(new Set(outcomes(plansOf(throttled), times))).toEqual(new Set(['ok']));
  });

  test('is each key’s own', () => {
    const plans = plansOf(throttled);
    plans.addKey({ id: 'k2', value: 'value-2', enabled: true }, 'Plan');
    outcomes(plans, repeated(MIDNIGHT, 5));

    expect(outcomes(plans, [MIDNIGHT])).toEqual(['THROTTLED']);
    expect(outcomes(plans, [MIDNIGHT], 'value-2')).toEqual(['ok']);
  });

  test('gains nothing from a clock that is set back', () => {
    const plans = plansOf(throttled);
    outcomes(plans, repeated(MIDNIGHT + 60_000, 5));

    expect(outcomes(plans, [MIDNIGHT, MIDNIGHT + 60_000, MIDNIGHT + 60_499])).toEqual(repeated('THROTTLED', 3));
    expect(outcomes(plans, [MIDNIGHT + 60_500])).toEqual(['ok']);
  });
});

describe('the quota of a plan', () => {
  const metered = { Quota: { Limit: 3, Period: 'DAY' } };

  test('lets that many requests a day through', () => {
    expect(outcomes(plansOf(metered), repeated(MIDNIGHT, 5))).toEqual([
      ...repeated('ok', 3),
      ...repeated('QUOTA_EXCEEDED', 2),
    ]);
  });

  test('starts anew at midnight UTC, and not before', () => {
    const plans = plansOf(metered);
    outcomes(plans, repeated(MIDNIGHT + 1, 3));

    expect(outcomes(plans, [MIDNIGHT + DAY_MS - 1])).toEqual(['QUOTA_EXCEEDED']);
    expect(outcomes(plans, repeated(MIDNIGHT + DAY_MS, 4))).toEqual([...repeated('ok', 3), 'QUOTA_EXCEEDED']);
  });

  test('starts anew where a day was left out', () => {
    const plans = plansOf(metered);
    outcomes(plans, repeated(MIDNIGHT, 3));

    expect(outcomes(plans, [MIDNIGHT + 5 * DAY_MS])).toEqual(['ok']);
  });

  test('does not start anew for a late request of the day before', () => {
    const plans = plansOf(metered);
    outcomes(plans, repeated(MIDNIGHT, 3));

    expect(outcomes(plans, [MIDNIGHT - 1, MIDNIGHT])).toEqual(['QUOTA_EXCEEDED', 'QUOTA_EXCEEDED']);
  });

  test('does not count what the throttle refuses', () => {
    const plans = plansOf({ ...metered, Throttle: { RateLimit: 1, BurstLimit: 1 } });

    expect(outcomes(plans, [...repeated(MIDNIGHT, 10), MIDNIGHT + 1_000, MIDNIGHT + 2_000, MIDNIGHT + 3_000])).toEqual([
      'ok',
      ...repeated('THROTTLED', 9),
      'ok',
      'ok',
      'QUOTA_EXCEEDED',
    ]);
  });
});

describe('the usage plans of a template', () => {
  test('are found by their title', () => {
    const plans = load({
      Free: usagePlan('staging-Inventory Free', { Quota: { Limit: 20, Period: 'DAY' } }),
      Carefree: usagePlan('staging-Inventory Carefree'),
      Pro: usagePlan('staging-Inventory Pro', { Throttle: { RateLimit: 2, BurstLimit: 5 } }),
    });

    expect(plans.planTitled('Pro')).toEqual({
      id: 'Pro',
      name: 'staging-Inventory Pro',
      throttle: { rateLimit: 2, burstLimit: 5 },
      quotaPerDay: undefined,
    });
    expect(plans.planTitled('Free')).toMatchObject({ id: 'Free', throttle: undefined, quotaPerDay: 20 });
    expect(plans.planTitled('free')).toBeUndefined();
    expect(plans.planTitled('Inventory')).toBeUndefined();
  });

  test('have the keys that the template puts on them', () => {
    const plans = load({
      Plan: plan,
      Key: apiKey({ Value: 'of-the-template', Enabled: true }),
      PlanKey: planKey({ Ref: 'Key' }, { Ref: 'Plan' }),
    });

    expect(plans.meter('of-the-template', MIDNIGHT)).toBe('Key');
  });

  test.each([
    ['that is disabled', { Value: 'of-the-template', Enabled: false }],
    ['that is not enabled, as CloudFormation has it by default', { Value: 'of-the-template' }],
  ])('refuse a key of the template %s', (_, settings) => {
    const plans = load({ Plan: plan, Key: apiKey(settings), PlanKey: planKey({ Ref: 'Key' }, { Ref: 'Plan' }) });

    expect(outcomes(plans, [MIDNIGHT], 'of-the-template')).toEqual(['INVALID_API_KEY']);
  });

  test('do not take a key of the template that is on no plan', () => {
    const plans = load({ Plan: plan, Key: apiKey({ Value: 'of-the-template', Enabled: true }) });

    expect(outcomes(plans, [MIDNIGHT], 'of-the-template')).toEqual(['INVALID_API_KEY']);
  });

  test.each([
    ['an API key', planKey('key-of-another-stack', { Ref: 'Plan' })],
    ['a usage plan', planKey({ Ref: 'Key' }, 'plan-of-another-stack')],
  ])('stop the local host where one names %s of another stack', (_, resource) => {
    const resources = { Plan: plan, Key: apiKey({ Value: 'of-the-template', Enabled: true }), PlanKey: resource };

    expect(() => load(resources)).toThrow(HostError);
    expect(() => load(resources)).toThrow(/PlanKey.*of-another-stack/);
  });

  test('take a key anew that is put on another plan', () => {
    const plans = load({ Plan: plan, Other: usagePlan('staging Other') });
    plans.addKey({ id: 'k1', value: 'value-1', enabled: true }, 'Plan');
    outcomes(plans, repeated(MIDNIGHT, 5));
    plans.addKey({ id: 'k1', value: 'value-1', enabled: true }, 'Other');

    expect(outcomes(plans, repeated(MIDNIGHT, 100))).toEqual(repeated('ok', 100));
  });

  test('take no key on a plan that is not there', () => {
    expect(() => load({}).addKey({ id: 'k1', value: 'value-1', enabled: true }, 'Plan')).toThrow('no usage plan Plan');
  });
});
