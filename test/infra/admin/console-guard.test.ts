import { expect, test } from '@jest/globals';
import { BASE, ConsoleService, LINK, Visitor } from './admin-service.ts';

const service = new ConsoleService();
const { target } = service;

test.each(['none', 'cross-site'])('The link is exchanged once for a cookie of its path, from %s', async (site) => {
  const stranger = new Visitor(target);
  const { status, headers } = await stranger.request(LINK, { 'Sec-Fetch-Site': site });

  expect(status).toBe(200);
  expect(headers.get('Refresh')).toBe(`0; url=${BASE}/overview`);
  expect(headers.get('Set-Cookie')).toMatch(/^console-4000=[\w-]{22}; Path=\/the-base; HttpOnly; SameSite=Strict$/);
  expect((await stranger.request(LINK)).status).toBe(401);
});

test.each(['/keys', '/stock/export.csv', '/?token=another', '/nowhere'])(
  '%s requires both the cookie and the secret path',
  async (path) => {
    const stranger = new Visitor(target);
    expect((await stranger.get(path)).status).toBe(401);
    expect((await stranger.get(path, { Cookie: 'console-4000=guessed' })).status).toBe(401);
    // The cookie alone, as a program at another port may have got it.
    expect((await service.visitor.request(path)).status).toBe(401);
    expect((await service.visitor.request(`/guessed${path}`)).status).toBe(401);
  },
);

test.each([LINK, `${BASE}/keys`, '/console.css'])('%s is refused under another host name', async (address) => {
  expect((await service.visitor.request(address, { Host: 'rebound.example:4000' })).status).toBe(403);
});

test.each<[string, number, Record<string, string>]>([
  ['from another origin', 403, { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' }],
  ['from another port of this machine', 403, { 'Sec-Fetch-Site': 'same-site', Origin: 'http://127.0.0.1:3000' }],
  ['from a page without an origin', 403, { 'Sec-Fetch-Site': 'cross-site', Origin: 'null' }],
  ['that names no origin', 403, { 'Sec-Fetch-Site': '', Origin: '' }],
  ['to another host name', 403, { Host: 'rebound.example:4000' }],
  ['without the cookie', 401, { Cookie: '' }],
  ['that is larger than 1 MiB', 413, { 'Content-Length': String(2 ** 20 + 1) }],
])('A form %s is refused, and not read', async (_, status, headers) => {
  let isRead = false;
  async function* parts(): AsyncGenerator<Uint8Array> {
    isRead = true;
    yield Buffer.from('name=acme&plan=free');
  }
  const body = ReadableStream.from(parts());
  expect((await service.visitor.post('/keys/new', body, headers)).status).toBe(status);
  expect(isRead).toBe(false);
});

test('A form that is too large is refused with the command to use on the same service', async () => {
  const production = await new Visitor({ ...target, option: '--stage production' }).signIn();
  const response = await production.post('/stock/import', {}, { 'Content-Length': String(2 ** 20 + 1) });

  expect(await response.text()).toContain(
    'Nothing was written. Import it with the command: npm run admin -- --stage production inventory import FILE',
  );
});

test('Every response forbids inline scripts and styles, frames, and caching', async () => {
  for (const path of [`${BASE}/keys`, '/console.js', `${BASE}/nowhere`, LINK]) {
    const { headers } = await service.visitor.request(path);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'self'; frame-ancestors 'none'",
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'same-origin',
    });
    expect((await new Visitor(target).request(path)).headers.get('Cache-Control')).toBe('no-store');
  }
});
