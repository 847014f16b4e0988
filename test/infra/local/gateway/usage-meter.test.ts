import { expect, test } from '@jest/globals';
import { usageMeter } from '../../../../infra/local/gateway/usage-meter.ts';
import { GatewayRecords } from '../../../../infra/local/control-plane/gateway-records.ts';
import type { UsagePlan } from '../../../../infra/local/control-plane/gateway-records.ts';
import { DAY_MS } from '../../../../shared/keys/verdict.ts';
import { anApiKey, apiStage, aUsagePlan } from '../../../support/gateway-records.ts';

const MIDNIGHT = Date.UTC(2026, 10, 21);

/** A usage plan with a key. @returns the result of requests at some times: the id of the key, or the error's type */
function planWith(settings: Partial<UsagePlan>): (times: readonly number[]) => string[] {
  const records = new GatewayRecords();
  const meter = usageMeter(records, apiStage);
  records.putUsagePlan(aUsagePlan(settings));
  records.putApiKey(anApiKey({ value: 'value-1', planId: 'plan' }));
  const outcomeAt = (time: number): string => {
    try {
      return meter('value-1', time);
    } catch (error) {
      return error instanceof Error && 'type' in error ? String(error.type) : 'no gateway error';
    }
  };
  return (times) => times.map(outcomeAt);
}

const repeated = <Item>(item: Item, count: number): Item[] => Array.from({ length: count }, () => item);

test.each([
  [499, 0],
  [1_000, 2],
])('the throttle of a plan refills at its rate: %d ms after the burst it admits %d', (elapsed, admitted) => {
  const outcomesAt = planWith({ throttle: { rateLimit: 2, burstLimit: 5 } });
  outcomesAt(repeated(MIDNIGHT, 5));
  const admissions = outcomesAt(repeated(MIDNIGHT + elapsed, 6)).filter((outcome) => outcome === 'k1');

  expect(admissions).toHaveLength(admitted);
});

test('the quota of a plan resets at midnight UTC', () => {
  const outcomesAt = planWith({ quota: { limit: 3 } });
  const full = [...repeated('k1', 3), 'QUOTA_EXCEEDED'];

  expect(outcomesAt(repeated(MIDNIGHT + 1, 4))).toEqual(full);
  expect(outcomesAt([MIDNIGHT + DAY_MS - 1])).toEqual(['QUOTA_EXCEEDED']);
  expect(outcomesAt(repeated(MIDNIGHT + DAY_MS, 4))).toEqual(full);
});
