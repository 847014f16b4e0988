import {
  InternalServerError,
  ProvisionedThroughputExceededException,
  ThrottlingException,
} from '@aws-sdk/client-dynamodb';
import type { Random } from '../support/random.ts';

/**
 * What becomes of a call: it is done; it is throttled; it never arrives; it is done, and the answer is lost; it is done
 * long after the client gave up; its connection was idle for so long that it is gone.
 */
export type Fate = 'done' | 'throttled' | 'unreached' | 'lost' | 'late' | 'reset';

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
  { faults: { lost: 0.08, unreached: 0.08, reset: 0.5 }, latency: [1, 3] },
  { faults: { late: 0.1, lost: 0.1, reset: 0.5 }, latency: [1, 500] },
  { faults: { throttled: 0.08, unreached: 0.05, lost: 0.05, late: 0.05, reset: 0.5 }, latency: [1, 20] },
  { faults: { throttled: 0.2, unreached: 0.1, lost: 0.15, late: 0.15, reset: 0.5 }, latency: [1, 60] },
];

export const someWeather = (random: Random): Weather => random.pick(weathers);

export function fateOf({ faults }: Weather, random: Random, isIdle: boolean): Fate {
  if (isIdle && random.isLikely(faults.reset ?? 0)) return 'reset';
  let chance = random.next();
  for (const fate of ['throttled', 'unreached', 'lost', 'late'] as const) {
    chance -= faults[fate] ?? 0;
    if (chance < 0) return fate;
  }
  return 'done';
}

const failure = (properties: object): Error => Object.assign(new Error('The call has failed'), properties);

export const connectionReset = (): Error => failure({ code: 'ECONNRESET' });

export const timedOut = (): Error => failure({ name: 'TimeoutError' });

const answered = { message: 'The call has failed', $metadata: { attempts: 1, totalRetryDelay: 0 } };

/** How the client hears of an answer that is lost: at once, or, where it times out, when its time is over. */
export const someLoss = (random: Random): Error =>
  random.pick([connectionReset(), failure({ code: 'EPIPE' }), timedOut(), new InternalServerError(answered)]);

export const someThrottle = (random: Random): Error =>
  random.pick([new ThrottlingException(answered), new ProvisionedThroughputExceededException(answered)]);
