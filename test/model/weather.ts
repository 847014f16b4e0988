import {
  InternalServerError,
  ProvisionedThroughputExceededException,
  ThrottlingException,
} from '@aws-sdk/client-dynamodb';
import type { Random } from '../support/random.ts';

/**
 * What becomes of a call: it is done; it is done, and its answer is slow; it is throttled; it never arrives; it is done,
 * and the answer is lost; it is done long after the client gave up.
 */
export type Fate = 'done' | 'stalled' | 'throttled' | 'unreached' | 'lost' | 'late';

/** How likely each fault is, for one call. */
export interface Weather {
  readonly faults: Readonly<Partial<Record<Exclude<Fate, 'done'>, number>>>;
  /** One way, in milliseconds: at least, and at most beyond that. */
  readonly latency: readonly [number, number];
}

export const CALM: Weather = { faults: {}, latency: [1, 3] };

const weathers: readonly Weather[] = [
  CALM,
  { ...CALM, latency: [1, 40] },
  { faults: { throttled: 0.1 }, latency: [1, 3] },
  { faults: { lost: 0.08, unreached: 0.08 }, latency: [1, 3] },
  { faults: { late: 0.1, stalled: 0.1 }, latency: [1, 10] },
  { faults: { throttled: 0.08, unreached: 0.05, lost: 0.05, late: 0.05, stalled: 0.05 }, latency: [1, 20] },
  { faults: { throttled: 0.2, unreached: 0.1, lost: 0.15, late: 0.15, stalled: 0.1 }, latency: [1, 60] },
];

export const someWeather = (random: Random): Weather => random.pick(weathers);

export function fateOf({ faults }: Weather, random: Random): Fate {
  let chance = random.next();
  for (const fate of ['stalled', 'throttled', 'unreached', 'lost', 'late'] as const) {
    chance -= faults[fate] ?? 0;
    if (chance < 0) return fate;
  }
  return 'done';
}

export const connectionReset = (): Error => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });

export const timedOut = (): Error => Object.assign(new Error('Request did not complete'), { name: 'TimeoutError' });

const metadata = { $metadata: { attempts: 1, totalRetryDelay: 0 } };

/** How the client hears of an answer that is lost, and whether it hears of it at once, or only when its time is over. */
export function someLoss(random: Random): { readonly error: Error; readonly isSlow: boolean } {
  return random.pick([
    { error: connectionReset(), isSlow: false },
    { error: Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }), isSlow: false },
    { error: timedOut(), isSlow: true },
    { error: new InternalServerError({ message: 'Internal server error', ...metadata }), isSlow: false },
  ]);
}

export function someThrottle(random: Random): Error {
  const message = 'Throughput exceeds the current capacity of your table or index';
  return random.isLikely(0.5)
    ? new ThrottlingException({ message, ...metadata })
    : new ProvisionedThroughputExceededException({ message, ...metadata });
}
