/** Options of one call. */
export interface CallOptions {
  /** Aborts the call, which then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Timeout of a request in milliseconds, including its response. 30,000 by default. */
  readonly timeout?: number | undefined;
  /** Max retries of a call. 5 by default. */
  readonly maxRetries?: number | undefined;
}

export interface PageOptions<Status> extends CallOptions {
  /** Entries on a page, from 1 to 1000. */
  readonly limit: number;
  /** Only entries with this status. */
  readonly status?: Status | undefined;
  /** Start of the page: `next` of the previous one. */
  readonly cursor?: string | undefined;
}

/** Without `limit` pages have 1,000 entries, the maximum. */
export type ListOptions<Status> = Omit<PageOptions<Status>, 'limit'> & { readonly limit?: number | undefined };

export interface UpdateOptions extends CallOptions {
  /** Update only if the entry still has this ETag; else ApiError with the code `PRECONDITION_FAILED`. */
  readonly ifMatch?: string | undefined;
  /**
   * 1 to 255 visible ASCII characters that identify this update, for safe retries. The
   * client creates a key per call, for its retries; pass your own to retry the call later, such as after a crash.
   */
  readonly idempotencyKey?: string | undefined;
}

export interface InventoryClientOptions extends Omit<CallOptions, 'signal'> {
  /** Base URL of the service, such as `https://…/v1`, with or without a trailing slash. */
  readonly baseUrl: string | URL;
  /** The API key, such as `psk_…`. It is sent to the base URL only, and never appears in errors. */
  readonly apiKey: string;
  /** Max requests in flight; other calls are queued. 10 by default. Set at most half of the key's per-minute limit. */
  readonly concurrency?: number | undefined;
  /** Max milliseconds that a call waits, queued or between retries. 90,000 by default: beyond the next minute. */
  readonly maxWait?: number | undefined;
  /** Max milliseconds before the first retry; doubles with each further one. 500 by default. */
  readonly retryDelay?: number | undefined;
}
