import { describe, expect, test } from '@jest/globals';
import { errorGuide } from '../../../shared/contract/error-guide.ts';
import { errorCatalogue, type ErrorCode, ServiceError, serviceErrorOf } from '../../../shared/contract/errors.ts';
import {
  everyOperationErrors,
  methodsOf,
  type Operation,
  operationAt,
  operations,
} from '../../../shared/contract/operations.ts';

const all: Operation[] = Object.values(operations);

/** Errors of requests that are no operation. */
const NO_OPERATION = ['ROUTE_NOT_FOUND', 'METHOD_NOT_ALLOWED'];

describe('the operations (spec §4 and §9)', () => {
  test.each([
    ['listInventory', 'GET', '/inventory', 'stable', false],
    ['updateInventory', 'PATCH', '/inventory/{petId}', 'experimental', false],
    ['getPet', 'GET', '/pets/{petId}', 'stable', true],
    ['listOrders', 'GET', '/store/orders', 'beta', false],
  ])('%s is %s %s, %s, deprecated: %s', (name, method, path, stability, deprecated) => {
    expect(Object.entries(operations)).toContainEqual([
      name,
      expect.objectContaining({ method, path, stability, deprecated }),
    ]);
  });
});

describe('the errors of the operations', () => {
  test('are, with those of requests that are no operation, the whole catalogue', () => {
    const named = new Set<string>([...everyOperationErrors, ...all.flatMap(({ errors }) => errors), ...NO_OPERATION]);

    expect([...named].toSorted()).toEqual(Object.keys(errorCatalogue).toSorted());
  });
});

describe('the methods of a path, for Allow', () => {
  test.each([
    ['/inventory', ['GET', 'HEAD']],
    ['/inventory/{petId}', ['PATCH']],
    ['/pets/{petId}', ['GET', 'HEAD']],
    ['/store/orders', ['GET', 'HEAD']],
    ['/', []],
    ['/{proxy+}', []],
  ])('%s answers %j', (resource, methods) => {
    expect(methodsOf(resource)).toEqual(methods);
  });
});

describe('the operation that a request is', () => {
  test.each(Object.entries(operations))('%s, at its method and path', (id, { method, path }) => {
    expect(operationAt(method, path)).toBe(id);
  });

  test.each([
    ['POST', '/inventory'],
    ['get', '/inventory'],
    ['GET', '/{path+}'],
  ])('%s %s is none', (method, path) => {
    expect(operationAt(method, path)).toBeUndefined();
  });
});

describe('Errors', () => {
  const statuses: [ErrorCode, number][] = [
    ['BAD_REQUEST', 400],
    ['INVALID_PET_ID', 400],
    ['INVALID_QUERY', 400],
    ['INVALID_CURSOR', 400],
    ['INVALID_HEADER', 400],
    ['INVALID_BODY', 400],
    ['API_KEY_MISSING', 401],
    ['API_KEY_INVALID', 401],
    ['FORBIDDEN', 403],
    ['PET_NOT_FOUND', 404],
    ['ROUTE_NOT_FOUND', 404],
    ['METHOD_NOT_ALLOWED', 405],
    ['PRECONDITION_FAILED', 412],
    ['PAYLOAD_TOO_LARGE', 413],
    ['UNSUPPORTED_MEDIA_TYPE', 415],
    ['IDEMPOTENCY_KEY_REUSED', 422],
    ['RATE_LIMIT_EXCEEDED', 429],
    ['DAILY_QUOTA_EXCEEDED', 429],
    ['API_KEY_SUSPENDED', 429],
    ['TOO_MANY_REQUESTS', 429],
    ['INTERNAL_ERROR', 500],
    ['BAD_GATEWAY', 502],
    ['SERVICE_UNAVAILABLE', 503],
    ['GATEWAY_TIMEOUT', 504],
  ];

  describe('the error catalogue (spec §7)', () => {
    test.each(statuses)('%s is answered with %d', (code, status) => {
      expect(new ServiceError(code).status).toBe(status);
    });

    test('has no other code', () => {
      expect(Object.keys(errorCatalogue)).toEqual(statuses.map(([code]) => code));
    });
  });

  describe('the Error body (spec §2)', () => {
    test('has exactly code, message and status', () => {
      expect(JSON.stringify(new ServiceError('PET_NOT_FOUND').body)).toBe(
        '{"code":"PET_NOT_FOUND","message":"There is no such pet.","status":404}',
      );
    });
  });

  describe('what a failure is answered with', () => {
    test.each([
      ['an Error', new Error('secret')],
      ['text', 'secret'],
      ['nothing', undefined],
      ['null', null],
    ])('is INTERNAL_ERROR else, and says nothing of it: %s', (_, thrown) => {
      const error = serviceErrorOf(thrown);

      expect(error.code).toBe('INTERNAL_ERROR');
      expect(JSON.stringify(error.body)).not.toContain('secret');
      expect(error.cause).toBe(thrown ?? undefined);
    });
  });
});

describe('the error guide', () => {
  test('has an entry for each code of the catalogue, in its order', () => {
    expect(Object.keys(errorGuide)).toEqual(Object.keys(errorCatalogue));
  });
});
