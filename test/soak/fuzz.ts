import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { sampleStock } from '../../infra/local/sample-data.ts';
import { operations } from '../../shared/contract/operations.ts';
import { MAX_PER_DAY, MAX_PER_MINUTE } from '../../shared/keys/plans.ts';
import { DocumentedApi } from '../support/documented-api.ts';
import { anInt64 } from '../support/int64.ts';
import { issueKey, LocalHost } from '../support/local-host.ts';
import type { RawResponse } from '../support/promises.ts';

type Text = fc.Arbitrary<string>;

interface FuzzedRequest {
  readonly method: string;
  /** As it goes over the wire, below the base address, with its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: string | undefined;
}

/** Text of all sorts, and text that programs have stumbled over. */
const hostileText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }).map(String),
  fc.double().map(String),
  fc.constantFrom('', ' ', '+1', '01', '-0', '1e3', '0x10', '1_000', '١٢٣', 'null', '[object Object]', '..', '%00'),
  fc.constantFrom('__proto__', 'constructor', "' OR 1=1 --", '<script>', '\uFEFF', 'a'.repeat(3_000), '9'.repeat(400)),
);

const characters = (min: number, max: number): Text =>
  fc.integer({ min, max }).map((code) => (code === 0x7f ? ' ' : String.fromCharCode(code)));

/** Whatever can stand in a header: Latin-1 without control characters. */
const hostileHeader = fc.oneof(
  fc.string({ unit: characters(0x20, 0xff), maxLength: 40 }),
  fc.constantFrom('', '*', '""', '"a', 'W/"a"', '"a", "b"', '"a" "b"', '*, "a"', ','.repeat(300), '"a",'.repeat(100)),
  fc.constantFrom('gzip;q=0', 'identity;q=0', '*;q=0', 'gzip, gzip', 'br;q=1.0, gzip;q=0.001', 'x'.repeat(2_500)),
);

const headerName = fc.oneof(
  fc.constantFrom('Accept', 'Accept-Encoding', 'Content-Encoding', 'Content-Type', 'Idempotency-Key', 'If-Match'),
  fc.constantFrom('Cookie', 'If-None-Match', 'Origin', 'Range', 'X-HTTP-Method-Override', '__proto__', 'Authorization'),
);

const petId = fc.oneof(fc.constantFrom(...sampleStock.map((entry) => entry.petId)), anInt64());
const quantity = fc.oneof(fc.constantFrom(0, 2_147_483_647), fc.nat());

const goodBody = fc.oneof(
  quantity.map((value) => `{"quantity":${value}}`),
  fc.integer({ min: -5, max: 5 }).map((by) => `{"by":${by}}`),
  fc.tuple(petId, quantity).map(([id, value]) => `[{"petId":${id},"quantity":${value}}]`),
);

const hostileBody = fc.oneof(
  fc.json(),
  fc.json().map((text) => text.slice(0, -1)),
  fc.record({ quantity: fc.jsonValue() }).map((value) => JSON.stringify(value)),
  fc.record({ quantity: fc.nat(), more: fc.jsonValue() }).map((value) => JSON.stringify(value)),
  fc.array(fc.record({ petId: fc.jsonValue(), quantity: fc.jsonValue() })).map((value) => JSON.stringify(value)),
  fc.oneof(fc.double(), fc.bigInt()).map((value) => `{"quantity":${value}}`),
  fc.constantFrom('', ' ', '{}', '[]', '{"quantity":1e999}', '{"quantity":-0}', '{"quantity":5.0}', '{"quantity":5e0}'),
  fc.constantFrom('{"quantity":1,"quantity":2}', '{"quantity":1,"__proto__":{}}', '\uFEFF{"quantity":1}'),
  fc.constant('['.repeat(9_000)),
  fc.nat({ max: 40_000 }).map((length) => '{"quantity":3}'.padEnd(length)),
);

/** Mostly the first: of a request that is wrong in every part nothing but the first fault is seen. */
const mostly = <Value>(good: fc.Arbitrary<Value>, hostile: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 4, arbitrary: good }, { weight: 1, arbitrary: hostile });

const encoded = hostileText.map(encodeURIComponent);
const anOperation = fc.constantFrom(...Object.values(operations));

const pathOf = (template: string): Text => mostly<string>(petId, encoded).map((id) => template.replace('{petId}', id));

const oddPath = fc
  .array(fc.oneof(encoded, fc.constantFrom('inventory', '..', '%2e%2e', '%2F', '%', '%zz', '%ff', '{petId}')), {
    maxLength: 6,
  })
  .map((segments) => `/${segments.join('/')}`);

const parameter = fc.oneof(
  fc.constantFrom('limit=1', 'limit=1000', 'status=sold', 'status=placed', 'petId=101,102', 'petId=101&petId=102'),
  fc
    .tuple(fc.oneof(fc.constantFrom('limit', 'cursor', 'status', 'petId'), encoded), encoded)
    .map((pair) => pair.join('=')),
);

const query = mostly(
  fc.constant(''),
  fc.array(parameter, { minLength: 1, maxLength: 3 }).map((all) => `?${all.join('&')}`),
);

const oddMethod = fc.constantFrom('HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY', 'PROPFIND');

const hostileHeaders = fc.dictionary(headerName, fc.oneof(hostileHeader, fc.array(hostileHeader)), { maxKeys: 4 });

/** Requests of any operation, and of none, each part of which may be hostile. */
const fuzzedRequest: fc.Arbitrary<FuzzedRequest> = anOperation.chain(({ method, path }) =>
  fc.record({
    method: mostly(fc.constant<string>(method), oddMethod),
    path: fc.tuple(mostly(pathOf(path), oddPath), query).map((parts) => parts.join('')),
    headers: mostly(fc.constant({}), hostileHeaders).map((headers) =>
      Object.assign({ 'Content-Type': 'application/json' }, headers),
    ),
    body: method === 'GET' ? fc.option(hostileBody, { nil: undefined, freq: 5 }) : mostly(goodBody, hostileBody),
  }),
);

/** Sends a request as it is, odd as it may be: `fetch` would put it right. */
async function sendRaw(
  baseUrl: string,
  agent: http.Agent,
  token: string,
  request: FuzzedRequest,
): Promise<RawResponse> {
  const { hostname, port, pathname } = new URL(baseUrl);
  const { method, body } = request;
  const path = pathname + request.path;
  // By itself Node.js would send the body of a GET without saying how long it is.
  const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) };
  const headers = { Authorization: `Bearer ${token}`, ...request.headers, ...length };
  const call = http.request({ agent, hostname, port, method, path, headers }).end(body);
  const [message]: IncomingMessage[] = await once(call, 'response');
  if (!message) throw new Error('There is no response');
  const bytes = await buffer(message);
  const isCompressed = message.headers['content-encoding'] === 'gzip' && method !== 'HEAD';
  return {
    status: message.statusCode ?? 0,
    headers: new Headers(Object.entries(message.headersDistinct).map(([name, all = []]) => [name, all.join(', ')])),
    text: (isCompressed ? gunzipSync(bytes) : bytes).toString(),
  };
}

const REQUESTS = 400;
const CONNECTIONS = 12;
/** Characters of a request in a message. */
const MAX_SHOWN = 500;
/** Statuses that a round must have seen: requests that are all refused at the door find nothing behind it. */
const MUST_OCCUR = [200, 400, 404, 405];

const documented = new DocumentedApi();

/** Hostile requests: none returns 500 or more, and each response matches the OpenAPI document. */
export async function fuzzRound(seed: number) {
  const host = await LocalHost.start();
  const agent = new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const violations: string[] = [];
  const sendAndCheck = async (token: string, request: FuzzedRequest): Promise<number> => {
    const response = await sendRaw(host.baseUrl, agent, token, request);
    const { status, text } = response;
    const faults = documented.faults(response, { method: request.method, path: request.path.split('?')[0] ?? '' });
    if (status >= 500) faults.push(`the response ${text}`);
    const sent = JSON.stringify(request).slice(0, MAX_SHOWN);
    if (faults.length > 0) violations.push(`${sent} returned ${status}: ${faults.join('; ')}`);
    return status;
  };
  const { token } = await issueKey(host, { perMinute: MAX_PER_MINUTE, perDay: MAX_PER_DAY });
  const requests = fc.sample(fuzzedRequest, { seed, numRuns: REQUESTS });
  const outcomes = await Promise.all(requests.map((request) => sendAndCheck(token, request)));
  agent.destroy();
  await host.close();
  const missing = MUST_OCCUR.filter((status) => !outcomes.includes(status));
  return { violations: [...violations, ...missing.map((status) => `no response was ${status}`)], outcomes };
}
