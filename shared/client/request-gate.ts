import { ApiError, ConnectionError } from './client-errors.ts';

/** Milliseconds after a refusal until a request is sent all the same: an admin may have resumed or moved the key. */
const MAX_CLOSED = 60_000;
/** Milliseconds between batches: four per second, below the service's throttle of five. */
const BATCH_INTERVAL = 250;

/** A queued request. Without a deadline it does not wait for a day or a suspension. Times: `performance.now()`. */
export type Turn = { readonly isBatch: boolean; readonly deadline: number | undefined; wake: () => void };

/** Why nothing is sent until `opensAt`. If it has not ended by then, one request tries it. */
type Refusal = Readonly<{ code: string; message: string; isLong: boolean; opensAt: number; end: number }>;

/**
 * Queues requests, first in, first out, but retries first. Nothing is sent during a refusal, then one request until it
 * returns. Otherwise up to `concurrency` are in flight, but no more than what remains in each window of the key's
 * limit, as those in flight may not be counted in it yet.
 */
export class RequestGate {
  readonly #concurrency: number;
  #maxInFlight: number;
  #waiting = new Set<Turn>();
  readonly #inFlight = new Set<Turn>();
  readonly #windows = new Map<string, { readonly remaining: number; readonly end: number }>();
  #refusal: Refusal = { code: '', message: '', isLong: false, opensAt: 0, end: 0 };
  #nextBatchAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(concurrency: number) {
    this.#concurrency = this.#maxInFlight = concurrency;
  }

  /** Waits for permission to send, released by `leave`. @returns undefined if `maxWait` milliseconds do not suffice */
  async enter(isBatch: boolean, isRetry: boolean, maxWait?: number, signal?: AbortSignal): Promise<Turn | undefined> {
    const deadline = maxWait === undefined ? undefined : performance.now() + maxWait;
    const turn = { isBatch, deadline, wake: () => undefined };
    this.#waiting = isRetry ? new Set([turn, ...this.#waiting]) : this.#waiting.add(turn);
    this.#admit();
    let isSent = false;
    try {
      if (this.#waiting.has(turn) && !this.#cannotWait(turn)) await sleep(maxWait ?? Infinity, signal, turn);
      isSent = !this.#waiting.has(turn);
      return isSent ? turn : undefined;
    } finally {
      if (!isSent) this.leave(turn);
    }
  }

  /** Releases the permission. */
  leave(turn: Turn): void {
    if (!this.#waiting.delete(turn)) this.#inFlight.delete(turn);
    this.#admit();
  }

  /** Handles `RateLimit` of an admitted request. The lowest remaining quota of a window counts. */
  accept(rateLimit: string | null): void {
    if (performance.now() >= this.#refusal.opensAt) this.#maxInFlight = this.#concurrency;
    for (const [, name = '', r, t] of (rateLimit ?? '').matchAll(/"(minute|day)";r=(\d{1,9});t=(\d{1,9})/g)) {
      const now = performance.now();
      const known = this.#windows.get(name);
      const remaining = Number(r);
      if (!known || now >= known.end || remaining < known.remaining)
        this.#windows.set(name, { remaining, end: now + Number(t) * 1_000 });
      const code = name === 'day' ? 'DAILY_QUOTA_EXCEEDED' : 'RATE_LIMIT_EXCEEDED';
      if (remaining === 0) this.refuse(code, `The limit per ${name} is exhausted.`, Number(t));
    }
    this.#admit();
  }

  /** Sends nothing for some seconds, or until it is tried. It shortens an earlier refusal only by such a trial. */
  refuse(code: string, message: string, seconds: number): void {
    const now = performance.now();
    const end = now + seconds * 1_000;
    if (now < this.#refusal.opensAt && end < this.#refusal.end) return;
    const isLong = end > now + MAX_CLOSED || code === 'DAILY_QUOTA_EXCEEDED' || code === 'API_KEY_SUSPENDED';
    this.#refusal = { code, message, isLong, opensAt: Math.min(end, now + MAX_CLOSED), end };
    this.#maxInFlight = 1;
    this.#windows.clear();
    for (const turn of this.#waiting) if (this.#cannotWait(turn)) turn.wake();
  }

  /** The error of a call that cannot wait: the refusal with the seconds that are left, if there is one. */
  notSent(request: string): Error {
    const { code, message, end } = this.#refusal;
    const retryAfter = Math.ceil((end - performance.now()) / 1_000);
    if (retryAfter > 0) return new ApiError({ retryAfter }, { code, message: `Not sent: ${message}` });
    return new ConnectionError('queued', request, 'it was not sent within maxQueueTime');
  }

  /** Whether a call cannot wait for the end of the refusal. While one request tries it, others wait for its result. */
  #cannotWait({ deadline }: Turn): boolean {
    const { isLong, opensAt, end } = this.#refusal;
    return performance.now() < opensAt && (deadline === undefined ? isLong : deadline < end);
  }

  /** When a request may be sent, if no other one returns before. */
  #opensAt(): number {
    if (this.#inFlight.size >= this.#maxInFlight) return Infinity;
    const exhausted = [...this.#windows.values()].filter(({ remaining }) => remaining <= this.#inFlight.size);
    return Math.max(this.#refusal.opensAt, ...exhausted.map(({ end }) => end));
  }

  /** Sends what may be sent now. */
  #admit(): void {
    clearTimeout(this.#timer);
    let next = Infinity;
    for (const turn of this.#waiting) {
      const now = performance.now();
      const opensAt = this.#opensAt();
      const startsAt = turn.isBatch ? Math.max(opensAt, this.#nextBatchAt) : opensAt;
      if (startsAt <= now) this.#send(turn);
      else next = Math.min(next, startsAt - now, MAX_CLOSED);
      if (opensAt > now) break;
    }
    if (next < Infinity) this.#timer = setTimeout(() => this.#admit(), next);
  }

  #send(turn: Turn): void {
    this.#waiting.delete(turn);
    this.#inFlight.add(turn);
    if (turn.isBatch) this.#nextBatchAt = performance.now() + BATCH_INTERVAL;
    turn.wake();
  }
}

/** Waits that long, or until `sleeper.wake` is called. Removes its timer and listener. @throws the signal's reason */
export const sleep = (milliseconds: number, signal?: AbortSignal, sleeper?: { wake: () => void }): Promise<void> =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      if (signal?.aborted) reject(signal.reason);
      else resolve();
    };
    // A longer timer would end immediately.
    const timer = milliseconds < 2 ** 31 ? setTimeout(end, milliseconds) : undefined;
    signal?.addEventListener('abort', end);
    if (sleeper) sleeper.wake = end;
  });
