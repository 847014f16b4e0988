import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Hono } from 'hono';
import { createConsole } from '../../../infra/admin/console/console-app.ts';
import { InProcessTarget } from '../../support/in-process-target.ts';
import { aKey } from '../../support/tables.ts';
import { KEY_PATTERN } from '../../support/secrets.ts';

const ORIGIN = 'http://127.0.0.1:4000';
const TOKEN = 'the-token';

const world = new InProcessTarget();
afterAll(() => world.close());

/** An admin's browser, as far as the console can tell. */
class Visitor {
  readonly #app: Hono = createConsole(world.target, ORIGIN, TOKEN);
  readonly #headers: Record<string, string> = { Host: '127.0.0.1:4000', 'Sec-Fetch-Site': 'same-origin' };

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    return Promise.resolve(this.#app.request(ORIGIN + path, { headers: { ...this.#headers, ...headers } }));
  }

  async letIn(): Promise<this> {
    const answer = await this.get(`/?token=${TOKEN}`, { 'Sec-Fetch-Site': 'none' });
    this.#headers['Cookie'] = answer.headers.get('Set-Cookie')?.split(';')[0] ?? '';
    return this;
  }

  post(path: string, fields: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}) {
    const body = new URLSearchParams(fields);
    const all = Object.entries({ ...this.#headers, Origin: ORIGIN, ...headers });
    const sent = Object.fromEntries(all.filter(([, value]) => value !== ''));
    return Promise.resolve(this.#app.request(ORIGIN + path, { method: 'POST', body, headers: sent }));
  }

  /** The ticket of the form on a page that is sent to a path. */
  async ticket(page: string, path = page): Promise<string> {
    const text = await (await this.get(page)).text();
    return new RegExp(`action="${path}"[^]*?name="ticket" value="([^"]+)"`).exec(text)?.[1] ?? '';
  }

  async create(name: string): Promise<Response> {
    return this.post('/keys/new', { name, plan: 'free', ticket: await this.ticket('/keys/new') });
  }
}

let visitor: Visitor;

beforeEach(async () => {
  world.reset();
  visitor = await new Visitor().letIn();
});

const names = async (): Promise<string[]> => (await world.keys()).map(({ name }) => name);

describe('The token in the address', () => {
  test('is exchanged, once, for a cookie that no other page can use', async () => {
    const stranger = new Visitor();
    const answer = await stranger.get(`/?token=${TOKEN}`);

    expect(answer.status).toBe(303);
    expect(answer.headers.get('Location')).toBe('/keys');
    expect(answer.headers.get('Set-Cookie')).toMatch(/^console-4000=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
    expect((await stranger.get(`/?token=${TOKEN}`)).status).toBe(401);
  });

  test.each([
    '/',
    '/keys',
    '/keys/x',
    '/keys/rows',
    '/plans',
    '/stock',
    '/stock/export.csv',
    '/?token=another',
    '/nowhere',
  ])('is missed at %s', async (path) => {
    expect((await new Visitor().get(path)).status).toBe(401);
    expect((await new Visitor().get(path, { Cookie: 'console-4000=guessed' })).status).toBe(401);
  });
});

describe.each(['/keys', '/stock/export.csv', '/console.css', `/?token=${TOKEN}`])('%s refuses', (path) => {
  test.each<[string, Record<string, string>]>([
    ['another host', { Host: 'localhost:4000' }],
    ['a name that somebody points here', { Host: 'rebound.example:4000' }],
    ['another origin', { Origin: 'https://evil.example' }],
    ['an origin that is hidden', { Origin: 'null' }],
    ['another port of this machine', { Origin: 'http://127.0.0.1:3000', 'Sec-Fetch-Site': 'same-site' }],
    ['a link from another page', { 'Sec-Fetch-Site': 'cross-site' }],
  ])('%s', async (_, headers) => {
    expect((await visitor.get(path, headers)).status).toBe(403);
  });
});

describe('A form', () => {
  test('is done once, and refused when it comes again', async () => {
    const form = { name: 'acme', plan: 'free', ticket: await visitor.ticket('/keys/new') };
    const answers = [await visitor.post('/keys/new', form), await visitor.post('/keys/new', form)];

    expect(answers.map(({ status }) => status)).toEqual([200, 409]);
    expect(await names()).toEqual(['acme']);
  });

  test.each<[string, number, Record<string, string>, Record<string, string>]>([
    ['without a ticket', 409, {}, {}],
    ['with a ticket that was guessed', 409, { ticket: 'x' }, {}],
    ['from another origin', 403, {}, { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' }],
    ['that names no origin', 403, {}, { Origin: '' }],
    ['without the cookie', 401, {}, { Cookie: '' }],
  ])('%s is refused', async (_, status, fields, headers) => {
    expect((await visitor.post('/keys/new', { name: 'acme', plan: 'free', ...fields }, headers)).status).toBe(status);
    expect(await names()).toEqual([]);
  });

  test('is good for nothing else', async () => {
    await visitor.create('acme');
    const { keyId } = (await world.keys())[0] ?? aKey();
    const ticket = await visitor.ticket(`/keys/${keyId}`, `/keys/${keyId}/suspend`);

    expect((await visitor.post(`/keys/${keyId}/revoke`, { name: 'acme', ticket })).status).toBe(409);
    expect((await visitor.post(`/keys/${keyId}/suspend`, { for: '1h', ticket })).status).toBe(303);
  });
});

test('Every answer forbids scripts and styles in place, frames, and keeping it', async () => {
  for (const path of ['/keys', '/console.js', '/nowhere', '/keys/nobody']) {
    const { headers } = await visitor.get(path);
    expect(headers.get('Content-Security-Policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    );
    expect(Object.fromEntries(headers)).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'same-origin',
    });
    expect((await new Visitor().get(path)).headers.get('Cache-Control')).toBe('no-store');
  }
});

test('A new key is in the answer to its form, and nowhere else', async () => {
  const answer = await visitor.create('acme');
  const text = await answer.text();
  const [key = ''] = text.match(KEY_PATTERN) ?? [];
  const { keyId, keyHash } = (await world.keys())[0] ?? aKey();

  expect(text).toContain(`curl -H &#39;Authorization: Bearer ${key}&#39;`);
  for (const path of ['/keys', `/keys/${keyId}`, `/keys/${keyId}/live`, '/plans']) {
    const page = await (await visitor.get(path)).text();
    expect(page).not.toContain(key);
    expect(page).not.toContain(keyHash);
  }
});

test('What others have named is text', async () => {
  await visitor.create('<script>alert(1)</script>"\'');

  expect(await (await visitor.get('/keys')).text()).toContain('&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;');
});

test('What is wrong with a form is said beside its fields, which keep what was entered', async () => {
  const fields = { name: ' ', plan: 'enterprise', perMinute: '0', perDay: '9', expires: '2001-01-01' };
  const answer = await visitor.post('/keys/new', { ...fields, ticket: await visitor.ticket('/keys/new') });
  const text = await answer.text();

  expect(answer.status).toBe(422);
  for (const [field, fault] of [
    ['name', 'It must be 1 to 100 characters'],
    ['perMinute', 'It must be a whole number from 1 to'],
    ['expires', 'It must lie in the future.'],
  ])
    expect(text).toMatch(new RegExp(`class="fault" id="create-${field}-hint">${fault}`));
  expect(text).toMatch(/name="perDay"[^>]+value="9"/);
  expect(await names()).toEqual([]);
});

describe('What AWS refuses is a sentence that says what to do', () => {
  test.each([
    ['ExpiredTokenException', 'Renew the AWS credentials, and start the command again.'],
    ['CredentialsProviderError', 'Renew the AWS credentials, and start the command again.'],
    ['AccessDeniedException', 'The AWS credentials lack this permission: ask whoever manages the account for it.'],
    ['TooManyRequestsException', 'AWS takes no more calls for now: wait a minute.'],
  ])('%s', async (name, remedy) => {
    const ticket = await visitor.ticket('/keys/new');
    const refuse = () => Promise.reject(Object.assign(new Error('No'), { name, $metadata: {} }));
    const answers = [
      await world.run(() => visitor.post('/keys/new', { name: 'acme', plan: 'free', ticket }), refuse),
      await world.run(() => visitor.get('/keys/some-key'), refuse),
    ];

    for (const answer of answers) {
      expect(answer.status).toBe(422);
      expect(await answer.text()).toContain(`AWS could not be used: No (${name}). ${remedy} It is safe to`);
    }
    expect(await names()).toEqual([]);
  });
});
