import { describe, expect, jest, test } from '@jest/globals';
import { logError } from '../../shared/log.ts';
import { type AnsweredRequest, requestLine, requestLog } from '../../shared/request-log.ts';
import { metricsIn } from '../support/request-lines.ts';

const RECEIVED = Date.UTC(2026, 10, 21, 12, 0, 0);
const NOW = RECEIVED + 37;
const REQUEST_ID = 'c6af9ac6-7b61-11e6-9a41-93e8deadbeef';
const origin = { namespace: 'PetStoreInventory', stack: 'staging-Inventory' };

const aRequest = (differences: Partial<AnsweredRequest> = {}): AnsweredRequest => ({
  requestId: REQUEST_ID,
  receivedAt: RECEIVED,
  operation: 'updateInventory',
  keyId: 'k3y1d',
  plan: 'pro',
  status: 200,
  coldStarts: 0,
  ...differences,
});

/** A line as it is read again. */
const lineOf = (differences: Partial<AnsweredRequest> = {}, now = NOW): Record<string, unknown> =>
  JSON.parse(JSON.stringify(requestLine(aRequest(differences), origin, now)));

/** The metrics in a line, as `name by dimension=value, …: value`. */
const metricsOf = (differences: Partial<AnsweredRequest>): string[] =>
  metricsIn(lineOf(differences)).map(({ name, dimensions, value }) => {
    const { stack, ...others } = dimensions;
    const by = Object.entries(others).map(([dimension, text]) => `${dimension}=${String(text)}`);
    return `${[name, ...by].join(' ')} of ${String(stack)}: ${String(value)}`;
  });

const ofStack = (metric: string, value: number) => `${metric} of staging-Inventory: ${value}`;

describe('The line about a request', () => {
  test('says what was asked by whom, what came of it, and what it took', () => {
    expect(lineOf()).toEqual({
      level: 'INFO',
      message: 'Request',
      requestId: REQUEST_ID,
      operation: 'updateInventory',
      keyId: 'k3y1d',
      plan: 'pro',
      status: '200',
      latency: 37,
      stack: 'staging-Inventory',
      Requests: 1,
      _aws: expect.anything(),
    });
  });

  test('says none where there is no operation, no key, no plan', () => {
    const without = { operation: undefined, keyId: undefined, plan: undefined };

    expect(lineOf(without)).toMatchObject({ operation: 'none', keyId: 'none', plan: 'none' });
  });

  test('has no latency below zero, should the clock of the gateway be ahead', () => {
    expect(lineOf({}, RECEIVED - 5)).toMatchObject({ latency: 0 });
  });

  test('is written as one line, in one go, and only where the deployment says for whom', () => {
    Object.assign(process.env, { METRICS_NAMESPACE: 'N', STACK_NAME: 'S' });
    const write = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
    requestLog()(aRequest());

    expect(write.mock.calls).toEqual([[expect.stringMatching(/^\{"level":"INFO",[^\n]*"stack":"S"[^\n]*\}\n$/)]]);
    write.mockRestore();
    delete process.env.STACK_NAME;
    expect(() => requestLog()).toThrow('The environment variable STACK_NAME is not set');
  });
});

describe('The metrics of a request', () => {
  const requests = [
    ofStack('Requests', 1),
    ofStack('Requests operation=updateInventory', 1),
    ofStack('Requests plan=pro', 1),
    ofStack('Requests status=200', 1),
  ];

  test('are a request by operation, by plan and by status, and nothing that is zero', () => {
    expect(metricsOf({})).toEqual(requests);
  });

  test('are a refusal by its reason too', () => {
    const refused = { status: 429, code: 'RATE_LIMIT_EXCEEDED', refusal: 'RATE_LIMIT_EXCEEDED' } as const;

    expect(metricsOf(refused)).toEqual([
      ...requests.slice(0, 3),
      ofStack('Requests status=429', 1),
      ofStack('Refusals', 1),
      ofStack('Refusals reason=RATE_LIMIT_EXCEEDED', 1),
    ]);
  });

  test('are cold starts, where there were any', () => {
    expect(metricsOf({ coldStarts: 2 })).toEqual([...requests, ofStack('ColdStarts', 2)]);
  });
});

test('A logged failure is one line of JSON with its details, its cause and its stack', () => {
  const log = jest.spyOn(process.stderr, 'write').mockImplementation(() => true);
  logError('It failed', new RangeError('too far', { cause: new TypeError('first fault') }), { requestId: 'r1' });
  logError('It failed', 'just text');
  const lines = log.mock.calls.map(([line]) => String(line));
  log.mockRestore();

  expect(lines[0]).toMatch(/^[^\n]+\n$/);
  expect(lines.map((line): unknown => JSON.parse(line))).toEqual([
    {
      level: 'ERROR',
      message: 'It failed',
      requestId: 'r1',
      error: {
        name: 'RangeError',
        reason: 'too far',
        rootCause: 'TypeError: first fault',
        stack: expect.stringContaining('log.test.ts'),
      },
    },
    expect.objectContaining({ error: expect.objectContaining({ name: 'Error', reason: 'just text' }) }),
  ]);
});
