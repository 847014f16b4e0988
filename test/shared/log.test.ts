import { describe, expect, jest, test } from '@jest/globals';
import { type CompletedRequest, logError, requestLine, requestLog } from '../../shared/log.ts';
import { metricsIn } from '../support/request-lines.ts';

const RECEIVED = Date.UTC(2026, 10, 21, 12, 0, 0);
const NOW = RECEIVED + 37;
const REQUEST_ID = 'c6af9ac6-7b61-11e6-9a41-93e8deadbeef';
const origin = { namespace: 'PetStoreInventory', stack: 'staging-Inventory' };

const aRequest = (differences: Partial<CompletedRequest> = {}): CompletedRequest => ({
  requestId: REQUEST_ID,
  receivedAt: RECEIVED,
  operation: 'updateInventory',
  keyId: 'k3y1d',
  token: 'main/ly02',
  plan: 'pro',
  status: 200,
  ...differences,
});

/** A line as it is read again. */
const lineOf = (differences: Partial<CompletedRequest> = {}, now = NOW): Record<string, unknown> =>
  JSON.parse(JSON.stringify(requestLine(aRequest(differences), origin, now)));

/** The metrics in a line, as `name by dimension: value`. */
const metricsOf = (line: unknown): string[] =>
  metricsIn(line).map(({ name, dimensions: { stack, ...others }, value }) =>
    [stack, name, ...Object.entries(others).flat(), value].join(' '),
  );

describe('the log line of a request', () => {
  test('has request, caller, result and latency, and no metric of zero', () => {
    expect(lineOf()).toEqual({
      level: 'INFO',
      message: 'Request',
      requestId: REQUEST_ID,
      operation: 'updateInventory',
      keyId: 'k3y1d',
      token: 'main/ly02',
      plan: 'pro',
      status: '200',
      latency: 37,
      stack: 'staging-Inventory',
      Requests: 1,
      _aws: expect.anything(),
    });
    expect(metricsOf(lineOf())).toEqual(['staging-Inventory Requests 1', 'staging-Inventory Requests plan pro 1']);
  });

  test('measures a refusal by its reason', () => {
    const refusal = 'RATE_LIMIT_EXCEEDED';

    expect(metricsOf(lineOf({ status: 429, code: refusal, refusal })).slice(2)).toEqual([
      'staging-Inventory Refusals 1',
      `staging-Inventory Refusals reason ${refusal} 1`,
    ]);
  });

  test('has no negative latency if the clock of the gateway is ahead', () => {
    expect(lineOf({}, RECEIVED - 5)).toMatchObject({ latency: 0 });
  });

  test('requires the variables of the deployment', () => {
    process.env.METRICS_NAMESPACE = 'N';
    delete process.env.STACK_NAME;
    expect(() => requestLog()).toThrow('The environment variable STACK_NAME is not set');
  });
});

test('a logged failure is one line of JSON with its details, cause and stack', () => {
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
