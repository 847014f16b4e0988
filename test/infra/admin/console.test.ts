import { afterAll, afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { tokenName, workingTokens } from '../../../shared/key-registry/key-tokens.ts';
import { BASE, LINK, ORIGIN, Visitor } from '../../support/console-visitor.ts';
import { InProcessTarget } from '../../support/in-process-target.ts';
import { aKey } from '../../support/tables.ts';
import { KEY_PATTERN } from '../../support/secrets.ts';

const world = new InProcessTarget();
afterAll(() => world.close());
afterEach(() => {
  jest.restoreAllMocks();
});

let visitor: Visitor;

beforeEach(async () => {
  world.reset();
  visitor = await new Visitor(world.target).letIn();
});

const names = async (): Promise<string[]> => (await world.keys()).map(({ name }) => name);

describe('The token in the address', () => {
  test.each(['none', 'cross-site'])('is exchanged, once, for a cookie of this path alone, from %s', async (site) => {
    const stranger = new Visitor(world.target);
    const answer = await stranger.request(LINK, { 'Sec-Fetch-Site': site });

    expect(answer.status).toBe(200);
    expect(answer.headers.get('Refresh')).toBe(`0; url=${BASE}/overview`);
    expect(answer.headers.get('Set-Cookie')).toMatch(
      /^console-4000=[\w-]{22}; Path=\/the-base; HttpOnly; SameSite=Strict$/,
    );
    expect((await stranger.request(LINK)).status).toBe(401);
  });

  test.each(['/keys', '/stock/export.csv', '/?token=another', '/nowhere'])('is missed at %s', async (path) => {
    expect((await new Visitor(world.target).get(path)).status).toBe(401);
    expect((await new Visitor(world.target).get(path, { Cookie: 'console-4000=guessed' })).status).toBe(401);
    // The cookie alone, as a program at another port may have got it.
    expect((await visitor.request(path)).status).toBe(401);
    expect((await visitor.request(`/guessed${path}`)).status).toBe(401);
  });
});

test('Pages, data and files are refused at a name that is pointed here', async () => {
  for (const path of [`${BASE}/keys`, `${BASE}/stock/export.csv`, '/console.css'])
    expect((await visitor.request(path, { Host: 'rebound.example:4000' })).status).toBe(403);
});

test('The token is refused at another name', async () => {
  const stranger = new Visitor(world.target);
  expect((await stranger.request(LINK, { Host: 'rebound.example:4000' })).status).toBe(403);
});

describe('A form', () => {
  const foreign = { 'Sec-Fetch-Site': 'cross-site' };

  test.each<[string, number, Record<string, string>]>([
    ['from another origin', 403, { ...foreign, Origin: 'https://evil.example' }],
    ['from another port of this machine', 403, { 'Sec-Fetch-Site': 'same-site', Origin: 'http://127.0.0.1:3000' }],
    ['from a page without an origin', 403, { ...foreign, Origin: 'null' }],
    ['that names no origin', 403, { 'Sec-Fetch-Site': '', Origin: '' }],
    ['at a name that is pointed here', 403, { Host: 'rebound.example:4000' }],
    ['without the cookie', 401, { Cookie: '' }],
  ])('%s is refused', async (_, status, headers) => {
    expect((await visitor.post('/keys/new', { name: 'acme', plan: 'free' }, headers)).status).toBe(status);
    expect(await names()).toEqual([]);
  });

  test('that is sent twice says what is so already', async () => {
    await visitor.create('acme');
    const { keyId } = (await world.keys())[0] ?? aKey();
    const revoke = async () => {
      const answer = await visitor.post(`/keys/${keyId}/revoke`, { sure: 'yes' });
      return new URLSearchParams(answer.headers.get('Location')?.split('?')[1]).get('done') ?? answer.text();
    };

    expect(await revoke()).toBe(`acme (${keyId}) is revoked.`);
    expect(await revoke()).toContain(`acme (${keyId}) is revoked already.`);
  });
});

describe('What is sent to a form', () => {
  const path = `${BASE}/stock/import`;
  const type = { Origin: ORIGIN, 'Content-Type': 'multipart/form-data', 'Content-Length': '9' };

  test.each<[string, number, Record<string, string>]>([
    ['by a stranger', 401, { Cookie: '' }],
    ['that is larger than the rows of two seconds', 413, { 'Content-Length': String(2 ** 20 + 1) }],
    ['by another page', 403, { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' }],
  ])('%s is not read', async (_, status, headers) => {
    let isRead = false;
    async function* parts(): AsyncGenerator<Uint8Array> {
      isRead = true;
      yield Buffer.from('file=x');
    }
    const init = { method: 'POST', body: ReadableStream.from(parts()), duplex: 'half' } as const;
    expect((await visitor.request(path, { ...type, ...headers }, init)).status).toBe(status);
    expect(isRead).toBe(false);
  });

  test('that is too large may be imported by a command, which names the service', async () => {
    const production = await new Visitor({ ...world.target, option: '--stage production' }).letIn();
    const large = { ...type, 'Content-Length': String(2 ** 20 + 1) };
    const answer = await production.request(path, large, { method: 'POST', body: 'file=x' });

    expect(await answer.text()).toContain(
      'The file is larger than 1 MiB. Nothing was written. Import it at the terminal: npm run admin -- --stage production inventory import FILE',
    );
  });
});

test.each(['page=Infinity', 'state=__proto__&plan=constructor'])(
  'The list of keys takes any query: %s',
  async (query) => {
    expect(await (await visitor.get(`/keys?${query}`)).text()).toContain('Search');
  },
);

test('What cannot be seen in a name is shown as a text', async () => {
  await world.issue(aKey({ keyId: 'odd', name: ' A\u202eB  C\u001b ', revision: 1 }), 'free');
  for (const path of ['/keys', '/keys/odd', '/keys/odd/revoke'])
    expect(await (await visitor.get(path)).text()).toContain(String.raw`A\u202eB  C\u001b`);
});

test('Every answer forbids scripts and styles in place, frames, and keeping it', async () => {
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

test('The overview adds up what keys did, and names those that are close to a limit', async () => {
  const currentMinute = Math.floor(Date.now() / 60_000);
  jest.spyOn(Date, 'now').mockReturnValue(currentMinute * 60_000);
  const used = { currentMinute, minuteUsed: 2, minuteRefused: 3, dayUsed: 4 };
  await world.issue(aKey({ keyId: 'a', name: 'A', revision: 1, ...used }), 'free');
  await world.issue(aKey({ keyId: 'b', name: 'B', revision: 1, ...used, dayUsed: 950 }), 'free');
  await world.issue(aKey({ keyId: 'c', name: 'C', revision: 1 }), 'free');
  const page = await (await visitor.get('/overview')).text();
  const keysIn = (label: string) =>
    [...(page.split(`aria-label="${label}"`)[1]?.split('</table>')[0] ?? '').matchAll(/href="keys\/(\w)"/g)].map(
      ([, id]) => id,
    );

  expect([...page.matchAll(/<dd>(.+?)<\/dd>/g)].map(([, text]) => text)).toEqual(['954', '4', '6', '2 of 3']);
  expect(keysIn('Keys close to a limit')).toEqual(['b']);
});

test('A new key is in the answer to its form, and nowhere else', async () => {
  const answer = await visitor.create('acme');
  const text = await answer.text();
  const [key = ''] = text.match(KEY_PATTERN) ?? [];
  const { keyId, recordId } = (await world.keys())[0] ?? aKey();

  expect(text).toContain(`curl -H &#39;Authorization: Bearer ${key}&#39;`);
  for (const path of ['/keys', `/keys/${keyId}`, '/overview']) {
    const page = await (await visitor.get(path)).text();
    expect(page).not.toContain(key);
    expect(page).not.toContain(recordId);
  }
});

test.each(['', '/suspend'])('A key that there is not is said on a page: /keys/nope%s', async (path) => {
  const answer = await visitor.get(`/keys/nope${path}`);

  expect(answer.status).toBe(404);
  expect(await answer.text()).toContain('There is no such key. It was revoked, or never made.');
});

test.each(['rotate', 'add', 'end', 'suspend?for=dog', 'move?plan=enterprise&perMinute=x'])(
  'The page that a form has led to leads to its key when it is loaded again: %s',
  async (path) => {
    await visitor.create('acme');
    const { keyId } = (await world.keys())[0] ?? aKey();
    const answer = await visitor.get(`/keys/${keyId}/${path}`);

    expect(answer.status === 302 ? answer.headers.get('Location') : await answer.text()).toContain(`/keys/${keyId}`);
    expect(answer.status).toBeLessThan(400);
  },
);

test('A rotation without a grace asks about each token that it ends, and names them when it is done', async () => {
  await visitor.create('acme');
  const { keyId } = (await world.keys())[0] ?? aKey();
  const path = `/keys/${keyId}/rotate`;
  const rotate = async (grace: string) => {
    return (await visitor.post(path, { label: 'main', grace, sure: 'yes' })).text();
  };
  await rotate('1h');
  const [one, other] = workingTokens((await world.keys())[0] ?? aKey(), Date.now()).map(tokenName);

  expect(await (await visitor.get(`${path}?label=main&grace=0s`)).text()).toContain(
    `Requests with ${one} or ${other} are refused at once`,
  );
  expect(await rotate('0s')).toContain(`Refused from now on: ${one}, ${other}.`);
});

test('What others have named is text', async () => {
  await visitor.create('<script>alert(1)</script>"\'');

  expect(await (await visitor.get('/keys')).text()).toContain('&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;');
});

test('What is wrong with a form is said beside its fields, which keep what was entered', async () => {
  const fields = { name: ' ', plan: 'enterprise', perMinute: '0', perDay: '9', expires: '2001-01-01' };
  const answer = await visitor.post('/keys/new', fields);
  const text = await answer.text();

  expect(answer.status).toBe(422);
  for (const [field, fault] of [
    ['name', 'It must be 1 to 100 bytes'],
    ['perMinute', 'It must be a whole number from 1 to'],
    ['expires', 'It must lie in the future.'],
  ])
    expect(text).toMatch(new RegExp(`class="fault" id="create-${field}-hint">${fault}`));
  expect(text).toMatch(/name="perDay"[^>]+value="9"/);
  expect(await names()).toEqual([]);
});

test('What AWS refuses is said on a page, with what to do', async () => {
  const error = Object.assign(new Error('No'), { name: 'ExpiredTokenException', $metadata: {} });
  for (const [request, again] of [
    [() => visitor.post('/keys/new', { name: 'acme', plan: 'free' }), 'send the form again: it makes another key'],
    [() => visitor.get('/keys/some-key'), 'do the same again: nothing was changed'],
  ] as const) {
    const answer = await world.run(request, () => Promise.reject(error));
    expect(answer.status).toBe(422);
    expect(await answer.text()).toContain(
      `AWS could not be used: No (ExpiredTokenException). Renew the AWS credentials, and start the command again. It is safe to ${again}`,
    );
  }
  expect(await names()).toEqual([]);
});
