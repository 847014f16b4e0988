/** Options of one call. */
export interface CallOptions {
  /** Aborts the call, which then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Timeout of a request in milliseconds, including its response. 30,000 by default. */
  readonly timeout?: number | undefined;
  /** Max retries of a call; 0 for none at all. 5 by default; retries without a connection are limited by `maxWait`. */
  readonly maxRetries?: number | undefined;
  /** Max milliseconds in the queue. By default any number of minutes, but no day or suspension; `Infinity`: all. */
  readonly maxQueueTime?: number | undefined;
}

export interface ListOptions<Status> extends CallOptions {
  /** Only entries with this status. */
  readonly status?: Status | undefined;
}

export interface PageOptions<Status> extends ListOptions<Status> {
  /** Entries on a page, from 1 to 1000. */
  readonly limit: number;
  /** Start of the page: `next` of the previous one. */
  readonly cursor?: string | undefined;
}

export interface BatchOptions extends CallOptions {
  /**
   * 1 to 255 visible ASCII characters. The client creates one per call, for its retries; pass your own to retry a call
   * later. A batch without a condition has none, unless you pass one: its retries overwrite others' changes.
   */
  readonly idempotencyKey?: string | undefined;
}

export interface UpdateOptions extends BatchOptions {
  /** Update only if the entry still has this ETag; else ApiError with the code `PRECONDITION_FAILED`. */
  readonly ifMatch?: string | undefined;
}

export interface InventoryClientOptions extends Omit<CallOptions, 'signal'> {
  /** Base URL of the service, such as `https://…/v1`, with or without a trailing slash. */
  readonly baseUrl: string | URL;
  /** The API key, such as `psk_…`, or a function that returns it for each request. It never appears in errors. */
  readonly apiKey: string | (() => string | Promise<string>);
  /** Max requests in flight; other calls are queued. 10 by default. */
  readonly concurrency?: number | undefined;
  /** Max milliseconds that a call waits between retries. 90,000 by default. Waiting in the queue does not count. */
  readonly maxWait?: number | undefined;
  /** Max milliseconds before the first retry; doubles with each further one. 500 by default. */
  readonly retryDelay?: number | undefined;
  /** Sends the requests, such as through a proxy. The platform's `fetch` by default. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
}
