import type { ApiError } from './client-errors.ts';

/** Milliseconds between probes while a day is exhausted: the plan may have changed. */
const PROBE_EVERY = 60_000;

/** A call's place in the queue until its deadline (Unix milliseconds), then its permission to send one request. */
export type Turn = { readonly deadline: number; wake: () => void };

/**
 * Queues requests, first in, first out, with a maximum in flight. After a 429 none is sent
 * until it expires, then one (the probe), and the others once its headers arrive. Too many refusals suspend a key.
 */
export class RequestGate {
  readonly #waiting = new Set<Turn>();
  /** How many more requests may be in flight. */
  #free: number;
  /** The 429 that expires last (Unix milliseconds): the error of calls that cannot wait that long. */
  #refusal: { readonly error: ApiError; readonly end: number } | undefined;
  /** When a probe may be sent (Unix milliseconds); 0 if none is needed. */
  #probeAt = 0;
  #probe: Turn | undefined;
  /** When the latest probe was admitted (Unix milliseconds). */
  #openedAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @throws TypeError */
  constructor(concurrency: number) {
    if (!(concurrency >= 1)) throw new TypeError('concurrency must be 1 or more');
    this.#free = concurrency;
  }

  /**
   * Waits for permission to send, released by `leave`.
   *
   * @throws the signal's reason; if `maxWait` milliseconds cannot suffice, the refusal or else `otherwise`
   */
  async enter(maxWait: number, signal: AbortSignal | undefined, otherwise: unknown): Promise<Turn> {
    const turn = { deadline: Date.now() + maxWait, wake: () => undefined };
    this.#waiting.add(turn);
    this.#admit();
    try {
      if (this.#waiting.has(turn) && !this.#isInVain(turn)) await sleep(maxWait, signal, turn);
      if (this.#waiting.has(turn)) throw this.#refusal?.error ?? otherwise;
      return turn;
    } catch (error) {
      this.leave(turn);
      throw error;
    }
  }

  /** Releases the permission. A probe without headers passes it on. */
  leave(turn: Turn): void {
    if (!this.#waiting.delete(turn)) this.#free++;
    if (this.#probe === turn) this.#probe = undefined;
    this.#admit();
  }

  /** Handles the headers of any other response: those of the probe end the refusal. */
  open(turn: Turn): void {
    if (this.#probe !== turn) return;
    this.#probe = this.#refusal = undefined;
    this.#probeAt = 0;
    this.#openedAt = Date.now();
    this.#admit();
  }

  /**
   * Handles a 429, complete or before its body and code arrive. It never shortens an earlier one, and has no effect
   * if a probe was admitted after its headers.
   *
   * @param receivedAt when its headers arrived, Unix milliseconds
   */
  close(error: ApiError, receivedAt: number, isWhole: boolean): void {
    if (receivedAt < this.#openedAt) return;
    const end = receivedAt + (error.retryAfter ?? 1) * 1_000;
    const isProbed = !isWhole || error.code === 'DAILY_QUOTA_EXCEEDED';
    this.#probe = undefined;
    this.#probeAt = Math.max(this.#probeAt, isProbed ? Math.min(end, receivedAt + PROBE_EVERY) : end);
    if (isWhole && end >= (this.#refusal?.end ?? 0)) this.#refusal = { error, end };
    for (const turn of this.#waiting) if (this.#isInVain(turn)) turn.wake();
    this.#admit();
  }

  #isInVain({ deadline }: Turn): boolean {
    return deadline < (this.#refusal?.end ?? 0);
  }

  /** Starts queued requests up to the maximum in flight. */
  #admit(): void {
    clearTimeout(this.#timer);
    for (const turn of this.#waiting) {
      if (this.#free < 1 || this.#probe) return;
      const closedFor = this.#probeAt - Date.now();
      if (closedFor > 0) {
        this.#timer = setTimeout(() => this.#admit(), closedFor);
        return;
      }
      if (this.#probeAt > 0) this.#probe = turn;
      this.#waiting.delete(turn);
      this.#free--;
      turn.wake();
    }
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
    const timer = setTimeout(end, milliseconds);
    signal?.addEventListener('abort', end);
    if (sleeper) sleeper.wake = end;
  });
