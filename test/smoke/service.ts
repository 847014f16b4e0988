import { setTimeout as sleep } from 'node:timers/promises';
import { InventoryClient } from '../../shared/client/pet-store-inventory-client.ts';
import { expectSame, expectThat } from './check.ts';

export const TIMEOUT_MS = 30_000;
/** Seconds for a first answer, of the gateway alone. */
const REACHED_WITHIN = 5;

/** In seconds: a minute, after which a key has room again. */
const LONGEST_PAUSE = 60;

/** By how many seconds times in headers may differ, which were taken one after the other and rounded. */
const TOLERANCE = 2;

export interface RequestParts {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Mistyped: it differs from the good one by a letter. */
  readonly key?: 'good' | 'mistyped' | 'none';
}

/** One window of an API key's limits. */
interface LimitWindow {
  readonly limit: number;
  readonly remaining: number;
  /** When it ends, in Unix seconds. */
  readonly reset: number;
}

/** The window with the least left, and the minute where the answer names it. */
export interface Limits extends LimitWindow {
  readonly minute: LimitWindow | undefined;
}

/** An answer that keeps what every answer promises. */
export interface ServiceAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly limits: Limits;
}

/** Sends a request without a key. @throws Error in one sentence where no answer comes, whatever it would be */
export async function checkReachable(url: string): Promise<void> {
  try {
    const signal = AbortSignal.timeout(REACHED_WITHIN * 1_000);
    const { body } = await fetch(url, { redirect: 'manual', signal });
    await body?.cancel();
  } catch (cause) {
    const { name, cause: inner }: { name?: string; cause?: { message?: string; code?: string } } = Object(cause);
    const seconds = `no answer within ${REACHED_WITHIN} seconds`;
    const reason = name === 'TimeoutError' ? seconds : inner?.message || inner?.code || String(cause);
    throw new Error(`Nothing answers at ${url}: ${reason}. Check the address and the network.`, { cause });
  }
}

/** The service that is checked. */
export class Service {
  readonly url: string;
  /** What its users have. Its retries are fewer: a check is there to see faults. */
  readonly client: InventoryClient;
  readonly #key: string;

  constructor(url: string, key: string) {
    this.url = url;
    this.#key = key;
    this.client = new InventoryClient({ baseUrl: url, apiKey: key, maxRetries: 2, timeout: TIMEOUT_MS });
  }

  /**
   * Sends a request without the client, to see what that hides. A used up minute is waited out.
   *
   * @throws Error where the answer lacks what every answer promises
   */
  async send(method: string, path: string, parts: RequestParts = {}): Promise<ServiceAnswer> {
    const answer = await this.#sendOnce(method, path, parts);
    const seconds = Number(answer.headers.get('Retry-After'));
    if (answer.status !== 429 || !(seconds > 0 && seconds <= LONGEST_PAUSE)) return answer;
    await sleep(seconds * 1_000);
    return this.#sendOnce(method, path, parts);
  }

  async #sendOnce(method: string, path: string, { headers, body, key = 'good' }: RequestParts) {
    const token = key === 'mistyped' ? this.#key.slice(0, -1) + (this.#key.endsWith('A') ? 'B' : 'A') : this.#key;
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: { ...(key !== 'none' && { Authorization: `Bearer ${token}` }), ...headers },
      body: body ?? null,
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const answer = { status: response.status, headers: response.headers, text: await response.text() };
    return { ...answer, limits: checkPromises(answer.headers) };
  }
}

/** What every answer promises: limit headers that fit each other, a request id, and that pages may read all of that. */
function checkPromises(headers: Headers): Limits {
  expectThat(headers.has('x-amzn-RequestId'), 'the header x-amzn-RequestId is missing');
  expectThat(headers.has('Access-Control-Allow-Origin'), 'the header Access-Control-Allow-Origin is missing');
  const [limit = NaN, remaining = NaN, reset = NaN] = ['Limit', 'Remaining', 'Reset'].map((name) =>
    Number.parseInt(headers.get(`X-RateLimit-${name}`) ?? '', 10),
  );
  expectThat(limit + remaining + reset >= 0, 'the headers X-RateLimit-* are missing or no numbers');
  // The gateway has refused before it looked at the key: it knows no limit.
  if (reset === 0) return { limit, remaining, reset, minute: undefined };
  const [minute, day] = windowsIn(headers);
  expectThat(minute !== undefined && day !== undefined, 'RateLimit or RateLimit-Policy does not name both windows');
  const least = minute.remaining < day.remaining ? minute : day;
  expectSame('X-RateLimit-Remaining', remaining, least.remaining);
  expectSame('X-RateLimit-Limit', limit, least.limit);
  const difference = Math.abs(reset - least.reset);
  const isKnown = limit > 0 && headers.has('Date');
  expectThat(!isKnown || difference <= TOLERANCE, `X-RateLimit-Reset and RateLimit are ${difference} seconds apart`);
  return { limit, remaining, reset, minute };
}

/** The minute and the day, by the clock of the service, which may differ from this one. */
function windowsIn(headers: Headers): LimitWindow[] {
  const now = (Date.parse(headers.get('Date') ?? '') || Date.now()) / 1_000;
  const policies = [...(headers.get('RateLimit-Policy') ?? '').matchAll(/"(?:minute|day)";q=(\d+);w=\d+/g)];
  const states = [...(headers.get('RateLimit') ?? '').matchAll(/"(?:minute|day)";r=(\d+);t=(\d+)/g)];
  return states.map(([, remaining, seconds], at) => ({
    limit: Number(policies[at]?.[1]),
    remaining: Number(remaining),
    reset: now + Number(seconds),
  }));
}
