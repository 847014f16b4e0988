import { type ExactLimits, type UsagePlanLimits, usagePlanLimits } from '../../../shared/keys/plans.ts';
import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';

const MINUTE_MS = 60_000;

test('a usage plan never throttles what the exact limits admit', () => {
  const limits = fc.record({ perMinute: fc.integer({ min: 1, max: 130 }), perDay: fc.constant(1_000_000) });
  fc.assert(
    fc.property(limits, arrivals(), (exact, times) => {
      const admitted = admittedByMinute(times, exact);
      expect(refusedByBucket(admitted, usagePlanLimits(exact))).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

/** Times of requests in ascending order, in bursts that like the edges of minutes. */
function arrivals(): fc.Arbitrary<number[]> {
  const offset = fc.oneof(fc.constantFrom(0, 1, MINUTE_MS - 1), fc.nat({ max: MINUTE_MS - 1 }));
  const burst = fc.record({ minute: fc.nat({ max: 5 }), offset, size: fc.integer({ min: 1, max: 130 }) });
  return fc
    .array(burst, { minLength: 1, maxLength: 20 })
    .map((bursts) =>
      bursts
        .flatMap(({ minute, offset: ms, size }) => Array.from({ length: size }, () => minute * MINUTE_MS + ms))
        .toSorted((a, b) => a - b),
    );
}

function admittedByMinute(times: readonly number[], { perMinute }: ExactLimits): number[] {
  const used = new Map<number, number>();
  return times.filter((time) => {
    const minute = Math.floor(time / MINUTE_MS);
    const count = used.get(minute) ?? 0;
    if (count < perMinute) used.set(minute, count + 1);
    return count < perMinute;
  });
}

/** What API Gateway's token bucket refuses, counted in thousandths of a token so that nothing is rounded. */
function refusedByBucket(times: readonly number[], { rateLimit, burstLimit }: UsagePlanLimits): number[] {
  const full = burstLimit * 1_000;
  let tokens = full;
  let last = 0;
  return times.filter((time) => {
    tokens = Math.min(full, tokens + (time - last) * rateLimit);
    last = time;
    if (tokens < 1_000) return true;
    tokens -= 1_000;
    return false;
  });
}
