import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { usagePlanLimits } from '../../../shared/keys/plans.ts';

const MINUTE_MS = 60_000;

test('a usage plan never throttles what the exact limits admit', () => {
  // Times within a minute that like its edges; of each minute as many as the limit admits.
  const time = fc.oneof(fc.constantFrom(0, 1, MINUTE_MS - 1), fc.nat({ max: MINUTE_MS - 1 }));
  const minutes = fc.integer({ min: 1, max: 130 }).chain((perMinute) => {
    const burst = fc.tuple(time, fc.nat({ max: perMinute })).map(([at, length]) => Array.from({ length }, () => at));
    const minute = fc.array(burst, { maxLength: 4 }).map((bursts) => bursts.flat().slice(0, perMinute));
    return fc.tuple(fc.constant(perMinute), fc.array(minute, { maxLength: 6 }));
  });
  fc.assert(
    fc.property(minutes, ([perMinute, offsets]) => {
      const { rateLimit, burstLimit } = usagePlanLimits({ perMinute, perDay: 1_000_000 });
      const times = offsets.flatMap((minute, index) => minute.map((offset) => index * MINUTE_MS + offset));
      // API Gateway's token bucket, in thousandths of a token, so that nothing is rounded.
      let [tokens, least, last] = [burstLimit * 1_000, 0, 0];
      for (const now of times.toSorted((a, b) => a - b)) {
        tokens = Math.min(burstLimit * 1_000, tokens + (now - last) * rateLimit) - 1_000;
        last = now;
        least = Math.min(least, tokens);
      }
      expect(least).toBeGreaterThanOrEqual(0);
    }),
    { numRuns: 300 },
  );
});
