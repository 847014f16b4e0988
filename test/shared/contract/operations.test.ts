import { describe, expect, test } from '@jest/globals';
import { methodsOf, operations } from '../../../shared/contract/operations.ts';

describe('the operations (spec §4)', () => {
  test.each([
    ['listInventory', 'GET', '/inventory', 'stable'],
    ['updateInventory', 'PATCH', '/inventory/{petId}', 'experimental'],
  ])('%s is %s %s, %s', (name, method, path, stability) => {
    expect(Object.entries(operations)).toContainEqual([name, expect.objectContaining({ method, path, stability })]);
  });

  test('no two share a method and a path', () => {
    const routes = Object.values(operations).map(({ method, path }) => `${method} ${path}`);

    expect(new Set(routes).size).toBe(routes.length);
  });
});

describe('the methods of a path, for Allow', () => {
  test.each([
    ['/inventory', ['GET']],
    ['/inventory/{petId}', ['PATCH']],
    ['/pets', []],
    ['/inventory/', []],
    ['/', []],
    ['/{proxy+}', []],
  ])('%s answers %j', (resource, methods) => {
    expect(methodsOf(resource)).toEqual(methods);
  });
});
