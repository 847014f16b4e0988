import { InventoryClient, type InventoryClientOptions } from '../../../shared/client/pet-store-inventory-client.ts';

export interface SentRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The response to a request. */
export type Step = (request: SentRequest) => Response | Promise<Response>;

/** Headers of a key that is far from its limits. */
const plenty = { 'X-RateLimit-Limit': '60', 'X-RateLimit-Remaining': '59', 'X-RateLimit-Reset': '1795253280' };

/** A response of the service: JSON with limit headers. */
export const reply =
  (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Step =>
  () =>
    new Response(typeof body === 'string' ? body : JSON.stringify(body), {
      status,
      headers: { ...plenty, ...headers },
    });

/** An error of the service. */
export const failure = (status: number, code: string, headers: Readonly<Record<string, string>> = {}): Step =>
  reply(status, { code, message: `This is ${code}.`, status }, headers);

/** A refusal until some seconds have passed. */
export const refusal = (code: string, seconds: number): Step => failure(429, code, { 'Retry-After': String(seconds) });

/** The connection breaks before any response, as Node.js reports it. */
export const hangUp: Step = () => {
  throw new TypeError('fetch failed', { cause: new Error('other side closed') });
};

/** The headers of a response, after which the connection breaks. */
export const breakOff =
  (status = 200, headers: Readonly<Record<string, string>> = {}): Step =>
  () =>
    new Response(new ReadableStream({ start: (body) => body.error(new TypeError('terminated')) }), { status, headers });

/** The headers of a response, whose body never comes. */
export const stall: Step = () => new Response(new ReadableStream());

export const entry = { petId: 101, quantity: 7, status: 'available' };
export const good = reply(200, entry);

/** A key that looks for itself in everything a client says. */
export const SECRET_KEY = 'psk_ThisKeyMustNeverBeShown';

/**
 * A client that retries after short pauses, and what it has sent.
 *
 * @param script a step for each request, the last one again and again
 */
export function clientOf(script: Step | readonly Step[], options: Partial<InventoryClientOptions> = {}) {
  const requests: SentRequest[] = [];
  const steps = [script].flat();
  const send = async (url: string, { method = '', headers, body, signal }: RequestInit): Promise<Response> => {
    signal?.throwIfAborted();
    const { pathname, search } = new URL(url);
    const text = typeof body === 'string' ? body : '';
    const request = { method, path: pathname + search, headers: Object.fromEntries(new Headers(headers)), body: text };
    requests.push(request);
    const step = (steps.length > 1 ? steps.shift() : steps[0]) ?? hangUp;
    const aborted = new Promise<never>((_, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason));
    });
    return Promise.race([aborted, Promise.resolve(request).then(step)]);
  };
  const all = { baseUrl: 'https://store.test/v1', apiKey: SECRET_KEY, retryDelay: 4, fetch: send, ...options };
  return { store: new InventoryClient(all), requests };
}

export const repeat = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);
