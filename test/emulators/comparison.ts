import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import * as fc from 'fast-check';
import * as v from 'valibot';
import { fuzzedRequest, type FuzzedRequest } from '../soak/fuzzed-requests.ts';
import { sendRaw } from '../soak/fuzzed-requests.ts';
import { errorBodySchema, type RawResponse } from '../support/documented-api.ts';

/** The same requests every time. */
const SEED = 1;
const REQUESTS = 250;
const MAX_ATTEMPTS = 5;

/** A service that is compared, and a token that it takes. */
export interface Side {
  readonly url: string;
  readonly token: string;
}

/** Requests as the soak sends them. */
export const comparedRequests = (): FuzzedRequest[] => fc.sample(fuzzedRequest, { seed: SEED, numRuns: REQUESTS });

/** Sends each request to both, one after the other. @returns the differences, a line per kind, with their requests */
export async function compare(expected: Side, other: Side): Promise<Map<string, FuzzedRequest[]>> {
  const agent = new http.Agent({ keepAlive: true });
  const differences = new Map<string, FuzzedRequest[]>();
  try {
    for (const request of comparedRequests()) {
      const [right, seen] = [await responseOf(expected, agent, request), await responseOf(other, agent, request)];
      const { status, code = '' } = right;
      for (const name of new Set([...Object.keys(right), ...Object.keys(seen)])) {
        if (right[name] === seen[name]) continue;
        const of = name === 'status' ? `${request.method} ${status} ${code}: ` : '';
        const line = `${of}${name} is ${seen[name] ?? 'missing'}, not ${right[name] ?? 'missing'}`;
        differences.set(line, [...(differences.get(line) ?? []), request]);
        // A response of another status differs in all the rest.
        if (name === 'status') break;
      }
    }
  } finally {
    agent.destroy();
  }
  return differences;
}

type Answer = Readonly<Record<string, string | undefined>>;

/** The response once its turn has come: throttles are of the moment. */
async function responseOf({ url, token }: Side, agent: http.Agent, request: FuzzedRequest): Promise<Answer> {
  try {
    let response = await sendRaw(url, agent, token, request);
    for (let attempts = 1; response.status === 429 && attempts < MAX_ATTEMPTS; attempts++) {
      await sleep(1_000);
      response = await sendRaw(url, agent, token, request);
    }
    return partsOf(response);
  } catch (error) {
    return { status: `no response (${error instanceof Error ? error.message : String(error)})` };
  }
}

/** Headers whose values are of one answer or one host: whether they are there is compared. */
const OWN_VALUE = new Set(['etag', 'link', 'x-amzn-requestid']);
/** Headers of connections and servers, and ids for AWS's support. */
const NOT_COMPARED =
  /^(connection|keep-alive|transfer-encoding|date|server|content-length|x-amz-(apigw-id|request-id|id-2))$/;

/** What of a response must be alike: its status, its headers, and its body. */
function partsOf({ status, headers, text }: RawResponse): Answer {
  const error = v.safeParse(v.pipe(v.string(), v.parseJson(), errorBodySchema), text);
  const fields = [...headers]
    .filter(([name]) => !NOT_COMPARED.test(name))
    .map(([name, value]) => [name, shown(name, value)]);
  const body = error.success ? error.output.message : text;
  return {
    status: String(status),
    ...(error.success && { code: error.output.code }),
    ...Object.fromEntries(fields),
    body,
  };
}

/** Counts and times of the limits differ by the moment. */
const shown = (name: string, value: string): string =>
  OWN_VALUE.has(name)
    ? 'there'
    : name.includes('ratelimit') || name === 'retry-after'
      ? value.replaceAll(/\d+/g, '0')
      : value;
