import { describe, expect, test } from '@jest/globals';
import {
  type CompletedRequest,
  logError,
  requestLine,
  requestLog,
  SLOW_CLIENT,
  unrecordedLog,
} from '../../shared/log.ts';
import { metricsIn, recordFaults } from '../support/request-lines.ts';

const faults = recordFaults();

const RECEIVED = Date.UTC(2026, 10, 21, 12, 0, 0);
const origin = { namespace: 'PetStoreInventory', stack: 'staging-Inventory' };

const request: CompletedRequest = {
  requestId: 'c6af9ac6-7b61-11e6-9a41-93e8deadbeef',
  receivedAt: RECEIVED,
  operation: 'updateInventory',
  keyId: 'k3y1d',
  token: 'main/ly02',
  plan: 'pro',
  status: 200,
};

/** A line as it is read again. */
const lineOf = (differences: Partial<CompletedRequest> = {}, latency = 37): Record<string, unknown> =>
  JSON.parse(JSON.stringify(requestLine({ ...request, ...differences }, origin, RECEIVED + latency)));

/** The metrics in a line, each as name, other dimensions than the stack, and value. */
const metricsOf = (line: unknown): string[] =>
  metricsIn(line).map(({ name, dimensions: { stack, ...others }, value }) =>
    [stack, name, ...Object.entries(others).flat(), value].join(' '),
  );

const ofRequest = ['staging-Inventory Requests 1', 'staging-Inventory Requests plan pro 1'];

describe('The log line of a request', () => {
  test('has its operation, key, result and latency, and no metric that is zero', () => {
    const { receivedAt: _, ...fields } = request;
    expect(lineOf()).toEqual({
      level: 'INFO',
      message: 'Request',
      ...fields,
      status: '200',
      latency: 37,
      stack: 'staging-Inventory',
      Requests: 1,
      _aws: expect.anything(),
    });
    expect(metricsOf(lineOf())).toEqual(ofRequest);
  });

  test('has a metric of a refusal by its reason', () => {
    const refusal = 'RATE_LIMIT_EXCEEDED';
    const ofRefusal = ['staging-Inventory Refusals 1', `staging-Inventory Refusals reason ${refusal} 1`];

    expect(metricsOf(lineOf({ status: 429, code: refusal, refusal }))).toEqual([...ofRequest, ...ofRefusal]);
  });

  test.each<[differences: Partial<CompletedRequest>, metric: string]>([
    [{ status: 503, cause: 'ProvisionedThroughputExceededException' }, 'ThrottledRequests'],
    [{ status: 503, cause: 'ThrottlingError' }, 'ThrottledRequests'],
    [{ status: 503, cause: 'TransactionConflict' }, 'ThrottledRequests'],
    [{ status: 503, cause: 'ConditionalCheckFailed' }, 'ThrottledRequests'],
    [{ complete: false, cause: 'ThrottlingException' }, 'ExcusedLists'],
    [{ complete: false, cause: SLOW_CLIENT }, 'ExcusedLists'],
  ])('has a metric of a failure that is not ours: %j', (differences, metric) => {
    expect(metricsOf(lineOf(differences))).toEqual([...ofRequest, `staging-Inventory ${metric} 1`]);
  });

  test.each<Partial<CompletedRequest>>([
    { status: 503, cause: 'TimeoutError' },
    { status: 500, cause: 'ThrottlingException' },
    { complete: false, cause: 'TransactionConflict' },
    { complete: false },
  ])('has none of another failure: %j', (differences) => {
    expect(metricsOf(lineOf(differences))).toEqual(ofRequest);
  });

  test('has latency 0 if the clock of the gateway is ahead', () => {
    expect(lineOf({}, -5)).toMatchObject({ latency: 0 });
  });

  test('requires the name of the stack', () => {
    process.env.METRICS_NAMESPACE = 'N';
    delete process.env.STACK_NAME;
    expect(() => requestLog()).toThrow('The environment variable STACK_NAME is not set');
  });
});

test('A logged failure is one line of JSON with its details, cause and stack', () => {
  logError('It failed', new RangeError('too far', { cause: new TypeError('first fault') }), { requestId: 'r1' });
  logError('It failed', 'just text');
  const lines = faults().map(String);

  expect(lines[0]).toMatch(/^[^\n]+\n$/);
  const stack = expect.stringContaining('log.test.ts');
  const error = { name: 'RangeError', reason: 'too far', rootCause: 'TypeError: first fault', stack };
  expect(lines.map((line): unknown => JSON.parse(line))).toEqual([
    { level: 'ERROR', message: 'It failed', requestId: 'r1', error },
    expect.objectContaining({ error: expect.objectContaining({ name: 'Error', reason: 'just text' }) }),
  ]);
});

test('A change that is perhaps not recorded is a line with its pet and its cause, and a metric', () => {
  Object.assign(process.env, { METRICS_NAMESPACE: origin.namespace, STACK_NAME: origin.stack });
  unrecordedLog()(new Error('No response within 500 ms'), '101');
  const line: unknown = JSON.parse(String(faults()));

  expect(line).toMatchObject({ level: 'ERROR', petId: '101', error: { reason: 'No response within 500 ms' } });
  expect(metricsOf(line)).toEqual(['staging-Inventory UnrecordedChanges 1']);
});
