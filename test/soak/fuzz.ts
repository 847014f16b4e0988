import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import * as v from 'valibot';
import { sampleStock } from '../../infra/local/sample-data.ts';
import { DocumentedApi, errorBodySchema, type RawAnswer } from '../support/documented-api.ts';
import { issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';
import {
  allowedRequest,
  forbiddenRequest,
  type FuzzedRequest,
  oddRequest,
  requestContracts,
} from './fuzzed-requests.ts';
import type { Outcome } from './models.ts';

/** Requests of each kind. */
const REQUESTS = 60;
/** Connections that they share. */
const CONNECTIONS = 12;
/** Characters of a request in a message. */
const MOST_SHOWN = 500;

/** Errors that are about what there is in the store, not about the request. */
const ofTheStore = new Set([
  'INVALID_CURSOR',
  'PET_NOT_FOUND',
  'INSUFFICIENT_STOCK',
  'PRECONDITION_FAILED',
  'IDEMPOTENCY_KEY_REUSED',
]);

const documented = new DocumentedApi();

type Send = (request: FuzzedRequest) => Promise<RawAnswer>;

/** Requests made from the OpenAPI document: the service takes what it allows, refuses what it forbids, and answers as it says. */
export async function fuzzRound(seed: number): Promise<Outcome> {
  const host = await LocalHost.start();
  const agent = new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  try {
    const { token } = await issueKey(host, { perMinute: 1_000_000, perDay: 1_000_000_000 });
    return await fuzz((request) => sendRaw(host.baseUrl, agent, token, request), seed);
  } finally {
    agent.destroy();
    await host.close();
  }
}

async function fuzz(send: Send, seed: number): Promise<Outcome> {
  const violations: string[] = [];
  const counts: Record<string, number> = {};
  const petIds = sampleStock.map(({ petId }) => petId);
  const contracts = requestContracts();
  const kinds: [string, fc.Arbitrary<FuzzedRequest>, number, (answer: RawAnswer) => boolean][] = [
    ...contracts.flatMap((contract): typeof kinds => [
      [`${contract.operationId}, allowed`, allowedRequest(contract, petIds), 200, isTaken],
      [`${contract.operationId}, forbidden`, forbiddenRequest(contract, petIds), 400, isRefused],
    ]),
    ['odd requests', oddRequest(contracts.map(({ path }) => path)), 404, () => true],
  ];
  for (const [title, requests, mustOccur, isRight] of kinds) {
    const statuses = new Set<number>();
    const sendAndCheck = async (request: FuzzedRequest): Promise<void> => {
      const answer = await send(request);
      const { status, text } = answer;
      statuses.add(status);
      counts[status] = (counts[status] ?? 0) + 1;
      const faults = documented.faults(answer, { method: request.method, path: request.path.split('?')[0] ?? '' });
      if (status >= 500 || !isRight(answer)) faults.push(`the answer ${text}`);
      const sent = JSON.stringify(request).slice(0, MOST_SHOWN);
      if (faults.length > 0) violations.push(`${title}: ${sent} was answered ${status}: ${faults.join('; ')}`);
    };
    await Promise.all(fc.sample(requests, { seed, numRuns: REQUESTS }).map(sendAndCheck));
    if (!statuses.has(mustOccur)) violations.push(`${title}: no answer was ${mustOccur}`);
  }
  return { violations, counts };
}

const isRefused = ({ status }: RawAnswer): boolean => status >= 400;

const isTaken = ({ status, text }: RawAnswer): boolean =>
  status < 400 || ofTheStore.has(v.parse(errorBodySchema, JSON.parse(text)).code);

/** Sends a request as it is, odd as it may be: `fetch` would put it right. */
async function sendRaw(baseUrl: string, agent: http.Agent, token: string, request: FuzzedRequest): Promise<RawAnswer> {
  const { hostname, port, pathname } = new URL(baseUrl);
  const { method, query = [], body } = request;
  const search = query.map((pair) => pair.map(encodeURIComponent).join('=')).join('&');
  const path = `${pathname}${request.path}${search === '' ? '' : `?${search}`}`;
  // By itself Node.js would send the body of a GET without saying how long it is.
  const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) };
  const headers = { Authorization: `Bearer ${token}`, ...request.headers, ...length };
  const call = http.request({ agent, hostname, port, method, path, headers }).end(body);
  const [message]: IncomingMessage[] = await once(call, 'response');
  if (!message) throw new Error('There is no answer');
  const bytes = await buffer(message);
  const isCompressed = message.headers['content-encoding'] === 'gzip' && method !== 'HEAD';
  return {
    status: message.statusCode ?? 0,
    headers: new Headers(Object.entries(message.headersDistinct).map(([name, all = []]) => [name, all.join(', ')])),
    text: (isCompressed ? gunzipSync(bytes) : bytes).toString(),
  };
}
