/** One window of an API key's limits. */
export interface LimitWindow {
  /** Requests in the window. */
  readonly limit: number;
  /** Requests left in it. */
  readonly remaining: number;
  /** When it ends, by this machine's clock. */
  readonly reset: Date;
}

/** What an answer says about the limits of the API key. */
export interface Limits {
  /** Requests in the window with the least left, which is the minute or the day. */
  readonly limit: number;
  /** Requests left in that window. */
  readonly remaining: number;
  /** When that window ends, by the clock of the service. */
  readonly reset: Date;
  /** The UTC minute; undefined where the answer does not name it. */
  readonly minute: LimitWindow | undefined;
  /** The UTC day; undefined where the answer does not name it. */
  readonly day: LimitWindow | undefined;
}

/**
 * Reads `X-RateLimit-*`, `RateLimit-Policy` and `RateLimit` (IETF draft "RateLimit header fields for HTTP").
 *
 * @returns undefined where the answer has no limit headers, because something on the way has answered
 */
export function readLimits(headers: Headers, now = Date.now()): Limits | undefined {
  const limit = wholeNumber(headers.get('X-RateLimit-Limit'));
  const remaining = wholeNumber(headers.get('X-RateLimit-Remaining'));
  const reset = wholeNumber(headers.get('X-RateLimit-Reset'));
  if (limit === undefined || remaining === undefined || reset === undefined) return undefined;
  const policies = readItems(headers.get('RateLimit-Policy'));
  const states = readItems(headers.get('RateLimit'));
  const window = (name: string): LimitWindow | undefined => {
    const quota = policies.get(name)?.get('q');
    const left = states.get(name)?.get('r');
    const seconds = states.get(name)?.get('t');
    if (quota === undefined || left === undefined || seconds === undefined) return undefined;
    return { limit: quota, remaining: left, reset: new Date(now + seconds * 1_000) };
  };
  return { limit, remaining, reset: new Date(reset * 1_000), minute: window('minute'), day: window('day') };
}

function wholeNumber(text: string | null): number | undefined {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** The named items of a list such as `"minute";q=60;w=60, "day";q=1000;w=86400`, with those parameters that are numbers. */
function readItems(text: string | null): Map<string, Map<string, number>> {
  const items = new Map<string, Map<string, number>>();
  for (const [, name = '', parameters = ''] of (text ?? '').matchAll(/"([^"\\]*)"((?:\s*;[^,;"]*)*)/g)) {
    const numbers = parameters.matchAll(/;\s*([a-z]+)=(\d{1,15})(?![^\s;])/g);
    items.set(name, new Map(Array.from(numbers, ([, key = '', value]) => [key, Number(value)])));
  }
  return items;
}
