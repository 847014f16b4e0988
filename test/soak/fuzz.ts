import http from 'node:http';
import * as fc from 'fast-check';
import * as v from 'valibot';
import { DocumentedApi, errorBodySchema, type RawAnswer } from '../support/documented-api.ts';
import { issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';
import { sendRaw } from './send-raw.ts';
import { type FuzzedRequest, requestKinds } from './fuzzed-requests.ts';
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
    const limits = { perMinute: 1_000_000, perDay: 1_000_000_000 };
    const { token } = await issueKey(host, limits);
    return await fuzz((request) => sendRaw(host.baseUrl, agent, token, request), seed);
  } finally {
    agent.destroy();
    await host.close();
  }
}

async function fuzz(send: Send, seed: number): Promise<Outcome> {
  const violations: string[] = [];
  const counts: Record<string, number> = {};
  for (const { title, requests, isAllowed, mustOccur } of requestKinds()) {
    const statuses = new Set<number>();
    const sendAndCheck = async (request: FuzzedRequest): Promise<void> => {
      const answer = await send(request);
      const { status, text } = answer;
      statuses.add(status);
      counts[status] = (counts[status] ?? 0) + 1;
      const faults = documented.faults(answer, { method: request.method, path: request.path.split('?')[0] ?? '' });
      if (status >= 500 || !isRight(answer, isAllowed)) faults.push(`the answer ${text}`);
      const sent = JSON.stringify(request).slice(0, MOST_SHOWN);
      if (faults.length > 0) violations.push(`${title}: ${sent} was answered ${status}: ${faults.join('; ')}`);
    };
    await Promise.all(fc.sample(requests, { seed, numRuns: REQUESTS }).map(sendAndCheck));
    if (!statuses.has(mustOccur)) violations.push(`${title}: no answer was ${mustOccur}`);
  }
  return { violations, counts };
}

function isRight({ status, text }: RawAnswer, isAllowed: boolean | undefined): boolean {
  if (isAllowed === undefined) return true;
  if (!isAllowed) return status >= 400;
  return status < 400 || ofTheStore.has(v.parse(errorBodySchema, JSON.parse(text)).code);
}
