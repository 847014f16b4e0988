import { setTimeout as sleep } from 'node:timers/promises';
import { InventoryClient } from '../../shared/client/pet-store-inventory-client.ts';
import { messageOf } from '../../shared/log.ts';
import { brokenPromises, type RawResponse } from '../support/promises.ts';

export const TIMEOUT_MS = 30_000;
/** Seconds for a first response, of the gateway alone. */
const REACHED_WITHIN = 5;

/** In seconds: a minute, after which a key has room again. */
const MAX_PAUSE = 60;

export interface RequestParts {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Mistyped: it differs from the good one by a letter. */
  readonly key?: 'good' | 'mistyped' | 'none';
}

/** Sends a request without a key. @throws Error in one sentence where no response comes, whatever it would be */
export async function checkReachable(url: string): Promise<void> {
  try {
    const signal = AbortSignal.timeout(REACHED_WITHIN * 1_000);
    const { body } = await fetch(url, { redirect: 'manual', signal });
    await body?.cancel();
  } catch (cause) {
    const isLate = cause instanceof Error && cause.name === 'TimeoutError';
    const reason = isLate ? `no response within ${REACHED_WITHIN} seconds` : messageOf(cause);
    throw new Error(`No server responds at ${url}: ${reason}. Check the address and the network.`, { cause });
  }
}

export class Service {
  readonly url: string;
  /** What its users have. Its retries are fewer: a check is there to see faults. */
  readonly client: InventoryClient;
  readonly #key: string;
  readonly #page: string | false | undefined;
  /** The last request that was sent: method and path, or address of a page. */
  lastRequest = 'no request';

  /** @param page origin of the reference page; by default that of the links; false if it is not to be read */
  constructor(url: string, key: string, page?: string | false) {
    this.url = url;
    this.#key = key;
    this.#page = page;
    this.client = new InventoryClient({
      baseUrl: url,
      apiKey: key,
      maxRetries: 2,
      maxWait: 5_000,
      timeout: TIMEOUT_MS,
      fetch: (...request) => this.#fetch(...request),
    });
  }

  #fetch(address: string, init: RequestInit): Promise<Response> {
    const { pathname, search } = new URL(address);
    this.lastRequest = `${init.method} ${pathname}${search}`;
    return fetch(address, init);
  }

  /** Reads the page that a response links to; undefined if it is not to be read. */
  async readPage(link: string): Promise<Response | undefined> {
    if (this.#page === false) return undefined;
    const { origin, pathname } = new URL(link);
    const address = (this.#page ?? origin) + pathname;
    this.lastRequest = `GET ${address}`;
    return fetch(address, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  }

  /**
   * Sends a request without the client, to see what that hides. Waits for the end of an exhausted minute.
   *
   * @throws Error where the response lacks what every response promises
   */
  async send(method: string, path: string, parts: RequestParts = {}): Promise<RawResponse> {
    const reply = await this.#sendOnce(method, path, parts);
    const seconds = Number(reply.headers.get('Retry-After'));
    if (reply.status !== 429 || !(seconds > 0 && seconds <= MAX_PAUSE)) return reply;
    await sleep(seconds * 1_000);
    return this.#sendOnce(method, path, parts);
  }

  async #sendOnce(method: string, path: string, { headers, body, key = 'good' }: RequestParts) {
    const token = key === 'mistyped' ? this.#key.slice(0, -1) + (this.#key.endsWith('A') ? 'B' : 'A') : this.#key;
    const response = await this.#fetch(`${this.url}${path}`, {
      method,
      headers: { ...(key !== 'none' && { Authorization: `Bearer ${token}` }), ...headers },
      body: body ?? null,
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const reply = { status: response.status, headers: response.headers, text: await response.text() };
    const [broken] = brokenPromises(reply, method, false);
    if (broken !== undefined) throw new Error(broken);
    return reply;
  }
}
