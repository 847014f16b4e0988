import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import * as fc from 'fast-check';
import * as v from 'valibot';
import { DocumentedApi } from '../support/documented-api.ts';
import { errorBodySchema, type RawAnswer } from '../support/every-answer.ts';
import { allowedRequest, anyRequest, oddRequest } from '../support/fuzzed-requests.ts';
import { issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';
import {
  type Conformity,
  conformityOf,
  type OperationRequest,
  type RequestContract,
  requestContracts,
} from '../support/request-contract.ts';
import { WireClient, type WireRequest } from '../support/wire-client.ts';

/** The same requests in every run. For others, and more: `FUZZ_SEED=42 FUZZ_RUNS=100`. */
const seed = Number(process.env['FUZZ_SEED'] ?? 20_261_121);
const numRuns = Number(process.env['FUZZ_RUNS'] ?? 8);
/** Requests that are under way together. */
const AT_ONCE = 40;

const contracts = requestContracts().map((contract) => [contract.operationId, contract] as const);
const paths = contracts.map(([, { path }]) => path);
const documented = new DocumentedApi();

jest.setTimeout(120_000);

describe('Requests made from the OpenAPI document', () => {
  let host: LocalHost;
  let client: WireClient;
  let authorization: { readonly Authorization: string };
  let petIds: string[];

  beforeAll(async () => {
    host = await LocalHost.start();
    client = new WireClient(host.origin);
    const { token } = await issueKey(host, { perMinute: 1_000_000, perDay: 1_000_000_000 });
    authorization = { Authorization: `Bearer ${token}` };
    const { text } = await get('/v1/inventory');
    petIds = [...text.matchAll(/"petId":(\d+)/g)].map(([, petId = '']) => petId);
  });

  afterAll(() => {
    client.close();
    return host.close();
  });

  /** Sends many requests, some together, and checks each answer. Returns the statuses of the answers. */
  async function sendAll<Request>(
    requests: fc.Arbitrary<Request>,
    toWire: (request: Request) => WireRequest,
    check: (request: Request, answer: RawAnswer) => void,
    runs = numRuns,
  ): Promise<Set<number>> {
    const statuses = new Set<number>();
    const sendAndCheck = async (request: Request): Promise<void> => {
      const answer = await client.send(toWire(request));
      statuses.add(answer.status);
      expectAsDocumented(toWire(request), answer);
      check(request, answer);
    };
    const together = fc.array(requests, { minLength: AT_ONCE / 2, maxLength: AT_ONCE, size: 'max' });
    await fc.assert(
      fc.asyncProperty(together, async (some) => {
        await Promise.all(some.map(sendAndCheck));
      }),
      { seed, numRuns: runs },
    );
    return statuses;
  }

  const ofOperation =
    (contract: RequestContract) =>
    (request: OperationRequest): WireRequest => ({
      ...wireRequest(contract, request),
      headers: { ...request.headers, ...authorization },
    });

  const get = (path: string) => client.send({ method: 'GET', path, headers: authorization });

  test.each(contracts)('%s: what the document allows is answered as it says', async (_, contract) => {
    const requests = allowedRequest(contract, petIds);
    const statuses = await sendAll(requests, ofOperation(contract), (request, answer) => {
      expect(conformityOf(contract, request)).toBe('allowed');
      expectJudgedAlike('allowed', answer);
    });

    expect(statuses).toContain(200);
  });

  test.each(contracts)('%s: what the document forbids is refused as it says', async (_, contract) => {
    const requests = anyRequest(contract, petIds);
    const statuses = await sendAll(requests, ofOperation(contract), (request, answer) => {
      expectJudgedAlike(conformityOf(contract, request), answer);
    });

    expect(statuses).toContain(400);
  });

  test.each(contracts.filter(([, { parameters }]) => parameters.some(({ name }) => name === 'cursor')))(
    '%s: the pages that Link leads to are together the list',
    async (_, contract) => {
      const whole = await get(`/v1${contract.path}`);
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 1, max: 60 }), async (limit) => {
          const pages: unknown[] = [];
          let path: string | undefined = `/v1${contract.path}?limit=${limit}`;
          while (path !== undefined) {
            const answer: RawAnswer = await get(path);
            expectAsDocumented({ method: 'GET', path, headers: {} }, answer);
            pages.push(...v.parse(v.array(v.unknown()), JSON.parse(answer.text)));
            path = /^<(.+)>; rel="next"$/.exec(answer.headers.get('Link') ?? '')?.[1];
          }
          expect(pages).toEqual(JSON.parse(whole.text));
        }),
        { seed, numRuns: 4 },
      );
    },
  );

  test('any method, path and headers are answered with an Error body, or as the operation that they are', async () => {
    const statuses = await sendAll(
      oddRequest(paths),
      ({ path, headers, ...rest }) => ({ path: `/v1${path}`, headers: { ...authorization, ...headers }, ...rest }),
      () => undefined,
      3 * numRuns,
    );

    expect([...statuses]).toEqual(expect.arrayContaining([401, 404, 405]));
  });
});

/** Whatever was sent: no failure of the service, and nothing that the document does not declare. */
function expectAsDocumented({ method, path }: WireRequest, answer: RawAnswer): void {
  const [withoutQuery = ''] = path.slice('/v1'.length).split('?');
  const faults = documented.faults(answer, { method, path: withoutQuery });
  const isFailure = answer.status >= 500;
  const { status, text } = answer;
  expect({ method, path, status, faults, ...((isFailure || faults.length > 0) && { text }) }).toEqual({
    method,
    path,
    status: isFailure ? 'less than 500' : status,
    faults: [],
  });
}

/** Errors that are about what there is in the store, not about the request. */
const ofTheStore = ['INVALID_CURSOR', 'PET_NOT_FOUND', 'PRECONDITION_FAILED', 'IDEMPOTENCY_KEY_REUSED'];

/** The service takes what the document allows, and refuses what it forbids. */
function expectJudgedAlike(conformity: Conformity, { status, text }: RawAnswer): void {
  const code = status === 200 ? 'none' : v.parse(errorBodySchema, JSON.parse(text)).code;
  const isTaken = ['none', ...ofTheStore].includes(code);
  const agrees = { allowed: isTaken, forbidden: status !== 200, open: true }[conformity];
  expect({ conformity, status, text, agrees }).toEqual({ conformity, status, text, agrees: true });
}

function wireRequest(contract: RequestContract, { petId, query, headers, body }: OperationRequest): WireRequest {
  const path = contract.path.replace('{petId}', encodeURIComponent(petId));
  const parameters = query.map((pair) => pair.map(encodeURIComponent).join('='));
  const search = parameters.length > 0 ? `?${parameters.join('&')}` : '';
  return { method: contract.method, path: `/v1${path}${search}`, headers, body };
}
