import { marshall } from '@aws-sdk/util-dynamodb';
import { tokenName } from '../../../shared/keys/key-record.ts';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { workingTokens } from '../../../infra/admin/keys/token-changes.ts';
import { BASE, Visitor } from './console-visitor.ts';
import { InProcessTarget, type Interception } from '../../support/in-process-target.ts';
import { KEY_PATTERN } from '../../support/secrets.ts';
import { aKey } from '../../support/tables.ts';

const world = new InProcessTarget();
let visitor: Visitor;

beforeEach(async () => {
  world.reset();
  visitor = await new Visitor(world.target).letIn();
});
afterAll(() => world.close());

const record = async () => (await world.keys())[0] ?? aKey();
const names = async (): Promise<string[]> => (await world.keys()).map(({ name }) => name);

test('names are escaped, and their invisible characters are shown', async () => {
  const name = ' <script>alert(1)</script>"\' A\u202eB\u001b ';
  await world.issue(aKey({ keyId: 'odd', name, revision: 1 }), 'free');
  const shown = String.raw`&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39; A\u202eB\u001b`;

  for (const path of ['/keys', '/keys/odd']) expect(await visitor.page(path)).toContain(shown);
  expect(await (await visitor.post('/keys/odd/revoke', {})).text()).toContain(shown);
});

const yesterday = Date.now() - 86_400_000;
const date = new Date(yesterday).toISOString().slice(0, 10);

test('the page of a key draws its days and the daily limit, also if its history cannot be read', async () => {
  const used = { currentMinute: Math.floor(Date.now() / 60_000), dayUsed: 50, createdAt: yesterday };
  await world.issue(aKey({ keyId: 'a', name: 'a', revision: 1, ...used }), 'free');
  world.usage = [marshall({ recordId: 'a', day: date, used: 200, refused: 40, sample: true })];
  const page = await visitor.page('/keys/a');

  // Of a top of 1,000, which is the limit.
  expect([...page.matchAll(/<rect (?:class="(\w+)")?[^>]+height="([\d.]+)"/g)].map(([, ...bar]) => bar)).toEqual([
    ['mark', '100'],
    [undefined, '20'],
    ['refused', '4'],
    [undefined, '5'],
    ['refused', '0'],
  ]);
  expect(page).toContain(`<title>${date}: 200 admitted, 40 refused</title>`);
  expect(page).toContain('Line: limit 1,000 per day<');
  expect(page).toContain(`Sample data until ${date}.`);
  expect(page).toMatch(/<dt>2 days<\/dt><dd>250<.*<dd>200 <small>on/);
  let calls = 0;
  const error = Object.assign(new Error('No'), { name: 'ServiceUnavailableException', $metadata: {} });
  const down = await world.run(
    () => visitor.page('/keys/a'),
    (perform, name) => (name === 'QueryCommand' && calls++ === 0 ? Promise.reject(error) : perform()),
  );
  expect(down).toContain('The history cannot be read. The call to AWS failed: No (ServiceUnavailableException).');
  expect(down).toContain('Suspend');
});

test('the page of a listed key, and its live figures, read only that key', async () => {
  await world.issue(aKey({ keyId: 'a', name: 'a', revision: 1 }), 'free');
  const callsOf = async (path: string) => {
    const calls: string[] = [];
    const intercept: Interception = (perform, name) => {
      calls.push(name);
      return perform();
    };
    expect(await world.run(() => visitor.page(path), intercept)).toContain('/ 1,000');
    return calls;
  };
  await visitor.page('/keys');

  expect(await callsOf('/keys/a')).toEqual(['GetItemCommand', 'QueryCommand', 'QueryCommand']);
  expect(await callsOf('/keys/a/figures')).toEqual(['GetItemCommand']);
});

describe('a form of a key', () => {
  test('that creates it shows the token in the response only', async () => {
    const text = await (await visitor.create('acme')).text();
    const [token = ''] = text.match(KEY_PATTERN) ?? [];
    const { keyId, recordId } = await record();

    expect(text).toContain(`curl -H &#39;Authorization: Bearer ${token}&#39;`);
    for (const path of ['/keys', `/keys/${keyId}`, '/overview']) {
      const page = await visitor.page(path);
      expect(page).not.toContain(token);
      expect(page).not.toContain(recordId);
    }
  });

  test('shows errors beside their fields, and keeps the input', async () => {
    const fields = { name: ' ', plan: 'enterprise', perMinute: '0', perDay: '9', expires: '2001-01-01' };
    const response = await visitor.post('/keys/new', fields);
    const text = await response.text();

    expect(response.status).toBe(422);
    for (const [field, error] of [
      ['name', 'It must be 1 to 48 bytes'],
      ['perMinute', 'It must be a whole number from 1 to'],
      ['expires', 'It must be in the future.'],
    ])
      expect(text).toMatch(new RegExp(`class="error" id="create-${field}-hint">${error}`));
    expect(text).toMatch(/name="perDay"[^>]+value="9"/);
    expect(await names()).toEqual([]);
  });

  test.each<[string, Record<string, string>, string, object]>([
    [
      'suspend',
      { for: '1h', reason: 'not paid' },
      'Suspend a key, effective from its next request[^]*<dd>1h</dd>[^]*<dd>not paid</dd>',
      { suspendedByAdmin: true },
    ],
    ['suspend', { for: '', reason: '' }, '<dd>until the key is resumed</dd>[^]*<dd>none</dd>', { enabled: false }],
    [
      'move',
      { plan: 'free' },
      'From its next request, the key has lower limits: 60 requests per minute',
      { plan: 'free' },
    ],
    ['rotate', { label: 'main', grace: '0s' }, 'Requests with main/.{4} are denied immediately, before the client', {}],
    ['end', { token: 'MAIN' }, 'Requests with the token main/.{4}, .* The key keeps reports/', {}],
    [
      'revoke',
      { reason: 'left' },
      'with all 2 tokens, are denied permanently. This cannot be undone[^]*<dd>left</dd>',
      { revoked: true },
    ],
  ])('that can lock out a customer asks for confirmation: %s', async (name, fields, question, change) => {
    await visitor.create('acme');
    const before = await record();
    await visitor.post(`/keys/${before.keyId}/add`, { label: 'reports' });
    await visitor.post(`/keys/${before.keyId}/move`, { plan: 'pro' });
    const asked = await record();
    const token = workingTokens(before, Date.now()).map(tokenName)[0] ?? '';
    const sent = { ...fields, ...('token' in fields && { token }) };
    const path = `/keys/${before.keyId}/${name}`;
    const response = await visitor.post(path, sent);
    const text = await response.text();

    expect({ status: response.status, record: await record() }).toEqual({ status: 200, record: asked });
    expect(text).toMatch(new RegExp(`<h1>.*: acme\\?</h1>[^]*${question}`));
    const hidden = Object.fromEntries(
      [...text.matchAll(/type="hidden" name="(\w+)" value="(.*?)"/g)].map(([, key = '', value = '']) => [key, value]),
    );
    expect(hidden).toEqual({ ...sent, confirmed: 'yes' });
    expect((await visitor.post(path, hidden)).status).toBeLessThan(400);
    expect(await record()).toMatchObject(change);
    expect((await record()).revision).toBeGreaterThan(asked.revision);
    // The question, and what is done, loaded again.
    expect((await visitor.get(path)).headers.get('Location')).toBe(`${BASE}/keys/${before.keyId}`);
  });

  test('that edits it changes only the fields that were edited', async () => {
    await visitor.create('acme');
    const { keyId } = await record();
    const edit = (fields: Record<string, string>) => visitor.post(`/keys/${keyId}/edit`, fields);
    // What is as it was shown stays: another admin may have changed it since.
    const shown = { 'name-shown': 'was', 'expires-shown': 'never' };
    await edit({ ...shown, name: 'was', expires: '2030-12-31' });
    const page = await visitor.page(`/keys/${keyId}`);
    for (const [name, value] of [
      ['name', 'acme'],
      ['expires', '2030-12-31T00:00Z'],
    ]) {
      expect(page).toMatch(new RegExp(`id="edit-${name}"[^>]* value="${value}"`));
      expect(page).toContain(`name="${name}-shown" value="${value}"`);
    }
    expect(page).toMatch(/<select id="move-plan"[^]*?value="free" selected/);
    expect(page).not.toMatch(/<details[^>]* open/);
    expect(await (await edit({ ...shown, name: 'x', expires: 'y', confirmed: 'yes' })).text()).toMatch(
      /<details class="card " open><summary>Edit<(?![^]*name="confirmed")[^]*value="y"[^]*name="name-shown" value="was"/,
    );
    expect(await record()).toMatchObject({ name: 'acme', expiresAtMs: Date.UTC(2030, 11, 31) });
    await edit({ name: '<b>', expires: 'never' });

    expect(await record()).toMatchObject({ name: '<b>' });
    expect(await record()).not.toHaveProperty('expiresAtMs');
    expect(await visitor.page(`/keys/${keyId}`)).toMatch(
      /<td>ann<\/td><td>name acme → &lt;b&gt;; expires 2030-12-31 00:00 UTC → never<\/td>/,
    );
  });

  test('that is sent twice says that it is done already', async () => {
    await visitor.create('acme');
    const { keyId } = await record();
    const revoke = async () => {
      const page = await visitor.follow(visitor.post(`/keys/${keyId}/revoke`, { confirmed: 'yes' }));
      return /role="status">(.*?)</.exec(page)?.[1];
    };

    expect(await revoke()).toBe(`acme (${keyId}) is revoked.`);
    expect(await revoke()).toBe(`acme (${keyId}) is revoked already.`);
    const page = await visitor.page(`/keys/${keyId}`);
    expect(page).toMatch(/<p>All its tokens are revoked\. The record is deleted after 20/);
    expect(page).not.toMatch(/<form|<meter|reads and changes/);
  });

  test('shows a failure of AWS, and what to do', async () => {
    const error = Object.assign(new Error('No'), { name: 'ExpiredTokenException', $metadata: {} });
    for (const [request, retryEffect] of [
      [() => visitor.create('acme'), 'submit the form again: it creates another key'],
      [() => visitor.get('/keys/some-key'), 'retry: nothing was changed'],
    ] as const) {
      const response = await world.run(request, () => Promise.reject(error));
      expect(response.status).toBe(422);
      expect(await response.text()).toContain(
        `The call to AWS failed: No (ExpiredTokenException). Renew the AWS credentials, and run the command again. It is safe to ${retryEffect}`,
      );
    }
    expect(await names()).toEqual([]);
  });
});

test('the page of an unknown key is 404 and says so', async () => {
  const response = await visitor.get('/keys/nope');

  expect(response.status).toBe(404);
  expect(await response.text()).toContain('This key does not exist, or its record was deleted.');
});
