import type { ApiError, ConnectionError } from './errors.ts';

/** A request that failed, and that the client is going to repeat. */
export interface Retry {
  readonly error: ApiError | ConnectionError;
  /** Which request of the call comes next: 2 after the first. */
  readonly attempt: number;
  /** Milliseconds until then. */
  readonly pause: number;
}

/** What a call may have of its own. */
export interface CallOptions {
  /** Ends the call when it aborts. The call throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds that a request may take, its answer included. 30,000 by default. */
  readonly timeout?: number | undefined;
  /** How often a call is repeated at most. 5 by default, 0 for never. */
  readonly maxRetries?: number | undefined;
  /** Sent as well, such as `traceparent`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface InventoryClientOptions extends Omit<CallOptions, 'signal'> {
  /** Base address of the service, such as `https://…/v1`, with or without a slash at its end. */
  readonly baseUrl: string | URL;
  /** The API key, such as `psk_…`. It is sent to the base address and shown nowhere. */
  readonly apiKey: string;
  /** Milliseconds that a call spends on pauses at most, all together. 90,000 by default: a used up minute is waited out. */
  readonly maxWait?: number | undefined;
  /** Milliseconds before the first repetition, up to; before each further one it is twice as long. 500 by default. */
  readonly retryDelay?: number | undefined;
  /** Requests that wait for an answer at a time at most; further calls queue up. 8 by default. */
  readonly maxConcurrent?: number | undefined;
  /** Called before the pause of every repetition. */
  readonly onRetry?: ((retry: Retry) => void) | undefined;
  /** What requests are sent with; the `fetch` of the platform by default. */
  readonly fetch?: typeof fetch | undefined;
}

/** The options, checked and with their defaults. */
export type ClientSettings = ReturnType<typeof checkOptions>;

/** The longest time that a timer of JavaScript can run, in milliseconds. */
const MAX_TIME = 2_147_483_647;

/** @throws TypeError saying which option is wrong, without the API key */
export function checkOptions(options: InventoryClientOptions) {
  const { baseUrl, apiKey } = options;
  // The platform's own words about a bad header would show the key.
  if (!/^[\x21-\x7e]+$/.test(apiKey ?? '')) {
    throw new TypeError('apiKey is missing, or has a character that no key has, such as a space');
  }
  return {
    ...options,
    baseUrl: checkBaseUrl(baseUrl),
    timeout: wholeNumber('timeout', options.timeout ?? 30_000, 1, MAX_TIME),
    maxRetries: wholeNumber('maxRetries', options.maxRetries ?? 5, 0, 1_000),
    maxWait: wholeNumber('maxWait', options.maxWait ?? 90_000, 0, MAX_TIME),
    retryDelay: wholeNumber('retryDelay', options.retryDelay ?? 500, 0, MAX_TIME),
    maxConcurrent: wholeNumber('maxConcurrent', options.maxConcurrent ?? 8, 1, 1_000),
    // Read at each request: tools for tests replace the platform's fetch later.
    fetch: options.fetch ?? ((...request: Parameters<typeof fetch>) => globalThis.fetch(...request)),
  };
}

function checkBaseUrl(baseUrl: string | URL): string {
  const url = URL.canParse(String(baseUrl)) ? new URL(baseUrl) : undefined;
  if (url && /^https?:$/.test(url.protocol) && url.href === url.origin + url.pathname) {
    return url.href.endsWith('/') ? url.href.slice(0, -1) : url.href;
  }
  throw new TypeError(
    'baseUrl must be an address such as https://example.com/v1, without user, password, query and fragment',
  );
}

function wholeNumber(name: string, value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new TypeError(`${name} must be a whole number from ${min} to ${max}`);
}
