import { describe, expect, test } from '@jest/globals';
import { Router } from '../../../../infra/local/gateway/router.ts';

/** A router for routes such as `GET /inventory`; the target of each is the route itself. */
function routerOf(...routes: readonly string[]): Router<string> {
  const router = new Router<string>();
  for (const route of routes) {
    const [method = '', path = ''] = route.split(' ');
    router.add(path, method, route);
  }
  return router;
}

test('A method that the resource lacks is not looked for on one that would take the path less exactly', () => {
  expect(routerOf('GET /a', 'ANY /{path+}').match('POST', '/a')).toBeUndefined();
});

describe('a path', () => {
  test.each([
    ['/a/b', '/a/b'],
    ['/a/x', '/a/{name}'],
    ['/a/x/y', '/a/{rest+}'],
  ])('%s is for %s: a literal part before a parameter, and that before a greedy one', (path, resourcePath) => {
    const router = routerOf('GET /a/{rest+}', 'GET /a/{name}', 'GET /a/b');

    expect(router.match('GET', path)?.resourcePath).toBe(resourcePath);
  });

  test.each([
    ['/a/b/c', '/a/{name}/c', { name: 'b' }],
    ['/a/b/e', '/{path+}', { path: 'a/b/e' }],
    // Each part is decoded to be matched, and given as it was sent; one that is malformed stays as it is.
    ['/%61/b/d', '/a/b/d', {}],
    ['/a/1%2F2/c', '/a/{name}/c', { name: '1%2F2' }],
    ['/a/%zz/c', '/a/{name}/c', { name: '%zz' }],
  ])('%s is for %s: a resource that leads nowhere is left again', (path, resourcePath, pathParameters) => {
    const router = routerOf('GET /a/b/d', 'GET /a/{name}/c', 'GET /{path+}');

    expect(router.match('GET', path)).toMatchObject({ resourcePath, pathParameters });
  });
});
