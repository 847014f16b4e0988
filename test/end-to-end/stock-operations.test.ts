import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { tokenEntry } from '../../shared/key-registry/key-tokens.ts';
import { generateToken } from '../../shared/keys/token.ts';
import { type Answer, ApiClient } from '../support/api-client.ts';
import { issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';
import { anEntry } from '../support/tables.ts';

let host: LocalHost;
let api: ApiClient;

beforeAll(async () => {
  host = await LocalHost.start();
  const key = await issueKey(host, { plan: 'enterprise' });
  api = ApiClient.withKey(host.baseUrl, key.token);
});

afterAll(() => host.close());

beforeEach(() => host.stock.put(anEntry(7001, 60, 'pending'), { version: 'v1' }));

const send = (method: string, path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
  api.send(method, path, {
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
const adjust = (by: number, headers?: Record<string, string>): Promise<Answer> =>
  send('POST', '/inventory/7001/adjustments', { by }, headers);
const inStock = async (): Promise<number> => (await host.stock.read('7001'))?.quantity ?? -1;

const get = (petId: string, headers = {}, method = 'GET') => api.send(method, `/inventory/${petId}`, { headers });

describe('GET /inventory/{petId}', () => {
  test('200 with the entry and its ETag, with which "sell one" is written from a read', async () => {
    const { status, text, headers } = await get('7001');
    const etag = headers.get('ETag') ?? '';

    expect([status, text, etag]).toEqual([200, '{"petId":7001,"quantity":60,"status":"pending"}', '"v1"']);
    expect(await send('PATCH', '/inventory/7001', { quantity: 59 }, { 'If-Match': etag })).toMatchObject({
      status: 200,
    });
    expect(await send('PATCH', '/inventory/7001', { quantity: 59 }, { 'If-Match': etag })).toMatchObject({
      status: 412,
    });
  });

  test.each(['GET', 'HEAD'])('304 to %s for a client that has the entry already', async (method) => {
    expect(await get('7001', { 'If-None-Match': 'W/"v0", "v1"' }, method)).toMatchObject({ status: 304, text: '' });
    expect(await get('7001', { 'If-None-Match': '"v0"' }, method)).toMatchObject({ status: 200 });
  });

  test('404 names the pet, 400 what is no petId', async () => {
    const message = 'There is no pet 999.';

    expect(await get('999')).toMatchObject({ status: 404, error: { code: 'PET_NOT_FOUND', message } });
    expect(await get('abc')).toMatchObject({ status: 400, error: { code: 'INVALID_PET_ID' } });
  });
});

describe('POST /inventory/{petId}/adjustments', () => {
  test('200 with the entry, adjusted; 409 with its ETag where there is too little', async () => {
    const answer = await adjust(-59);

    expect(answer).toMatchObject({ status: 200, text: '{"petId":7001,"quantity":1,"status":"pending"}' });
    const refused = await adjust(-2);
    expect(refused).toMatchObject({ status: 409, error: { code: 'INSUFFICIENT_STOCK' } });
    expect(refused.headers.get('ETag')).toBe(answer.headers.get('ETag'));
    expect(await inStock()).toBe(1);
  });

  test.each([0, 1.5, '1', 2_147_483_648])('400 for a difference of %j', async (by) => {
    expect(await send('POST', '/inventory/7001/adjustments', { by })).toMatchObject({
      status: 400,
      error: { code: 'INVALID_BODY', message: expect.stringContaining('"by" must be an integer') },
    });
  });

  test.each([
    ['without an Idempotency-Key', () => ({})],
    ['with one', (client: number) => ({ 'Idempotency-Key': `"take-one-${client}"` })],
  ])('100 clients that take one each of 60 get 60, %s', async (_, headersOf) => {
    const answers = await Promise.all(Array.from({ length: 100 }, (__, client) => adjust(-1, headersOf(client))));
    let statuses = answers.map(({ status }) => status);
    // Many at once may find the entry busy: that is said, and repeated with the same key.
    while (statuses.includes(503)) {
      statuses = await Promise.all(
        statuses.map(async (status, client) =>
          status === 503 ? (await adjust(-1, headersOf(client))).status : status,
        ),
      );
    }
    const count = (status: number) => statuses.filter((one) => one === status).length;

    expect([count(200), count(409), await inStock()]).toEqual([60, 40, 0]);
  });
});

test('PATCH /inventory sets each row by itself, and GET /inventory?petId= reads them back', async () => {
  await host.stock.put(anEntry(7002, 1));
  const { status, text } = await send('PATCH', '/inventory', [
    { petId: 7002, quantity: 5 },
    { petId: 7001, quantity: 6, ifMatch: '"v0"' },
    { petId: 999, quantity: 1 },
  ]);

  expect(status).toBe(200);
  expect(JSON.parse(text)).toMatchObject([{ status: 200 }, { status: 412 }, { status: 404 }]);
  for (const query of ['petId=7002,7001,999', 'petId=7002&petId=7001&petId=999']) {
    const found = await api.send('GET', `/inventory?${query}`);
    expect(JSON.parse(found.text)).toMatchObject([
      { petId: 7001, quantity: 60 },
      { petId: 7002, quantity: 5 },
    ]);
  }
  expect(await api.send('GET', '/inventory?petId=7001,7001')).toMatchObject({
    status: 400,
    error: { code: 'INVALID_QUERY' },
  });
});

test('A token that may only read gets 403 for what changes something, and reads', async () => {
  const token = generateToken();
  await issueKey(host, { tokens: tokenEntry(token, { access: 'read' }, 0) }, token);
  const reader = ApiClient.withKey(host.baseUrl, token);
  const body = { headers: { 'Content-Type': 'application/json' }, body: '{"by":-1}' };

  expect(await reader.send('POST', '/inventory/7001/adjustments', body)).toMatchObject({ status: 403 });
  expect(await reader.send('PATCH', '/inventory', { ...body, body: '[]' })).toMatchObject({ status: 403 });
  expect(await reader.send('GET', '/inventory/7001')).toMatchObject({ status: 200 });
});
