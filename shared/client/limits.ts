/** One window of an API key's limits. */
export interface LimitWindow {
  /** Requests in the window. */
  readonly limit: number;
  readonly remaining: number;
  /** When it ends, to the second. */
  readonly reset: Date;
}

/** What an answer says about the limits of the API key: the window with the least left, and both by name where it names them. */
export interface Limits extends LimitWindow {
  /** Its reset goes by this machine's clock, as the day's does. */
  readonly minute: LimitWindow | undefined;
  readonly day: LimitWindow | undefined;
}

/**
 * Reads `X-RateLimit-*`, `RateLimit-Policy` and `RateLimit` (IETF draft "RateLimit header fields for HTTP").
 *
 * @returns undefined where the answer has no limit headers, because something on the way has answered
 */
export function readLimits(headers: Headers, now = Date.now()): Limits | undefined {
  const [limit, remaining, reset] = ['Limit', 'Remaining', 'Reset'].map((name) => {
    const text = headers.get(`X-RateLimit-${name}`) ?? '';
    return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
  });
  if (limit === undefined || remaining === undefined || reset === undefined) return undefined;
  const window = (name: string): LimitWindow | undefined => {
    const quota = parameter(headers.get('RateLimit-Policy'), name, 'q');
    const left = parameter(headers.get('RateLimit'), name, 'r');
    const seconds = parameter(headers.get('RateLimit'), name, 't');
    if (quota === undefined || left === undefined || seconds === undefined) return undefined;
    return { limit: quota, remaining: left, reset: new Date(Math.round(now / 1_000 + seconds) * 1_000) };
  };
  return { limit, remaining, reset: new Date(reset * 1_000), minute: window('minute'), day: window('day') };
}

/** A number in a list such as `"minute";q=60;w=60, "day";q=1000;w=86400`. */
function parameter(list: string | null, item: string, name: string): number | undefined {
  const items = (list ?? '').split(',').map((text) => text.split(';').map((part) => part.trim()));
  const found = items.find(([first]) => first === `"${item}"`)?.find((part) => part.startsWith(`${name}=`));
  const digits = found?.slice(name.length + 1) ?? '';
  return /^\d{1,15}$/.test(digits) ? Number(digits) : undefined;
}
