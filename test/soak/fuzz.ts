import http, { type IncomingMessage } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import * as fc from 'fast-check';
import * as v from 'valibot';
import { DocumentedApi, errorBodySchema, type RawAnswer } from '../support/documented-api.ts';
import { issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';
import { allowedRequest, anyRequest, oddRequest } from './fuzzed-requests.ts';
import type { Outcome } from './models.ts';
import {
  type Conformity,
  conformityOf,
  type OperationRequest,
  type RequestContract,
  requestContracts,
} from './request-contract.ts';

/** Requests that are under way together. */
const AT_ONCE = 40;

/** Errors that are about what there is in the store, not about the request. */
const ofTheStore = ['INVALID_CURSOR', 'PET_NOT_FOUND', 'PRECONDITION_FAILED', 'IDEMPOTENCY_KEY_REUSED'];

const documented = new DocumentedApi();

/** Requests made from the OpenAPI document: the service takes what it allows, refuses what it forbids, and answers as it says. */
export async function fuzzRound(seed: number): Promise<Outcome> {
  const host = await LocalHost.start();
  const round = new FuzzRound(host, seed);
  try {
    const { token } = await issueKey(host, { perMinute: 1_000_000, perDay: 1_000_000_000 });
    return await round.run(`Bearer ${token}`);
  } finally {
    round.close();
    await host.close();
  }
}

class FuzzRound {
  readonly #client: WireClient;
  readonly #seed: number;
  readonly #violations: string[] = [];
  readonly #counts: Record<string, number> = {};
  #authorization: { readonly Authorization: string } = { Authorization: '' };

  constructor({ origin }: LocalHost, seed: number) {
    this.#client = new WireClient(origin);
    this.#seed = seed;
  }

  async run(authorization: string): Promise<Outcome> {
    this.#authorization = { Authorization: authorization };
    const { text } = await this.#get('/v1/inventory');
    const petIds = [...text.matchAll(/"petId":(\d+)/g)].map(([, petId = '']) => petId);
    const contracts = requestContracts();
    for (const contract of contracts) {
      const toWire = (request: OperationRequest): WireRequest => this.#withKey(wireRequest(contract, request));
      const judge = (request: OperationRequest, answer: RawAnswer): string[] =>
        judgement(conformityOf(contract, request), answer);
      await this.#sendAll(`${contract.operationId}, allowed`, allowedRequest(contract, petIds), toWire, judge, 200);
      await this.#sendAll(`${contract.operationId}, any`, anyRequest(contract, petIds), toWire, judge, 400);
      if (contract.parameters.some(({ name }) => name === 'cursor')) await this.#walk(contract.path);
    }
    const paths = contracts.map(({ path }) => path);
    const toWire = (request: WireRequest): WireRequest => this.#withKey({ ...request, path: `/v1${request.path}` });
    await this.#sendAll('odd requests', oddRequest(paths), toWire, () => [], 404);
    return { violations: this.#violations, counts: this.#counts };
  }

  close(): void {
    this.#client.close();
  }

  /** Sends some requests at once, and checks each answer; the smallest set that fails is told. */
  async #sendAll<Request>(
    title: string,
    requests: fc.Arbitrary<Request>,
    toWire: (request: Request) => WireRequest,
    judge: (request: Request, answer: RawAnswer) => string[],
    mustOccur: number,
  ): Promise<void> {
    const statuses = new Set<number>();
    const sendAndCheck = async (request: Request): Promise<void> => {
      const wire = toWire(request);
      const answer = await this.#client.send(wire);
      statuses.add(answer.status);
      this.#counts[answer.status] = (this.#counts[answer.status] ?? 0) + 1;
      const faults = [...faultsOf(wire, answer), ...judge(request, answer)];
      if (faults.length > 0) throw new Error(`${wire.method} ${wire.path}: ${answer.status} ${faults.join('; ')}`);
    };
    const together = fc.array(requests, { minLength: AT_ONCE / 2, maxLength: AT_ONCE, size: 'max' });
    const property = fc.asyncProperty(together, async (some) => {
      await Promise.all(some.map(sendAndCheck));
    });
    const details = await fc.check(property, { seed: this.#seed, numRuns: 2 });
    if (details.failed) this.#violations.push(`${title}: ${fc.defaultReportMessage(details)}`);
    else if (!statuses.has(mustOccur)) this.#violations.push(`${title}: no answer was ${mustOccur}`);
  }

  /** The pages that Link leads to are together the list. */
  async #walk(path: string): Promise<void> {
    const whole = await this.#get(`/v1${path}`);
    const limit = 1 + (this.#seed % 60);
    const pages: string[] = [];
    for (let next: string | undefined = `/v1${path}?limit=${limit}`; next !== undefined;) {
      const page: RawAnswer = await this.#get(next);
      this.#violations.push(...faultsOf({ method: 'GET', path: next, headers: {} }, page));
      pages.push(page.text.slice(1, -1));
      next = /^<(.+)>; rel="next"$/.exec(page.headers.get('Link') ?? '')?.[1];
    }
    if (`[${pages.join(',')}]` !== whole.text) this.#violations.push(`pages of ${limit} of ${path} are not the list`);
  }

  #get(path: string): Promise<RawAnswer> {
    return this.#client.send({ method: 'GET', path, headers: this.#authorization });
  }

  #withKey({ headers, ...request }: WireRequest): WireRequest {
    return { ...request, headers: { ...this.#authorization, ...headers } };
  }
}

/** Whatever was sent: no failure of the service, and nothing that the document does not declare. */
function faultsOf({ method, path }: WireRequest, answer: RawAnswer): string[] {
  const [withoutQuery = ''] = path.slice('/v1'.length).split('?');
  const faults = documented.faults(answer, { method, path: withoutQuery });
  return answer.status >= 500 ? [...faults, answer.text] : faults;
}

/** The service takes what the document allows, and refuses what it forbids. */
function judgement(conformity: Conformity, { status, text }: RawAnswer): string[] {
  const code = status < 400 ? 'none' : v.parse(errorBodySchema, JSON.parse(text)).code;
  const isTaken = ['none', ...ofTheStore].includes(code);
  const agrees = { allowed: isTaken, forbidden: status >= 400, open: true }[conformity];
  return agrees ? [] : [`the document says ${conformity}, the service ${text}`];
}

function wireRequest(contract: RequestContract, { petId, query, headers, body }: OperationRequest): WireRequest {
  const path = contract.path.replace('{petId}', encodeURIComponent(petId));
  const parameters = query.map((pair) => pair.map(encodeURIComponent).join('='));
  const search = parameters.length > 0 ? `?${parameters.join('&')}` : '';
  return { method: contract.method, path: `/v1${path}${search}`, headers, body };
}

export interface WireRequest {
  readonly method: string;
  /** Whole path with query, as it goes over the wire. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body?: string | undefined;
}

/** A client that sends what it is told to, odd as it may be, over a few connections that stay open. */
export class WireClient {
  readonly #origin: URL;
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: 12 });

  constructor(origin: string) {
    this.#origin = new URL(origin);
  }

  async send({ method, path, headers, body }: WireRequest): Promise<RawAnswer> {
    const { hostname, port } = this.#origin;
    // By itself Node.js would send the body of a GET without saying how long it is.
    const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) };
    const call = http.request({ agent: this.#agent, hostname, port, method, path, headers: { ...headers, ...length } });
    call.end(body);
    const [message]: IncomingMessage[] = await once(call, 'response');
    if (!message) throw new Error('There is no answer');
    const bytes = await buffer(message);
    const isCompressed = message.headers['content-encoding'] === 'gzip' && method !== 'HEAD';
    return {
      status: message.statusCode ?? 0,
      headers: new Headers(pairs(message.rawHeaders)),
      text: (isCompressed ? gunzipSync(bytes) : bytes).toString('utf8'),
    };
  }

  close(): void {
    this.#agent.destroy();
  }
}

function pairs(raw: readonly string[]): [string, string][] {
  return raw.flatMap((name, index) => (index % 2 === 0 ? [[name, raw[index + 1] ?? '']] : []));
}
