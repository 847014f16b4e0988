import { describe, expect, test } from '@jest/globals';
import { UsageMeter } from '../../../../infra/local/gateway/usage-meter.ts';
import { GatewayRecords } from '../../../../infra/local/account/gateway-records.ts';
import type { UsagePlan } from '../../../../infra/local/account/gateway-records.ts';
import { anApiKey, apiStage, aUsagePlan } from '../../../support/gateway-records.ts';

const MIDNIGHT = Date.UTC(2026, 10, 21);
const DAY_MS = 86_400_000;

/** A usage plan with the keys of `value-1` and `value-2` on it. */
class MeteredPlan {
  readonly records = GatewayRecords.inMemory();
  readonly #meter = new UsageMeter(this.records, apiStage);

  constructor(settings: Partial<UsagePlan> = {}) {
    this.records.putUsagePlan(aUsagePlan(settings));
    for (const number of [1, 2]) {
      this.records.putApiKey(anApiKey({ id: `k${number}`, value: `value-${number}` }));
      this.records.putOnPlan('plan', `k${number}`);
    }
  }

  /** What becomes of requests at these times: the id of the key, or the type of the error. */
  outcomes(times: readonly number[], value = 'value-1'): string[] {
    return times.map((time) => {
      try {
        return this.#meter.meter(value, time);
      } catch (error) {
        return error instanceof Error && 'type' in error ? String(error.type) : 'no gateway error';
      }
    });
  }
}

const repeated = <Item>(item: Item, count: number): Item[] => Array.from({ length: count }, () => item);

describe('the throttle of a plan', () => {
  const throttled = { throttle: { rateLimit: 2, burstLimit: 5 } };

  test('lets a burst of each key through, and no more', () => {
    const plan = new MeteredPlan(throttled);

    expect(plan.outcomes(repeated(MIDNIGHT, 7))).toEqual([...repeated('k1', 5), ...repeated('THROTTLED', 2)]);
    expect(plan.outcomes([MIDNIGHT], 'value-2')).toEqual(['k2']);
  });

  test.each([
    [499, 0],
    [1_000, 2],
  ])('fills up again by its rate: %d ms after the burst', (elapsed, admitted) => {
    const plan = new MeteredPlan(throttled);
    plan.outcomes(repeated(MIDNIGHT, 5));
    const admissions = plan.outcomes(repeated(MIDNIGHT + elapsed, 6)).filter((outcome) => outcome === 'k1');

    expect(admissions).toHaveLength(admitted);
  });
});

test('The quota of a plan starts anew at midnight UTC, and not before', () => {
  const plan = new MeteredPlan({ quota: { limit: 3 } });
  const full = [...repeated('k1', 3), 'QUOTA_EXCEEDED'];

  expect(plan.outcomes(repeated(MIDNIGHT + 1, 4))).toEqual(full);
  expect(plan.outcomes([MIDNIGHT + DAY_MS - 1])).toEqual(['QUOTA_EXCEEDED']);
  expect(plan.outcomes(repeated(MIDNIGHT + DAY_MS, 4))).toEqual(full);
});

test.each<[string, (records: GatewayRecords) => void]>([
  ['a key that is disabled', (records) => records.putApiKey(anApiKey({ value: 'value-1', enabled: false }))],
  ['a key that leaves its plan', (records) => records.removeFromPlan('plan', 'k1')],
  ['a plan that is of no stage any more', (records) => records.putUsagePlan(aUsagePlan({ apiStages: [] }))],
])('A change of the records is in force from the next request on: %s', (_, change) => {
  const plan = new MeteredPlan();
  expect(plan.outcomes([MIDNIGHT])).toEqual(['k1']);
  expect(plan.outcomes([MIDNIGHT], 'value-3')).toEqual(['INVALID_API_KEY']);
  change(plan.records);

  expect(plan.outcomes([MIDNIGHT])).toEqual(['INVALID_API_KEY']);
});
