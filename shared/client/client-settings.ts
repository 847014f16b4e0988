import type { InventoryClientOptions } from './client-options.ts';

/** The options, checked and with their defaults. */
export type ClientSettings = ReturnType<typeof checkOptions>;

/** Browsers call themselves so; Node.js, Bun and Deno do not. */
export const isBrowser = globalThis.navigator?.userAgent.startsWith('Mozilla/') ?? false;

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
