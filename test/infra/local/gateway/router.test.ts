import { expect, test } from '@jest/globals';
import { createRouter } from '../../../../infra/local/gateway/router.ts';

/** Each resource is its own target. */
const routerOf = (...routes: readonly string[]) =>
  createRouter(
    routes.map((route) => {
      const [method = '', path = ''] = route.split(' ');
      return { method, path, target: path };
    }),
  );

const literal = 'GET /a/b';
const router = routerOf('ANY /{path+}', 'GET /a/{rest+}', 'GET /a/{name}', literal, 'GET /c/b/d', 'GET /c/{name}/c');

test.each([
  ['/a/b', '/a/b', {}],
  ['/a/x', '/a/{name}', { name: 'x' }],
  ['/a/x/y', '/a/{rest+}', { rest: 'x/y' }],
  // A resource that leads nowhere is left again.
  ['/c/b/c', '/c/{name}/c', { name: 'b' }],
  ['/c/b/e', '/{path+}', { path: 'c/b/e' }],
  // Each part is given as it was sent.
  ['/c/1%2F2/c', '/c/{name}/c', { name: '1%2F2' }],
  ['/c/%zz/c', '/c/{name}/c', { name: '%zz' }],
  // Slashes count, but those before the first part, and a last one of what a greedy parameter takes.
  ['//a/b', '/a/b', {}],
  ['/c/b/d/', '/{path+}', { path: 'c/b/d' }],
  ['/x//y/', '/{path+}', { path: 'x//y' }],
])(
  '%s matches %s: literal parts precede parameters, which precede greedy ones',
  (path, resourcePath, pathParameters) => {
    expect(router('GET', path)).toMatchObject({ resourcePath, pathParameters });
  },
);

test('a path matches its own resource in any order of routes', () => {
  const paths = ['/pets/{id}', '/store/orders', '/pets', '/pets/findByStatus', '/', '/{rest+}'];
  const another = routerOf(...paths.map((path) => `GET ${path}`));

  expect(another('GET', '/pets/findByStatus')?.target).toBe('/pets/findByStatus');
  expect(another('GET', '/')?.target).toBe('/');
});

test('a method that the resource lacks falls back only to greedy resources', () => {
  expect(router('POST', '/a/b')).toMatchObject({ resourcePath: '/{path+}', pathParameters: { path: 'a/b' } });
  expect(routerOf(literal, 'POST /a/{name}')('POST', '/a/b')).toBeUndefined();
});
