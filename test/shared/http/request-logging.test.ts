import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { type ErrorCode, ServiceError } from '../../../shared/contract/errors.ts';
import { operationHandler, type Reply, streamingHandler } from '../../../shared/http/operation-handler.ts';
import { takeColdStarts } from '../../../shared/request-log.ts';
import { metricsIn, recordRequestLines } from '../../support/request-lines.ts';
import { admittedContext, aProxyEvent, lambdaContext, type Reader, streamedAnswer } from '../../support/proxy-event.ts';

const lines = recordRequestLines();

/** What the authorizer adds for the log. */
const metrics = { plan: 'pro', coldStarts: '1' };
const ok: Reply = { status: 200, body: '[]' };

beforeEach(() => {
  jest.spyOn(console, 'error').mockImplementation(() => undefined);
  takeColdStarts();
});

afterEach(() => {
  jest.restoreAllMocks();
});

type Event = Parameters<typeof aProxyEvent>[0];

const answer = (respond: () => Promise<Reply>, event: Event = {}) =>
  operationHandler(respond)(aProxyEvent(event), lambdaContext);

const stream = (respond: () => Promise<Reply<string | Readable>>, event: Event = {}, reader?: Reader) =>
  streamedAnswer(streamingHandler(respond), aProxyEvent(event), reader);

const throwing = (error: unknown) => async () => {
  throw error;
};

describe.each<[string, (respond: () => Promise<Reply>, event?: Event) => Promise<unknown>]>([
  ['answers at once', answer],
  ['streams', stream],
])('A handler that %s', (_, send) => {
  test('logs a request with the part of the authorizer', async () => {
    await send(() => Promise.resolve(ok), { authorizer: { ...admittedContext, ...metrics } });

    expect(lines()).toMatchObject([
      {
        requestId: 'c6af9ac6-7b61-11e6-9a41-93e8deadbeef',
        operation: 'listInventory',
        keyId: 'k3y1d',
        plan: 'pro',
        status: '200',
        coldStarts: 1,
        stack: 'test-Inventory',
      },
    ]);
    expect(lines()[0]).not.toHaveProperty('code');
    expect(lines()[0]).not.toHaveProperty('reason');
  });

  test.each([
    ['GET', '/inventory', 'listInventory'],
    ['GET', '/store/orders', 'listOrders'],
    ['POST', '/inventory', 'none'],
  ])('logs what is asked: %s %s is %s', async (method, resource, operation) => {
    await send(() => Promise.resolve(ok), { method, resource });

    expect(lines()).toMatchObject([{ operation }]);
  });

  test.each<[unknown, string, ErrorCode]>([
    [new ServiceError('PET_NOT_FOUND'), '404', 'PET_NOT_FOUND'],
    [new ServiceError('SERVICE_UNAVAILABLE'), '503', 'SERVICE_UNAVAILABLE'],
    [new Error('a secret'), '500', 'INTERNAL_ERROR'],
    [undefined, '500', 'INTERNAL_ERROR'],
  ])('logs an error of the operation, which is no refusal: %s', async (error, status, code) => {
    await send(throwing(error));

    expect(lines()).toMatchObject([{ status, code, keyId: 'k3y1d' }]);
    expect(lines()[0]).not.toHaveProperty('reason');
    expect(JSON.stringify(lines())).not.toContain('secret');
  });

  test.each<[ErrorCode, string, string]>([['RATE_LIMIT_EXCEEDED', '429', 'k3y1d']])(
    'logs a refusal of the authorizer: %s',
    async (outcome, status, keyId) => {
      await send(() => Promise.resolve(ok), { authorizer: { ...admittedContext, ...metrics, outcome } });

      expect(lines()).toMatchObject([{ status, code: outcome, reason: outcome, keyId, plan: 'pro' }]);
      expect(metricsIn(lines()[0])).toContainEqual({
        namespace: 'PetStoreInventory',
        name: 'Refusals',
        dimensions: { stack: 'test-Inventory', reason: outcome },
        value: 1,
      });
    },
  );

  test('logs a request that the authorizer could not count: of no key', async () => {
    const { plan: _plan, ...withoutPlan } = metrics;
    const uncounted = { outcome: 'SERVICE_UNAVAILABLE', principalId: 'uncounted' };
    await send(() => Promise.resolve(ok), { authorizer: { ...admittedContext, ...withoutPlan, ...uncounted } });

    const code = 'SERVICE_UNAVAILABLE';
    expect(lines()).toMatchObject([{ status: '503', code, reason: code, keyId: 'none', plan: 'none' }]);
  });

  test.each<[string, Record<string, unknown> | null, object]>([
    ['nothing at all', null, { status: '500', keyId: 'none' }],
    ['no verdict', {}, { status: '500', keyId: 'none' }],
    [
      'what nobody knows, as one of the next release',
      { ...admittedContext, plan: 'platinum', coldStarts: 'NaN', more: 'x' },
      { status: '200', plan: 'platinum' },
    ],
    ['values of other types', { ...admittedContext, plan: 7 }, { status: '200', plan: 'none' }],
  ])('logs a request of which the authorizer tells %s', async (_name, authorizer, expected) => {
    await send(() => Promise.resolve(ok), { authorizer });

    expect(lines()).toMatchObject([{ coldStarts: 0, ...expected }]);
  });
});

const streaming = (parts: () => AsyncGenerator<string>) => () =>
  Promise.resolve({ status: 200, body: Readable.from(parts()) });

describe('A stream', () => {
  test('is logged once it has ended', async () => {
    let linesBefore = -1;
    const respond = streaming(async function* () {
      yield '[1';
      await new Promise((resolve) => setImmediate(resolve));
      linesBefore = lines().length;
      yield ']';
    });
    await stream(respond);

    expect(linesBefore).toBe(0);
    expect(lines()).toMatchObject([{ status: '200' }]);
    expect(lines()[0]).not.toHaveProperty('complete');
  });

  test('that fails is logged as not complete', async () => {
    const respond = streaming(async function* () {
      yield '[1';
      await new Promise((resolve) => setImmediate(resolve));
      throw new ServiceError('SERVICE_UNAVAILABLE');
    });
    await stream(respond);

    expect(lines()).toMatchObject([{ status: '200', complete: false }]);
    expect(lines()[0]).not.toHaveProperty('code');
  });
});
