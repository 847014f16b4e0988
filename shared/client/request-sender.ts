import type { CallOptions, InventoryClientOptions } from './client-options.ts';
import { ApiError, ConnectionError, readErrorBody } from './client-errors.ts';

/** The backoff grows no further than this, in milliseconds. */
const MAX_BACKOFF = 20_000;

/** While a day is used up, a request gets through every so often (in milliseconds): a plan may have been changed. */
const PROBE_EVERY = 60_000;

/** Errors of the service, or of something on the way to it, that may be over soon. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);

/** An answer with its whole body. */
type WholeAnswer = Readonly<{ response: Response; text: string }>;

/** Sends the requests of a client, each until it has a good answer or cannot have one. */
export class RequestSender {
  readonly #options: InventoryClientOptions;
  /** The latest 429, after which the other calls wait too (spec §7), and until when, in Unix milliseconds. */
  #refusal: { readonly error: ApiError; readonly end: number } | undefined;

  constructor(options: InventoryClientOptions) {
    this.#options = options;
  }

  /** @throws ApiError, ConnectionError or the reason of the signal */
  async send(url: string, init: RequestInit, own: CallOptions): Promise<WholeAnswer> {
    const { maxWait = 90_000, retryDelay = 500 } = this.#options;
    const { maxRetries = this.#options.maxRetries ?? 5 } = own;
    let error: unknown = this.#refusal?.error;
    let pause = Math.max(0, (this.#refusal?.end ?? 0) - Date.now());
    let pauseLeft = maxWait;
    for (let attempt = 1; ; attempt++) {
      pauseLeft -= pause;
      if (pauseLeft < 0) throw error;
      if (pause > 0) await sleep(pause, own.signal);
      try {
        return await this.#sendOnce(url, init, own);
      } catch (thrown) {
        if (!isPassing(thrown) || attempt > maxRetries) throw thrown;
        error = thrown;
        pause = pauseAfter(thrown, attempt, retryDelay);
      }
    }
  }

  async #sendOnce(url: string, init: RequestInit, own: CallOptions): Promise<WholeAnswer> {
    const answer = await this.#fetchWhole(url, init, own);
    if (answer.response.ok) return answer;
    const error = new ApiError(answer.response, readErrorBody(answer.text));
    if (error.status === 429) {
      const wait = (error.retryAfter ?? 0) * 1_000;
      const longest = error.code === 'DAILY_QUOTA_EXCEEDED' ? PROBE_EVERY : Infinity;
      this.#refusal = { error, end: Date.now() + Math.min(wait, longest) };
    }
    throw error;
  }

  /** Sends a request once. The answer counts only with its whole body. @throws ConnectionError without one */
  async #fetchWhole(url: string, init: RequestInit, own: CallOptions): Promise<WholeAnswer> {
    const timer = AbortSignal.timeout(own.timeout ?? this.#options.timeout ?? 30_000);
    const signal = AbortSignal.any(own.signal ? [own.signal, timer] : [timer]);
    let response: Response | undefined;
    try {
      // The service does not redirect, and the key must not get to another address.
      response = await fetch(url, { ...init, signal, redirect: 'manual' });
      return { response, text: await response.text() };
    } catch (error) {
      own.signal?.throwIfAborted();
      const withoutTimeout = response ? 'broken-off' : 'network';
      throw new ConnectionError(timer.aborted ? 'timeout' : withoutTimeout, `${init.method ?? 'GET'} ${url}`, error);
    }
  }
}

/**
 * Whether a failed request may be repeated. One that was refused for what it is would be refused again. One that got no
 * answer may have been carried out; an update is carried out once all the same, by its Idempotency-Key.
 */
const isPassing = (error: unknown): error is ApiError | ConnectionError =>
  error instanceof ConnectionError || (error instanceof ApiError && PASSING_STATUSES.has(error.status));

/**
 * Milliseconds until the next request: as long as `Retry-After` says, and on top a backoff that doubles each time. A random
 * part of up to half of it keeps clients that failed together from coming back together.
 */
function pauseAfter(error: ApiError | ConnectionError, attempt: number, retryDelay: number): number {
  const backoff = Math.min(MAX_BACKOFF, retryDelay * 2 ** (attempt - 1));
  const retryAfter = error instanceof ApiError ? (error.retryAfter ?? 0) : 0;
  return retryAfter * 1_000 + Math.round(backoff * (0.5 + Math.random() / 2));
}

/** @throws the signal's reason */
const sleep = (milliseconds: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
