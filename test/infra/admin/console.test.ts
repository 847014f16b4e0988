import { describe, expect, test } from '@jest/globals';
import { workingTokens } from '../../../infra/admin/keys/tokens.ts';
import { tokenName } from '../../../shared/keys/key-record.ts';
import type { Interception } from '../../support/in-process-target.ts';
import { KEY_PATTERN } from '../../support/secrets.ts';
import { BASE, ConsoleService, LINK, NOW, Visitor } from './admin-service.ts';

const service = new ConsoleService();
const { target, world } = service;
const page = (path: string) => service.visitor.page(path);
const post = async (path: string, fields: Record<string, string>) => (await service.visitor.post(path, fields)).text();

const edit = (fields: Record<string, string>) => post('/keys/a/edit', fields);

const awsError = (name: string) => Object.assign(new Error('No'), { name, $metadata: {} });
const refuse = () => Promise.reject(awsError('ExpiredTokenException'));

test('Names are escaped, and their invisible characters shown', async () => {
  await service.issue('odd', { name: ' <script>alert(1)</script>"\' A\u202eB\u001b ' });
  const shown = String.raw`&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39; A\u202eB\u001b`;

  for (const path of ['/keys', '/keys/odd']) expect(await page(path)).toContain(shown);
  expect(await post('/keys/odd/revoke', {})).toContain(shown);
});

describe('The page of a key', () => {
  test('is shown even if its history cannot be read', async () => {
    await service.issue('a');
    world.before.set('QueryCommand', () => Promise.reject(awsError('ServiceUnavailableException')));

    expect(await page('/keys/a')).toMatch(
      /The history cannot be read\. The call to AWS failed: No \(ServiceUnavailableException\)\.[^]*Suspend/,
    );
  });

  test('reads only this key once it has been listed, and its live figures only its record', async () => {
    await service.issue('a');
    await page('/keys');

    for (const [path, calls] of [
      ['/keys/a', /^(GetItem|Query)Command$/],
      ['/keys/a/figures', /^GetItemCommand$/],
    ] as const) {
      const permit: Interception = (perform, name) => (calls.test(name) ? perform() : Promise.reject(awsError(name)));
      expect(await world.run(() => page(path), permit)).toContain('/ 1,000');
    }
  });

  test('is missing for an unknown key', async () => {
    const response = await service.visitor.get('/keys/nope');

    expect(response.status).toBe(404);
    expect(await response.text()).toContain('This key does not exist, or its record was deleted.');
  });
});

describe('The form', () => {
  test('that creates a key shows its token in the response only', async () => {
    const text = await (await service.visitor.create('acme')).text();
    const [token = ''] = text.match(KEY_PATTERN) ?? [];
    const { keyId, recordId } = await service.record();

    expect(text).toContain(`curl -H &#39;Authorization: Bearer ${token}&#39;`);
    for (const path of ['/keys', `/keys/${keyId}`, '/overview']) {
      const other = await page(path);
      expect(other).not.toContain(token);
      expect(other).not.toContain(recordId);
    }
  });

  test('names the error of each field next to it, and keeps what was entered', async () => {
    const fields = { name: ' ', plan: 'enterprise', perMinute: '0', perDay: '9', expires: '2001-01-01' };
    const response = await service.visitor.post('/keys/new', fields);
    const text = await response.text();

    expect(response.status).toBe(422);
    for (const [field, error] of [
      ['name', 'It must be 1 to 48 bytes'],
      ['perMinute', 'It must be a whole number from 1 to'],
      ['expires', 'It must be in the future.'],
    ])
      expect(text).toMatch(new RegExp(`class="error" id="create-${field}-hint">${error}`));
    expect(text).toMatch(/name="perDay"[^>]+value="9"/);
    expect(await world.keys()).toEqual([]);
  });

  test.each<[string, Record<string, string>, string]>([
    ['suspend', { for: '1h', reason: 'not paid' }, 'Suspend a key, .*<dd>1h</dd>.*<dd>not paid</dd>'],
    ['suspend', { for: '', reason: '' }, '<dd>until the key is resumed</dd>.*<dd>none</dd>'],
    ['move', { plan: 'free' }, 'the key has lower limits: 60 requests per minute'],
    ['rotate', { label: 'main', grace: '0s' }, 'Requests with main/.{4} are denied immediately, before the client'],
    ['revoke-token', { token: 'MAIN' }, 'Requests with the token main/.{4}, .* The key keeps reports/'],
    ['revoke', { reason: 'left' }, 'all 2 tokens, are denied permanently. .*<dd>left</dd>'],
  ])('of an action that stops customer requests asks first: %s', async (name, fields, question) => {
    await service.visitor.create('acme');
    const created = await service.record();
    const path = `/keys/${created.keyId}`;
    await post(`${path}/add`, { label: 'reports' });
    await post(`${path}/move`, { plan: 'pro' });
    const before = await service.record();
    const token = workingTokens(created, NOW).map(tokenName)[0] ?? '';
    const sent = { ...fields, ...('token' in fields && { token }) };
    const text = await post(`${path}/${name}`, sent);

    expect(await service.record()).toEqual(before);
    expect(text).toMatch(new RegExp(`<h1>.*: acme\\?</h1>.*${question}`, 's'));
    const hidden = [...text.matchAll(/type="hidden" name="(\w+)" value="(.*?)"/g)].map(([, key, value]) => [
      key,
      value,
    ]);
    expect(Object.fromEntries(hidden)).toEqual({ ...sent, confirmed: 'yes' });
    await post(`${path}/${name}`, { ...sent, confirmed: 'yes' });
    expect((await service.record()).revision).toBeGreaterThan(before.revision);
    // A reload of the question, or of the result.
    expect((await service.visitor.get(`${path}/${name}`)).headers.get('Location')).toBe(`${BASE}${path}`);
  });

  test('that edits a key changes only the fields that differ from what it showed', async () => {
    await service.issue('a', { name: 'acme' });
    // Another admin has renamed the key since.
    const shown = { 'name-shown': 'was', 'expires-shown': 'never' };
    await edit({ ...shown, name: 'was', expires: '2030-12-31' });
    expect(await service.record()).toMatchObject({ name: 'acme', expiresAtMs: Date.UTC(2030, 11, 31) });

    const text = await page('/keys/a');
    for (const [name, value] of Object.entries({ name: 'acme', expires: '2030-12-31T00:00Z' })) {
      expect(text).toMatch(new RegExp(`id="edit-${name}"[^>]* value="${value}"`));
      expect(text).toContain(`name="${name}-shown" value="${value}"`);
    }
    expect(text).toMatch(/<select id="move-plan"[^]*?value="free" selected/);
    expect(text).not.toMatch(/<details[^>]* open/);
    expect(await edit({ ...shown, name: 'x', expires: 'y', confirmed: 'yes' })).toMatch(
      / open><summary>Edit<(?![^]*name="confirmed")[^]*value="y"[^]*name="name-shown" value="was"/,
    );
    await edit({ name: '<b>', expires: 'never' });
    expect(await page('/keys/a')).toContain('<td>name acme → &lt;b&gt;; expires 2030-12-31 00:00 UTC → never</td>');
  });

  test('that is submitted twice reports that the key is revoked already', async () => {
    await service.issue('a');
    const revoke = () => service.visitor.follow(service.visitor.post('/keys/a/revoke', { confirmed: 'yes' }));

    expect(await revoke()).toContain('role="status">a (a) is revoked.<');
    expect(await revoke()).toContain('role="status">a (a) is revoked already.<');
    const text = await page('/keys/a');
    expect(text).toMatch(/<p>All its tokens are revoked\. The record is deleted after 20/);
    expect(text).not.toMatch(/<form|<meter|reads and changes/);
  });
});

test('A creation or a page that AWS refuses says why, and what to do', async () => {
  const creation = await world.run(() => service.visitor.create('acme'), refuse);
  const shown = await world.run(() => service.visitor.get('/keys/some-key'), refuse);
  const why = 'No (ExpiredTokenException). Renew the AWS credentials, and run the command again. It is safe to';

  expect([creation.status, shown.status]).toEqual([422, 422]);
  expect(await creation.text()).toContain(`${why} submit the form again: it creates another key`);
  expect(await shown.text()).toContain(`${why} retry: nothing was changed`);
});

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
