import { describe, expect, test } from '@jest/globals';
import { errorCatalogue } from '../../../shared/contract/errors.ts';
import {
  API_VERSION,
  everyOperationErrors,
  methodsOf,
  operationAt,
  type Operation,
  operations,
} from '../../../shared/contract/operations.ts';

const all: Operation[] = Object.values(operations);

/** Errors of requests that are no operation. */
const NO_OPERATION = ['ROUTE_NOT_FOUND', 'METHOD_NOT_ALLOWED'];

test('the version of the interface is 1.0.0 (spec §9, rule 1)', () => {
  expect(API_VERSION).toBe('1.0.0');
});

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

  test('are these four', () => {
    expect(all).toHaveLength(4);
  });

  test('no two share a method and a path', () => {
    const routes = all.map(({ method, path }) => `${method} ${path}`);

    expect(new Set(routes).size).toBe(routes.length);
  });
});

describe('the errors of the operations', () => {
  test.each(Object.entries<Operation>(operations))(
    'of %s are named once, and not beside those of all',
    (_, { errors }) => {
      const named = [...errors, ...everyOperationErrors];

      expect(new Set(named).size).toBe(named.length);
    },
  );

  test('are, with those of requests that are no operation, the whole catalogue', () => {
    const named = new Set<string>([...everyOperationErrors, ...all.flatMap(({ errors }) => errors), ...NO_OPERATION]);

    expect([...named].toSorted()).toEqual(Object.keys(errorCatalogue).toSorted());
  });
});

describe('the methods of a path, for Allow', () => {
  test.each([
    ['/inventory', ['GET']],
    ['/inventory/{petId}', ['PATCH']],
    ['/pets/{petId}', ['GET']],
    ['/store/orders', ['GET']],
    ['/pets', []],
    ['/store', []],
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
    ['GET', '/inventory/{petId}'],
    ['GET', '/{path+}'],
    ['GET', '/'],
  ])('%s %s is none', (method, path) => {
    expect(operationAt(method, path)).toBeUndefined();
  });
});
