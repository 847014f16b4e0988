import http from 'node:http';
import * as fc from 'fast-check';
import { MAX_PER_DAY, MAX_PER_MINUTE } from '../../shared/keys/plans.ts';
import { DocumentedApi } from '../support/documented-api.ts';
import { issueKey, LocalHost } from '../support/local-host.ts';
import { fuzzedRequest, type FuzzedRequest, sendRaw } from './fuzzed-requests.ts';

/** Requests of a round. */
const REQUESTS = 400;
/** Connections that they share. */
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
