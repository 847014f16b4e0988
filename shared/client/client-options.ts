/** What a call may have of its own. */
export interface CallOptions {
  /** Ends the call when it aborts. The call throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds that a request may take, its answer included. 30,000 by default. */
  readonly timeout?: number | undefined;
  /** How often a call is repeated at most. 5 by default, 0 for never. */
  readonly maxRetries?: number | undefined;
}

export interface PageOptions<Status> extends CallOptions {
  /** Entries on a page, from 1 to 1000. */
  readonly limit: number;
  /** Only entries with this status. */
  readonly status?: Status | undefined;
  /** Where to go on: `next` of the page before. */
  readonly cursor?: string | undefined;
}

/** Without `limit` pages have 1,000 entries, the most that they can have. */
export type ListOptions<Status> = Omit<PageOptions<Status>, 'limit'> & { readonly limit?: number | undefined };

export interface UpdateOptions extends CallOptions {
  /** Update only where the entry still has this ETag; ApiError with the code `PRECONDITION_FAILED` otherwise. */
  readonly ifMatch?: string | undefined;
  /**
   * 1 to 255 visible ASCII characters that stand for this one update, so that it can be repeated without harm. The
   * client makes a key for each call and its repetitions; with your own you can repeat the call, as after a crash.
   */
  readonly idempotencyKey?: string | undefined;
}

export interface InventoryClientOptions extends Omit<CallOptions, 'signal'> {
  /** Base address of the service, such as `https://…/v1`, with or without a slash at its end. */
  readonly baseUrl: string | URL;
  /** The API key, such as `psk_…`. It is sent to the base address and shown nowhere. */
  readonly apiKey: string;
  /** Max requests in flight; other calls wait for their turn. 10 by default. Max half of the key's limit per minute. */
  readonly concurrency?: number | undefined;
  /** Max milliseconds that a call waits, for turns and in pauses. 90,000 by default: it waits for the next minute. */
  readonly maxWait?: number | undefined;
  /** Milliseconds before the first repetition, up to; before each further one it is twice as long. 500 by default. */
  readonly retryDelay?: number | undefined;
}
