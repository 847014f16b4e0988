import * as v from 'valibot';
import type { ErrorBody } from '../../shared/contract/errors.ts';
import { DocumentedApi } from './documented-api.ts';
import { brokenPromises, errorBodySchema, type RawResponse } from './promises.ts';

/** A response that keeps to what every response promises. */
export interface Answer extends RawResponse {
  /** The Error body; undefined on success, and for HEAD. */
  readonly error: ErrorBody | undefined;
  readonly rateLimit: { readonly limit: number; readonly remaining: number; readonly reset: number };
}

export interface RequestParts {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
}

/** A client of the API. It checks every response against the OpenAPI document, and what every response promises. */
export class ApiClient {
  readonly #baseUrl: string;
  readonly #authorization: string | undefined;

  /** @param authorization the whole value of the header; none where undefined */
  constructor(baseUrl: string, authorization: string | undefined) {
    this.#baseUrl = baseUrl;
    this.#authorization = authorization;
  }

  static withKey(baseUrl: string, key: string): ApiClient {
    return new ApiClient(baseUrl, `Bearer ${key}`);
  }

  async send(method: string, path: string, { headers = {}, body }: RequestParts = {}): Promise<Answer> {
    const authorization = this.#authorization === undefined ? {} : { Authorization: this.#authorization };
    const response = await fetch(`${this.#baseUrl}${path}`, {
      method,
      headers: { ...authorization, ...headers },
      body: body ?? null,
    });
    const reply = checked({ status: response.status, headers: response.headers, text: await response.text() }, method);
    checkDocumented(reply, method, this.#baseUrl, path);
    return reply;
  }

  list(): Promise<Answer> {
    return this.send('GET', '/inventory');
  }

  /** Sends a body as JSON, whatever it holds. */
  patch(petId: string | number | bigint, body: string): Promise<Answer> {
    return this.send('PATCH', `/inventory/${petId}`, { headers: { 'Content-Type': 'application/json' }, body });
  }

  setQuantity(petId: string | number | bigint, quantity: number): Promise<Answer> {
    return this.patch(petId, JSON.stringify({ quantity }));
  }
}

const documented = new DocumentedApi();

/** Checks a response against the OpenAPI document, where it comes from the API. @throws Error where it is another */
function checkDocumented(reply: RawResponse, method: string, baseUrl: string, path: string): void {
  const { pathname: basePath } = new URL(baseUrl);
  const { pathname } = new URL(`${baseUrl}${path}`);
  if (basePath === '/' || !pathname.startsWith(basePath)) return;
  failWith(documented.faults(reply, { method, path: pathname.slice(basePath.length) }), `${method} ${path}`, reply);
}

function failWith(faults: readonly string[], request: string, { status }: RawResponse): void {
  if (faults.length > 0) throw new Error(`${request} returned ${status}, and this is wrong: ${faults.join('; ')}`);
}

/** The response, after the check of what every response promises. @throws Error where it breaks a promise */
export function checked(reply: RawResponse, method = 'GET'): Answer {
  failWith(brokenPromises(reply, method), method, reply);
  const number = (header: string): number => Number(reply.headers.get(header));
  return {
    ...reply,
    error: reply.status >= 400 && method !== 'HEAD' ? v.parse(errorBodySchema, JSON.parse(reply.text)) : undefined,
    rateLimit: {
      limit: number('X-RateLimit-Limit'),
      remaining: number('X-RateLimit-Remaining'),
      reset: number('X-RateLimit-Reset'),
    },
  };
}
