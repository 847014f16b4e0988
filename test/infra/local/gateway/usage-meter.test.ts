import { describe, expect, test } from '@jest/globals';
import { UsageMeter } from '../../../../infra/local/gateway/usage-meter.ts';
import { GatewayRecords } from '../../../../infra/local/gateway-records/gateway-records.ts';
import type { UsagePlan } from '../../../../infra/local/gateway-records/usage-plan.ts';
import { anApiKey, apiStage, aUsagePlan } from '../../../support/gateway-records.ts';

const MIDNIGHT = Date.UTC(2026, 10, 21);
const DAY_MS = 86_400_000;

/** A usage plan with a key on it. */
class MeteredPlan {
  readonly records = GatewayRecords.inMemory();
  readonly #meter = new UsageMeter(this.records, apiStage);

  constructor(settings: Partial<UsagePlan> = {}, enabled = true) {
    this.records.putUsagePlan(aUsagePlan(settings));
    this.addKey('k1', 'value-1', enabled);
  }

  addKey(id: string, value: string, enabled = true): void {
    this.records.putApiKey(anApiKey({ id, value, enabled }));
    this.records.putOnPlan('plan', id);
  }

  meter(value: string | undefined, time: number): string {
    return this.#meter.meter(value, time);
  }
}

const plansOf = (settings: Partial<UsagePlan>, enabled = true) => new MeteredPlan(settings, enabled);

/** What becomes of requests at these times: `ok`, or the type of the error. */
function outcomes(plans: MeteredPlan, times: readonly number[], value = 'value-1'): string[] {
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
    const plans = plansOf({});
    plans.addKey('k2', 'value-2');

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
  const throttled = { throttle: { rateLimit: 2, burstLimit: 5 } };

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
    plans.addKey('k2', 'value-2');
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
  const metered = { quota: { limit: 3 } };

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
    const plans = plansOf({ ...metered, throttle: { rateLimit: 1, burstLimit: 1 } });

    expect(outcomes(plans, [...repeated(MIDNIGHT, 10), MIDNIGHT + 1_000, MIDNIGHT + 2_000, MIDNIGHT + 3_000])).toEqual([
      'ok',
      ...repeated('THROTTLED', 9),
      'ok',
      'ok',
      'QUOTA_EXCEEDED',
    ]);
  });
});

describe('a change of the records', () => {
  test('is in force from the next request on: a smaller quota', () => {
    const plans = plansOf({});
    outcomes(plans, repeated(MIDNIGHT, 5));
    plans.records.putUsagePlan(aUsagePlan({ quota: { limit: 3 } }));

    expect(outcomes(plans, [MIDNIGHT])).toEqual(['QUOTA_EXCEEDED']);
  });

  test('is in force from the next request on: a smaller burst', () => {
    const plans = plansOf({ throttle: { rateLimit: 1, burstLimit: 100 } });
    outcomes(plans, [MIDNIGHT]);
    plans.records.putUsagePlan(aUsagePlan({ throttle: { rateLimit: 1, burstLimit: 2 } }));

    expect(outcomes(plans, repeated(MIDNIGHT, 3))).toEqual(['ok', 'ok', 'THROTTLED']);
  });

  test.each<[string, (plans: MeteredPlan) => void]>([
    ['a key that is disabled', ({ records }) => records.putApiKey(anApiKey({ value: 'value-1', enabled: false }))],
    ['a key that is deleted', ({ records }) => records.deleteApiKey('k1')],
    ['a key that leaves its plan', ({ records }) => records.removeFromPlan('plan', 'k1')],
    ['a plan that is deleted', ({ records }) => records.deleteUsagePlan('plan')],
    ['a plan that is of no stage any more', ({ records }) => records.putUsagePlan(aUsagePlan({ apiStages: [] }))],
  ])('is in force from the next request on: %s', (_, change) => {
    const plans = plansOf({});
    expect(outcomes(plans, [MIDNIGHT])).toEqual(['ok']);
    change(plans);

    expect(outcomes(plans, [MIDNIGHT])).toEqual(['INVALID_API_KEY']);
  });

  test('starts the bucket of a key anew that is put on another plan', () => {
    const plans = plansOf({ throttle: { rateLimit: 1, burstLimit: 5 } });
    outcomes(plans, repeated(MIDNIGHT, 5));
    plans.records.removeFromPlan('plan', 'k1');
    plans.records.putUsagePlan(aUsagePlan({ id: 'other' }));
    plans.records.putOnPlan('other', 'k1');

    expect(outcomes(plans, repeated(MIDNIGHT, 100))).toEqual(repeated('ok', 100));
  });

  test('gives a key nothing that leaves its plan and comes back', () => {
    const plans = plansOf({ quota: { limit: 3 } });
    outcomes(plans, repeated(MIDNIGHT, 3));
    plans.records.removeFromPlan('plan', 'k1');
    plans.records.putOnPlan('plan', 'k1');

    expect(outcomes(plans, [MIDNIGHT])).toEqual(['QUOTA_EXCEEDED']);
  });
});

test('a key on plans of several stages is metered on that of the stage', () => {
  const plans = plansOf({ quota: { limit: 3 } });
  plans.records.putUsagePlan(aUsagePlan({ id: 'another', apiStages: [{ apiId: 'api', stage: 'v2' }] }));
  plans.records.putOnPlan('another', 'k1');
  outcomes(plans, repeated(MIDNIGHT, 2));

  expect(plans.records.usage('plan', 'k1').on(MIDNIGHT / DAY_MS)).toBe(2);
  expect(plans.records.usage('another', 'k1').on(MIDNIGHT / DAY_MS)).toBe(0);
});
