import { afterEach, describe, expect, jest, test } from '@jest/globals';
import * as fc from 'fast-check';
import { type AnsweredRequest, requestLine, requestLog } from '../../../shared/request-log/request-log.ts';
import { metricsIn } from '../../support/embedded-metric-format.ts';

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
      coldStarts: 0,
      stack: 'staging-Inventory',
      Requests: 1,
      _aws: expect.anything(),
    });
  });

  test('names the code of an error', () => {
    expect(lineOf({ status: 404, code: 'PET_NOT_FOUND' })).toMatchObject({ status: '404', code: 'PET_NOT_FOUND' });
  });

  test('says none where there is no operation, no key, no plan', () => {
    const without = { operation: undefined, keyId: undefined, plan: undefined };

    expect(lineOf(without)).toMatchObject({ operation: 'none', keyId: 'none', plan: 'none' });
  });

  test('says of a stream that broke off that it is not complete', () => {
    expect(lineOf({ complete: false })).toMatchObject({ status: '200', complete: false });
    expect(lineOf({ complete: true })).not.toHaveProperty('complete');
  });

  test('has no latency below zero, should the clock of the gateway be ahead', () => {
    expect(lineOf({}, RECEIVED - 5)).toMatchObject({ latency: 0 });
  });

  describe('is written', () => {
    afterEach(() => {
      jest.restoreAllMocks();
    });

    test('as one line, in one go', () => {
      Object.assign(process.env, { METRICS_NAMESPACE: 'N', STACK_NAME: 'S' });
      const write = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
      requestLog()(aRequest());

      expect(write.mock.calls).toEqual([[expect.stringMatching(/^\{"level":"INFO",[^\n]*"stack":"S"[^\n]*\}\n$/)]]);
    });

    test.each(['METRICS_NAMESPACE', 'STACK_NAME'])('only where %s is set', (name) => {
      Object.assign(process.env, { METRICS_NAMESPACE: 'N', STACK_NAME: 'S' });
      delete process.env[name];

      expect(() => requestLog()).toThrow(name);
    });
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
      ofStack('Refusals reason=RATE_LIMIT_EXCEEDED', 1),
    ]);
  });

  test('are no refusal where the operation failed', () => {
    expect(metricsOf({ status: 503, code: 'SERVICE_UNAVAILABLE' })).toEqual([
      ...requests.slice(0, 3),
      ofStack('Requests status=503', 1),
    ]);
  });

  test('are cold starts, where there were any', () => {
    expect(metricsOf({ coldStarts: 2 })).toEqual([...requests, ofStack('ColdStarts', 2)]);
  });

  test('keep to the format of CloudWatch, whatever the request was', () => {
    const text = fc.option(
      fc.string({ minLength: 1 }).filter((some) => /\S/.test(some)),
      { nil: undefined },
    );
    const code = fc.constantFrom('API_KEY_MISSING', 'SERVICE_UNAVAILABLE', undefined);
    const request = fc.record({
      requestId: fc.uuid(),
      receivedAt: fc.nat(),
      operation: fc.constantFrom('listInventory', 'getPet', undefined),
      keyId: text,
      plan: text,
      status: fc.integer({ min: 100, max: 599 }),
      code,
      refusal: code,
      complete: fc.boolean(),
      coldStarts: fc.nat({ max: 2 }),
    } satisfies { [Name in keyof AnsweredRequest]-?: fc.Arbitrary<unknown> });

    fc.assert(
      fc.property(request, (answered) => {
        const names = metricsIn(lineOf(answered)).map(({ name }) => name);
        expect(new Set(names).size).toBe(
          1 + [answered.refusal !== undefined, answered.coldStarts > 0].filter(Boolean).length,
        );
      }),
    );
  });
});

const metric = { Name: 'Requests', Unit: 'Count' };

/** The part of a line that tells of its metrics. */
const format = (differences: object, time: object = { Timestamp: 1 }) => ({
  _aws: {
    ...time,
    CloudWatchMetrics: [{ Namespace: 'N', Dimensions: [['stack']], Metrics: [metric], ...differences }],
  },
});

const manyOf = <Item>(length: number, item: Item): Item[] => Array.from({ length }, () => item);

describe('The rules of the format, as the tests check them,', () => {
  test('find nothing wrong with a line that is right', () => {
    expect(metricsIn({ ...lineOf(), ...format({}) })).toHaveLength(1);
  });

  test.each<[string, object, string]>([
    ['no metrics', { _aws: { Timestamp: 1, CloudWatchMetrics: [] } }, 'Invalid length'],
    ['no time', format({}, {}), 'Timestamp'],
    ['a dimension without a value', { plan: undefined }, 'The dimension plan has no text'],
    ['a dimension that is a number', { status: 200 }, 'The dimension status has no text'],
    ['a dimension that is empty', { stack: '' }, 'The dimension stack has no text'],
    ['a metric without a value', { Requests: undefined }, 'The metric Requests has no number'],
    ['a metric that is text', { Requests: '1' }, 'The metric Requests has no number'],
    ['more dimensions than CloudWatch takes', format({ Dimensions: [manyOf(31, 'stack')] }), 'Invalid length'],
    ['more metrics than CloudWatch takes', format({ Metrics: manyOf(101, metric) }), 'Invalid length'],
    ['a unit that there is not', format({ Metrics: [{ ...metric, Unit: 'Requests' }] }), 'Invalid type'],
    ['no namespace', format({ Namespace: '' }), 'Invalid length'],
  ])('refuse %s', (_, breach, message) => {
    expect(() => metricsIn({ ...lineOf(), ...breach })).toThrow(message);
  });
});
