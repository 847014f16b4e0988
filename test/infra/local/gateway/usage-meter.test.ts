import { describe, expect, test } from '@jest/globals';
import { UsageMeter } from '../../../../infra/local/gateway/usage-meter.ts';
import { GatewayRecords } from '../../../../infra/local/gateway-records/gateway-records.ts';
import type { UsagePlan } from '../../../../infra/local/gateway-records/records.ts';
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
    [1_000, ['ok', 'ok']],
    [2_500, repeated('ok', 5)],
  ])('fills up again by its rate: %d ms after the burst', (elapsed, admitted) => {
    const plans = plansOf(throttled);
    outcomes(plans, repeated(MIDNIGHT, 5));

    const after = outcomes(plans, repeated(MIDNIGHT + elapsed, 6));

    expect(after).toEqual([...admitted, ...repeated('THROTTLED', 6 - admitted.length)]);
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
});
