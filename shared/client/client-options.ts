import type { ApiError } from './api-error.ts';
import type { ConnectionError } from './connection-error.ts';

/** A try that failed, and that the client is going to repeat. */
export interface Retry {
  readonly error: ApiError | ConnectionError;
  /** Which try of the call comes next: 2 after the first. */
  readonly attempt: number;
  /** Milliseconds until then. */
  readonly pause: number;
}

export interface InventoryClientOptions {
  /** Base address of the service, such as `https://…/v1`, with or without a slash at its end. */
  readonly baseUrl: string | URL;
  /** The API key, such as `psk_…`. It is sent to the base address and shown nowhere. */
  readonly apiKey: string;
  /** Milliseconds without a sign of life after which a try counts as failed. 30,000 by default. */
  readonly timeout?: number | undefined;
  /** How often a call is repeated at most. 5 by default, 0 for never. */
  readonly maxRetries?: number | undefined;
  /** Milliseconds that a call spends on pauses at most, all together. 90,000 by default: a used up minute is waited out. */
  readonly maxWait?: number | undefined;
  /** Milliseconds before the first repetition, up to; before each further one it is twice as long. 500 by default. */
  readonly retryDelay?: number | undefined;
  /** Requests that wait for an answer at a time at most; further calls queue up. 8 by default. */
  readonly maxConcurrent?: number | undefined;
  /** Told of every repetition, before the pause. */
  readonly onRetry?: ((retry: Retry) => void) | undefined;
  /** What requests are sent with; the `fetch` of the platform by default. */
  readonly fetch?: typeof fetch | undefined;
}

/** The options, checked and with their defaults. */
export interface ClientSettings {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly timeout: number;
  readonly maxRetries: number;
  readonly maxWait: number;
  readonly retryDelay: number;
  readonly maxConcurrent: number;
  readonly onRetry: (retry: Retry) => void;
  readonly fetch: typeof fetch;
}

/** The longest time that a timer of JavaScript can run, in milliseconds. */
const MAX_TIME = 2_147_483_647;

/** @throws TypeError saying which option is wrong, without the API key */
export function checkOptions(options: InventoryClientOptions): ClientSettings {
  if (typeof options !== 'object' || options === null) throw new TypeError('The options are missing');
  return {
    baseUrl: checkBaseUrl(options.baseUrl),
    apiKey: checkApiKey(options.apiKey),
    timeout: wholeNumber('timeout', options.timeout ?? 30_000, 1, MAX_TIME),
    maxRetries: wholeNumber('maxRetries', options.maxRetries ?? 5, 0, 1_000),
    maxWait: wholeNumber('maxWait', options.maxWait ?? 90_000, 0, MAX_TIME),
    retryDelay: wholeNumber('retryDelay', options.retryDelay ?? 500, 0, MAX_TIME),
    maxConcurrent: wholeNumber('maxConcurrent', options.maxConcurrent ?? 8, 1, 1_000),
    onRetry: checkFunction('onRetry', options.onRetry ?? (() => undefined)),
    // Not taken now: who replaces the platform's fetch, as tools for tests do, means this client too.
    fetch: checkFunction('fetch', options.fetch ?? ((input, init) => globalThis.fetch(input, init))),
  };
}

function checkBaseUrl(baseUrl: string | URL): string {
  const text = String(baseUrl);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new TypeError('baseUrl must be an address such as https://example.com/v1');
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new TypeError('baseUrl must be without user, password, query and fragment');
  }
  return url.href.replace(/\/+$/, '');
}

/** The platform's own words about a bad header would show the key. */
function checkApiKey(apiKey: string): string {
  if (typeof apiKey !== 'string' || apiKey === '') throw new TypeError('apiKey is missing');
  if (!/^[\x21-\x7e]+$/.test(apiKey)) throw new TypeError('apiKey has a character that no key has, such as a space');
  return apiKey;
}

function wholeNumber(name: string, value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new TypeError(`${name} must be a whole number from ${min} to ${max}`);
}

function checkFunction<T>(name: string, value: T): T {
  if (typeof value === 'function') return value;
  throw new TypeError(`${name} must be a function`);
}
