import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { BASE, LINK, ORIGIN, Visitor } from './console-visitor.ts';
import { InProcessTarget } from '../../support/in-process-target.ts';

const world = new InProcessTarget();
let visitor: Visitor;

beforeEach(async () => {
  world.reset();
  visitor = await new Visitor(world.target).letIn();
});
afterAll(() => world.close());

describe('the token in the address', () => {
  test.each(['none', 'cross-site'])(
    'is exchanged once for a cookie of this path (Sec-Fetch-Site: %s)',
    async (site) => {
      const stranger = new Visitor(world.target);
      const response = await stranger.request(LINK, { 'Sec-Fetch-Site': site });

      expect(response.status).toBe(200);
      expect(response.headers.get('Refresh')).toBe(`0; url=${BASE}/overview`);
      expect(response.headers.get('Set-Cookie')).toMatch(
        /^console-4000=[\w-]{22}; Path=\/the-base; HttpOnly; SameSite=Strict$/,
      );
      expect((await stranger.request(LINK)).status).toBe(401);
    },
  );

  test.each(['/keys', '/stock/export.csv', '/?token=another', '/nowhere'])('is required at %s', async (path) => {
    expect((await new Visitor(world.target).get(path)).status).toBe(401);
    expect((await new Visitor(world.target).get(path, { Cookie: 'console-4000=guessed' })).status).toBe(401);
    // The cookie alone, as a program at another port may have got it.
    expect((await visitor.request(path)).status).toBe(401);
    expect((await visitor.request(`/guessed${path}`)).status).toBe(401);
  });
});

test.each([LINK, `${BASE}/keys`, `${BASE}/stock/export.csv`, '/console.css'])(
  '%s is refused under another host name',
  async (address) => {
    expect((await visitor.request(address, { Host: 'rebound.example:4000' })).status).toBe(403);
  },
);

test.each<[string, number, Record<string, string>]>([
  ['from another origin', 403, { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' }],
  ['from another port of this machine', 403, { 'Sec-Fetch-Site': 'same-site', Origin: 'http://127.0.0.1:3000' }],
  ['from a page without an origin', 403, { 'Sec-Fetch-Site': 'cross-site', Origin: 'null' }],
  ['that names no origin', 403, { 'Sec-Fetch-Site': '', Origin: '' }],
  ['under another host name', 403, { Host: 'rebound.example:4000' }],
  ['without the cookie', 401, { Cookie: '' }],
])('a form %s changes nothing', async (_, status, headers) => {
  expect((await visitor.post('/keys/new', { name: 'acme', plan: 'free' }, headers)).status).toBe(status);
  expect(await world.keys()).toEqual([]);
});

describe('an upload', () => {
  const path = `${BASE}/stock/import`;
  const type = { Origin: ORIGIN, 'Content-Type': 'multipart/form-data', 'Content-Length': '9' };
  const tooLarge = { ...type, 'Content-Length': String(2 ** 20 + 1) };

  test.each<[string, number, Record<string, string>]>([
    ['by a stranger', 401, { ...type, Cookie: '' }],
    ['that is too large', 413, tooLarge],
    ['by another page', 403, { ...type, Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' }],
  ])('%s is not read', async (_, status, headers) => {
    let isRead = false;
    async function* parts(): AsyncGenerator<Uint8Array> {
      isRead = true;
      yield Buffer.from('file=x');
    }
    const init = { method: 'POST', body: ReadableStream.from(parts()), duplex: 'half' } as const;
    expect((await visitor.request(path, headers, init)).status).toBe(status);
    expect(isRead).toBe(false);
  });

  test('that is too large is refused with the command that can import it', async () => {
    const production = await new Visitor({ ...world.target, option: '--stage production' }).letIn();
    const response = await production.request(path, tooLarge, { method: 'POST', body: 'file=x' });

    expect(await response.text()).toContain(
      'The file is larger than 1 MiB. Nothing was written. Import it with the command: npm run admin -- --stage production inventory import FILE',
    );
  });
});

test('every response forbids inline scripts and styles, frames and caching', async () => {
  for (const path of [`${BASE}/keys`, '/console.js', `${BASE}/nowhere`, `${BASE}/keys/nobody`, LINK]) {
    const { headers } = await visitor.request(path);
    expect(headers.get('Content-Security-Policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'self'; frame-ancestors 'none'",
    );
    expect(Object.fromEntries(headers)).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'same-origin',
    });
    expect((await new Visitor(world.target).request(path)).headers.get('Cache-Control')).toBe('no-store');
  }
});
