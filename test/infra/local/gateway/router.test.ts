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

describe('a method', () => {
  test('that the resource lacks is not looked for on a resource that would take the path less exactly', () => {
    expect(routerOf('GET /a', 'ANY /{path+}').match('POST', '/a')).toBeUndefined();
  });
});

describe('a path', () => {
  test.each([
    ['/a/b', '/a/b'],
    ['/a/x', '/a/{name}'],
    ['/a/x/y', '/a/{rest+}'],
    ['/a/b/y', '/a/b/{name}'],
  ])('%s is for %s: a literal part before a parameter, and that before a greedy one', (path, resourcePath) => {
    const router = routerOf('GET /a/{rest+}', 'GET /a/{name}', 'GET /a/b', 'GET /a/b/{name}');

    expect(router.match('GET', path)?.resourcePath).toBe(resourcePath);
  });

  test.each([
    ['/a/b/c', '/a/{name}/c', { name: 'b' }],
    ['/a/b/d', '/a/b/d', {}],
    ['/a/b/e', '/{path+}', { path: 'a/b/e' }],
    ['/a/b', '/{path+}', { path: 'a/b' }],
    ['/a', '/{path+}', { path: 'a' }],
  ])('%s is for %s: a resource that leads nowhere is left again', (path, resourcePath, pathParameters) => {
    const router = routerOf('GET /a/b/d', 'GET /a/{name}/c', 'GET /{path+}');

    expect(router.match('GET', path)).toMatchObject({ resourcePath, pathParameters });
  });

  test('forgets what a parameter took where it had to turn back', () => {
    expect(routerOf('GET /{store}/pets', 'GET /{path+}').match('GET', '/1/orders')?.pathParameters).toEqual({
      path: '1/orders',
    });
  });
});

describe('an encoded path', () => {
  const router = routerOf('GET /inventory', 'GET /inventory/{petId}', 'GET /{path+}');

  test.each([
    ['/inventory/4%32', '/inventory/{petId}', { petId: '4%32' }],
    ['/inventory/1%2F2', '/inventory/{petId}', { petId: '1%2F2' }],
    ['/%69nventory', '/inventory', {}],
    ['/a%20b/c', '/{path+}', { path: 'a%20b/c' }],
  ])(
    '%s is matched part by part, and what a parameter takes stays as it was sent',
    (path, resourcePath, pathParameters) => {
      expect(router.match('GET', path)).toMatchObject({ resourcePath, pathParameters });
    },
  );

  test.each(['%', '%zz', '%C3', '50%'])('stays as it is where it is malformed: %s', (text) => {
    expect(router.match('GET', `/inventory/${text}`)?.pathParameters).toEqual({ petId: text });
  });
});
