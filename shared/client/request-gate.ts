import type { ApiError } from './api-error.ts';
import type { Limits } from './limits.ts';
import type { Patience } from './patience.ts';
import { waitFor } from './wait-for.ts';

/** While a day is used up, one request gets through every so often (in milliseconds): a plan may have been changed. */
const PROBE_EVERY = 60_000;

/** A call that wants to send a request. */
export interface Caller {
  readonly patience: Patience;
  readonly signal: AbortSignal;
  /** Requests that it has sent so far. */
  readonly attempts: number;
}

interface Refusal {
  readonly error: ApiError;
  /** When the service wants requests again, in Unix milliseconds. */
  readonly end: number;
  /** When the next request may be sent. */
  readonly nextTry: number;
}

/**
 * Where all requests of a client pass. It keeps calls that run side by side from being refused together, which would
 * suspend the API key (spec §7): no more requests are under way than the limits have room for, and after a 429 none is sent
 * before `Retry-After` is over.
 */
export class RequestGate {
  readonly #maxConcurrent: number;
  readonly #queue: (() => void)[] = [];
  #underWay = 0;
  /** One, until an answer tells how much room there is. */
  #room = 1;
  #refusal: Refusal | undefined;

  constructor(maxConcurrent: number) {
    this.#maxConcurrent = maxConcurrent;
  }

  /**
   * Waits until a request may be sent. {@link leave} must follow.
   *
   * @throws ApiError the refusal that still holds, where waiting for its end is beyond the patience
   */
  async enter(caller: Caller): Promise<void> {
    for (;;) {
      const refusal = this.#refusal;
      if (refusal && Date.now() < refusal.nextTry) await waitOut(refusal, caller);
      else {
        await this.#takePlace(caller.signal);
        // Meanwhile another request may have been refused.
        if (this.#refusal === refusal) return;
        this.leave();
      }
    }
  }

  /** Gives the place of an answered request to the next one. */
  leave(): void {
    this.#underWay -= 1;
    this.#admit();
  }

  /** Takes to heart what an answer says about the limits; undefined where it says nothing. */
  note(limits: Limits | undefined): void {
    this.#room = Math.max(1, Math.min(this.#maxConcurrent, limits?.remaining ?? this.#maxConcurrent));
  }

  /** Lets nothing through until the time that a refusal (429) names. */
  close(error: ApiError): void {
    const now = Date.now();
    const end = now + (error.retryAfter ?? 0) * 1_000;
    const nextTry = error.code === 'DAILY_QUOTA_EXCEEDED' ? Math.min(end, now + PROBE_EVERY) : end;
    this.#refusal = { error, end, nextTry };
  }

  async #takePlace(signal: AbortSignal): Promise<void> {
    if (this.#underWay < this.#room && this.#queue.length === 0) {
      signal.throwIfAborted();
      this.#underWay += 1;
      return;
    }
    await waitFor(signal, (admitted) => {
      this.#queue.push(admitted);
      return () => this.#withdraw(admitted);
    });
  }

  #withdraw(waiting: () => void): void {
    const index = this.#queue.indexOf(waiting);
    if (index >= 0) this.#queue.splice(index, 1);
  }

  #admit(): void {
    while (this.#underWay < this.#room) {
      const admitted = this.#queue.shift();
      if (!admitted) return;
      this.#underWay += 1;
      admitted();
    }
  }
}

async function waitOut({ error, end }: Refusal, { patience, signal, attempts }: Caller): Promise<void> {
  const left = end - Date.now();
  if (!patience.spend(left)) throw error.again(Math.ceil(left / 1_000), attempts);
  await waitFor(signal, (over) => {
    const timer = setTimeout(over, left);
    return () => clearTimeout(timer);
  });
}
