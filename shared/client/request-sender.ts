import type { ApiResponse } from './api-response.ts';
import type { CallOptions, InventoryClientOptions } from './client-options.ts';
import { ApiError, ConnectionError } from './client-errors.ts';
import { check } from './check-arguments.ts';
import { metadataOf, parseResponse, readErrorBody, type Shape } from './parse-response.ts';
import { RequestGate, sleep } from './request-gate.ts';

export interface RequestParts {
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** A batch update, which has a throttle of its own. */
  readonly isBatch?: boolean;
  /** Set to whether an attempt that failed may have been applied. */
  mayBeApplied?: boolean;
}

/** Sends the requests of a client, each until it succeeds or cannot. */
export class RequestSender {
  readonly #options: InventoryClientOptions;
  readonly #baseUrl: string;
  readonly #gate: RequestGate;

  constructor(options: InventoryClientOptions) {
    this.#options = options;
    this.#baseUrl = String(options.baseUrl).replace(/\/$/, '');
    this.#gate = new RequestGate(options.concurrency ?? 10);
  }

  /** @throws ApiError, ConnectionError, TypeError, the reason of the signal, or the error of the API key's function */
  async send<T>(
    path: string,
    own: CallOptions,
    shape: Shape,
    parts: RequestParts = { method: 'GET' },
  ): Promise<ApiResponse<T>> {
    check(own);
    const url = `${this.#baseUrl}${path}`;
    const maxRetries = this.maxRetries(own);
    let queueTime = own.maxQueueTime ?? this.#options.maxQueueTime;
    let waitLeft = this.#options.maxWait ?? 90_000;
    let failure: ApiError | ConnectionError | undefined;
    for (let attempt = 1, retries = 0; ; attempt++) {
      const begin = performance.now();
      const turn = await this.#gate.enter(parts.isBatch === true, attempt > 1, queueTime, own.signal);
      if (!turn) throw failure ?? this.#gate.notSent(`${parts.method} ${url}`);
      if (queueTime !== undefined) queueTime -= performance.now() - begin;
      try {
        const { response, data } = await this.#sendOnce(url, parts, own, shape);
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it has the shape
        return { data: data as T, ...metadataOf(response) };
      } catch (thrown) {
        if (!isTransient(thrown)) throw thrown;
        failure = thrown;
      } finally {
        this.#gate.leave(turn);
      }
      // A refusal is waited for in the queue, within its own limit if there is one.
      const isRefused = failure instanceof ApiError && failure.status === 429;
      const isUnconnected = failure instanceof ConnectionError && failure.reason === 'network';
      if (!isUnconnected && !(isRefused && queueTime !== undefined)) retries++;
      const retryAfter = failure instanceof ApiError && !isRefused ? (failure.retryAfter ?? 0) : 0;
      const pause = this.backoff(attempt) + retryAfter * 1_000;
      if (!isRefused) waitLeft -= pause;
      if (maxRetries < 1 || retries > maxRetries || waitLeft < 0) throw failure;
      await sleep(pause, own.signal);
    }
  }

  maxRetries(own: CallOptions): number {
    return own.maxRetries ?? this.#options.maxRetries ?? 5;
  }

  /** Milliseconds before a retry: exponential up to 20 s, with a jitter of up to half of it. */
  backoff(attempt: number): number {
    const backoff = Math.min(20_000, (this.#options.retryDelay ?? 500) * 2 ** (attempt - 1));
    return Math.round(backoff * (0.5 + Math.random() / 2));
  }

  /** Sends a request once, and reads its complete response. @throws ApiError, ConnectionError or TypeError */
  async #sendOnce(url: string, parts: RequestParts, own: CallOptions, shape: Shape) {
    const { apiKey: key, fetch: fetchIt = fetch, timeout } = this.#options;
    const { method, body = null, mayBeApplied = false } = parts;
    const apiKey = typeof key === 'function' ? await key() : key;
    check({ apiKey }, ['apiKey']);
    const headers = { ...parts.headers, Authorization: `Bearer ${apiKey}` };
    const timer = AbortSignal.timeout(own.timeout ?? timeout ?? 30_000);
    const signal = AbortSignal.any(own.signal ? [own.signal, timer] : [timer]);
    let response: Response | undefined;
    parts.mayBeApplied = true;
    try {
      // The service does not redirect, and the key must not reach another host.
      response = await fetchIt(url, { method, headers, body, signal, redirect: 'manual' });
      const isRefused = response.status === 429;
      // Without a valid key the limits are 0.
      if (!isRefused) this.#gate.accept(response.status === 401 ? null : response.headers.get('RateLimit'));
      // A refusal holds without its body.
      const text = await (isRefused ? response.text().catch(() => '') : response.text());
      const error = response.ok ? undefined : new ApiError(response, readErrorBody(text));
      if (isRefused && error) this.#gate.refuse(error.code, error.message, error.retryAfter ?? 1);
      const data = error ? undefined : parseResponse(text, shape);
      if (!error || isNotApplied(error)) parts.mayBeApplied = mayBeApplied;
      if (error) throw error;
      return { response, data };
    } catch (error) {
      if (error instanceof ApiError || (!response && isOfCall(error))) throw error;
      own.signal?.throwIfAborted();
      const ofResponse = error instanceof SyntaxError ? 'unreadable' : 'truncated';
      const reason = response ? ofResponse : 'network';
      throw new ConnectionError(timer.aborted ? 'timeout' : reason, `${method} ${url}`, error);
    }
  }
}

/** Messages of platforms about the network in a TypeError of `fetch`. */
const OF_NETWORK = /^(?:fetch failed|failed to fetch|load failed|error sending)|network|offline/i;

/** Whether `fetch` failed for a fault of the call, which no retry changes. */
function isOfCall(error: unknown): boolean {
  const { name, message = '', cause }: Partial<Error> = Object(error);
  return name === 'TypeError' && (!OF_NETWORK.test(message) || Object(cause).message === 'bad port');
}

/** Whether the request that got this error surely applied nothing (the guide, "Was the update applied?"). */
export const isNotApplied = ({ status, code }: Pick<ApiError, 'status' | 'code'>): boolean =>
  status < 500 || code === 'SERVICE_UNAVAILABLE' || code === 'INTERNAL_ERROR';

/** Whether to retry a request that failed: it may have been applied, but updates have an Idempotency-Key. */
const isTransient = (error: unknown): error is ApiError | ConnectionError =>
  error instanceof ConnectionError
    ? error.reason !== 'unreadable'
    : error instanceof ApiError && [429, 500, 502, 503, 504].includes(error.status);
