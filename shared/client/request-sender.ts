import type { CallOptions, InventoryClientOptions } from './client-options.ts';
import { ApiError, ConnectionError, readErrorBody } from './client-errors.ts';
import { RequestGate, sleep, type Turn } from './request-gate.ts';

/** Max backoff, in milliseconds. */
const MAX_BACKOFF = 20_000;

/** Transient errors, of the service or of a proxy. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);

/** A response with its complete body. */
type CompleteResponse = Readonly<{ response: Response; text: string }>;

/** Sends the requests of a client, each until it succeeds or cannot. */
export class RequestSender {
  readonly #options: InventoryClientOptions;
  readonly #gate: RequestGate;

  /** @throws TypeError */
  constructor(options: InventoryClientOptions) {
    this.#options = options;
    this.#gate = new RequestGate(options.concurrency ?? 10);
  }

  /** @throws ApiError, ConnectionError or the reason of the signal */
  async send(url: string, init: RequestInit, own: CallOptions): Promise<CompleteResponse> {
    const { maxWait = 90_000, retryDelay = 500 } = this.#options;
    const { maxRetries = this.#options.maxRetries ?? 5 } = own;
    const request = `${init.method ?? 'GET'} ${url}`;
    let error: unknown = new ConnectionError('timeout', request, 'not sent: queued for maxWait');
    // The maximum of a timer.
    let waitLeft = Math.min(maxWait, 2 ** 31 - 1);
    for (let attempt = 1, pause = 0; ; attempt++) {
      const begin = Date.now();
      const turn = await this.#gate.enter(waitLeft, own.signal, error);
      waitLeft -= Date.now() - begin;
      try {
        return await this.#sendOnce(url, init, own, turn);
      } catch (thrown) {
        if (!isPassing(thrown) || attempt > maxRetries) throw thrown;
        error = thrown;
        pause = pauseAfter(thrown, attempt, retryDelay);
      } finally {
        this.#gate.leave(turn);
      }
      waitLeft -= pause;
      if (waitLeft < 0) throw error;
      await sleep(pause, own.signal);
    }
  }

  /** Sends a request once, and reads its complete response. @throws ApiError or ConnectionError */
  async #sendOnce(url: string, init: RequestInit, own: CallOptions, turn: Turn): Promise<CompleteResponse> {
    const timer = AbortSignal.timeout(own.timeout ?? this.#options.timeout ?? 30_000);
    const signal = AbortSignal.any(own.signal ? [own.signal, timer] : [timer]);
    let response: Response | undefined;
    try {
      // The service does not redirect, and the key must not reach another host.
      response = await fetch(url, { ...init, signal, redirect: 'manual' });
      const receivedAt = Date.now();
      if (response.status === 429) this.#gate.close(new ApiError(response, {}), receivedAt, false);
      else this.#gate.open(turn);
      const text = await response.text();
      if (response.ok) return { response, text };
      const error = new ApiError(response, readErrorBody(text));
      if (error.status === 429) this.#gate.close(error, receivedAt, true);
      throw error;
    } catch (error) {
      if (error instanceof ApiError) throw error;
      own.signal?.throwIfAborted();
      const withoutTimeout = response ? 'broken-off' : 'network';
      throw new ConnectionError(timer.aborted ? 'timeout' : withoutTimeout, `${init.method ?? 'GET'} ${url}`, error);
    }
  }
}

/**
 * Whether to retry a failed request. Client errors would fail again. A request without a
 * response may have been applied; an update takes effect once nevertheless, by its Idempotency-Key.
 */
const isPassing = (error: unknown): error is ApiError | ConnectionError =>
  error instanceof ConnectionError || (error instanceof ApiError && PASSING_STATUSES.has(error.status));

/**
 * Milliseconds until the next request: `Retry-After` plus exponential backoff, with a
 * jitter of up to half of it.
 */
function pauseAfter(error: ApiError | ConnectionError, attempt: number, retryDelay: number): number {
  const backoff = Math.min(MAX_BACKOFF, retryDelay * 2 ** (attempt - 1));
  const retryAfter = error instanceof ApiError ? (error.retryAfter ?? 0) : 0;
  return retryAfter * 1_000 + Math.round(backoff * (0.5 + Math.random() / 2));
}
