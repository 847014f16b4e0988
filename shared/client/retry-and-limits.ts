import { type ClientSettings, isBrowser } from './client-settings.ts';
import { ApiError, ConnectionError, readErrorBody } from './errors.ts';
import { type Limits, readLimits } from './limits.ts';

/** The backoff grows no further than this, in milliseconds. */
const MAX_BACKOFF = 20_000;

/** While a day is used up, one request gets through every so often (in milliseconds): a plan may have been changed. */
const PROBE_EVERY = 60_000;

/** Errors of the service, or of something on the way to it, that may be over soon. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);

/** The request of one call. */
export interface CallRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body: string | null;
  /** Ends with the call: its listeners are not removed. */
  readonly signal: AbortSignal;
}

/** An answer with its whole body. */
export interface WholeAnswer {
  readonly response: Response;
  readonly text: string;
}

/**
 * Sends the requests of a client, each until it has a good answer or cannot have one. It keeps calls that run side by side
 * from being refused together, which would suspend the API key (spec §7): no more requests are under way than the limits have
 * room for, and after a 429 none is sent before `Retry-After` is over.
 */
export class RetryAndLimits {
  /** What the latest answer has said about them. */
  limits: Limits | undefined;
  readonly #queue = new Set<() => void>();
  #underWay = 0;
  /** One, until an answer says how much room there is. */
  #room = 1;
  /** The latest 429; when the service wants requests again, and when the next one may be sent, in Unix milliseconds. */
  #refusal: { readonly error: ApiError; readonly end: number; readonly nextTry: number } | undefined;

  /** @throws ApiError, ConnectionError or the reason of the signal */
  async send(request: CallRequest, settings: ClientSettings): Promise<WholeAnswer> {
    const call = { signal: request.signal, pauseLeft: settings.maxWait };
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#enter(call);
        return await this.#sendOnce(request, settings).finally(() => this.#leave());
      } catch (error) {
        if (attempt > 1 && (await isKeptFromPage(error, request, settings))) {
          throw new ConnectionError('blocked', `${request.method} ${request.url}`, BLOCKED);
        }
        if (!isPassing(error) || attempt > settings.maxRetries) throw error;
        const pause = pauseAfter(error, attempt, settings.retryDelay);
        if (pause > call.pauseLeft) throw error;
        call.pauseLeft -= pause;
        settings.onRetry?.({ error, attempt: attempt + 1, pause });
        await sleep(pause, call.signal);
      }
    }
  }

  async #sendOnce(request: CallRequest, settings: ClientSettings): Promise<WholeAnswer> {
    const answer = await fetchWhole(request, settings);
    const { response, text } = answer;
    const seen = readLimits(response.headers);
    // All are 0 where the gateway refused the request before it had looked at the key: then they are unknown.
    const limits = seen?.reset.getTime() === 0 ? undefined : seen;
    this.limits = limits ?? this.limits;
    this.#room = Math.max(1, Math.min(settings.maxConcurrent, limits?.remaining ?? Infinity));
    if (response.ok) return answer;
    const error = new ApiError(response, readErrorBody(text));
    if (error.status === 429) {
      const end = Date.now() + (error.retryAfter ?? 0) * 1_000;
      const longest = error.code === 'DAILY_QUOTA_EXCEEDED' ? PROBE_EVERY : Infinity;
      this.#refusal = { error, end, nextTry: Math.min(end, Date.now() + longest) };
    }
    throw error;
  }

  /**
   * Waits until a request may be sent; {@link #leave} must follow. `pauseLeft` is the milliseconds left for pauses.
   *
   * @throws ApiError the refusal that still holds, where its end is beyond `pauseLeft`
   */
  async #enter(call: { readonly signal: AbortSignal; pauseLeft: number }): Promise<void> {
    for (;;) {
      const refusal = this.#refusal;
      const now = Date.now();
      if (refusal && now < refusal.nextTry) {
        const { error, end } = refusal;
        if (end - now > call.pauseLeft) throw new ApiError(error.response, error, Math.ceil((end - now) / 1_000));
        call.pauseLeft -= end - now;
        await sleep(end - now, call.signal);
      }
      await waitFor(call.signal, (admitted) => {
        this.#queue.add(admitted);
        this.#admit();
        return () => this.#queue.delete(admitted);
      });
      // Meanwhile another request may have been refused.
      if (this.#refusal === refusal) return;
      this.#leave();
    }
  }

  #leave(): void {
    this.#underWay -= 1;
    this.#admit();
  }

  #admit(): void {
    for (const admitted of this.#queue) {
      if (this.#underWay >= this.#room) return;
      this.#queue.delete(admitted);
      this.#underWay += 1;
      admitted();
    }
  }
}

/** Sends a request once. The answer counts only with its whole body. @throws ConnectionError without one */
async function fetchWhole(request: CallRequest, { fetch, timeout }: ClientSettings): Promise<WholeAnswer> {
  const { url, ...init } = request;
  const timer = new AbortController();
  const timeoutId = setTimeout(() => timer.abort(new Error(`${timeout} ms are over`)), timeout);
  const signal = AbortSignal.any([request.signal, timer.signal]);
  let response: Response | undefined;
  try {
    // The service does not redirect, and the key must not get to another address.
    response = await fetch(url, { ...init, signal, redirect: 'manual' });
    return { response, text: await response.text() };
  } catch (error) {
    request.signal.throwIfAborted();
    const withoutTimeout = response ? 'broken-off' : 'network';
    const reason = timer.signal.aborted ? 'timeout' : withoutTimeout;
    throw new ConnectionError(reason, `${request.method} ${url}`, error);
  } finally {
    clearTimeout(timeoutId);
  }
}

const BLOCKED = new Error("the browser keeps it from this page (CORS); the browser's console says why");

/**
 * Whether the service answers, and the browser keeps the answer from the page. The error of `fetch` is the same as where there
 * is no answer; but a request that needs no leave of CORS, and carries no key, gets through.
 */
async function isKeptFromPage(error: unknown, { url, signal }: CallRequest, { fetch, timeout }: ClientSettings) {
  if (!isBrowser || !(error instanceof ConnectionError) || error.reason !== 'network') return false;
  const ends = AbortSignal.any([signal, AbortSignal.timeout(timeout)]);
  return fetch(url, { method: 'HEAD', mode: 'no-cors', credentials: 'omit', signal: ends }).then(
    () => true,
    () => false,
  );
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

/** @param begin gets what to call when it has happened; returns what ends the waiting early @throws the signal's reason */
const waitFor = (signal: AbortSignal, begin: (happened: () => void) => () => void): Promise<void> =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const cancel = begin(resolve);
    signal.addEventListener('abort', () => {
      cancel();
      reject(signal.reason);
    });
  });

const sleep = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  waitFor(signal, (over) => {
    const timer = setTimeout(over, milliseconds);
    return () => clearTimeout(timer);
  });
