import { type Check, expectSame, expectThat } from './check.ts';
import type { RequestParts, Service, ServiceAnswer } from './service.ts';

/** Entries that are read of a list; a store may have millions. */
const ENOUGH = 5_000;

/** Above so many requests a minute an instance counts several at once, so that an answer may not count down. */
const COUNTED_ONE_BY_ONE = 1_000;

/** A petId that no store gives to a pet. */
const NO_PET = '-9223372036854775808';

/** A body beyond the 16 KiB that the service takes. */
const LONG_BODY = JSON.stringify({ quantity: 1, note: 'x'.repeat(17 * 1_024) });

const PATCH_NO_PET = `PATCH /inventory/${NO_PET}`;
const patch = (body: string, type = 'application/json'): RequestParts => ({ headers: { 'Content-Type': type }, body });

/** What a reader sees: 19 requests. */
export const readOnlyChecks: readonly Check[] = [
  {
    name: 'the base address ends in /v1',
    run: ({ url }) => {
      expectThat(url.endsWith('/v1'), `it is ${url}`);
      return Promise.resolve(url);
    },
  },
  { name: 'GET /inventory lists the stock, ascending by petId', run: listStock },
  { name: 'limit and cursor lead from page to page', run: followPages },
  { name: 'status lists only entries with that status', run: filterByStatus },
  { name: 'a list is compressed where the client allows it', run: compress },
  { name: 'GET /store/orders lists orders, marked as beta', run: listOrders },
  { name: 'GET /pets/{petId} says that it is deprecated, and until when', run: showDeprecation },
  { name: 'the limit headers count down', run: countDown },
  refusal('no key is refused', 401, 'API_KEY_MISSING', 'GET /inventory', { key: 'none' }),
  refusal('a mistyped key is refused', 401, 'API_KEY_INVALID', 'GET /inventory', { key: 'mistyped' }),
  refusal('an unknown path is refused', 404, 'ROUTE_NOT_FOUND', 'GET /smoke-check'),
  refusal(
    'an unknown method is refused, and those that are known are named',
    405,
    'METHOD_NOT_ALLOWED',
    'DELETE /inventory',
  ),
  refusal('a bad limit is refused', 400, 'INVALID_QUERY', 'GET /inventory?limit=0'),
  refusal('a made-up cursor is refused', 400, 'INVALID_CURSOR', 'GET /inventory?limit=1&cursor=smoke'),
  refusal('an unknown pet is refused', 404, 'PET_NOT_FOUND', `GET /pets/${NO_PET}`),
  { name: 'a page of another origin may ask first, without a key', run: preflight },
];

/** What the service refuses to those who update: 4 requests, none of which can change anything. */
export const updateRefusalChecks: readonly Check[] = [
  refusal(
    'a petId that is no number is refused',
    400,
    'INVALID_PET_ID',
    'PATCH /inventory/smoke',
    patch('{"quantity":1}'),
  ),
  refusal('a bad body is refused', 400, 'INVALID_BODY', PATCH_NO_PET, patch('{"quantity":-1}')),
  refusal('a long body is refused', 413, 'PAYLOAD_TOO_LARGE', PATCH_NO_PET, patch(LONG_BODY)),
  refusal(
    'a body that is not JSON is refused',
    415,
    'UNSUPPORTED_MEDIA_TYPE',
    PATCH_NO_PET,
    patch('{"quantity":1}', 'text/plain'),
  ),
];

/** @param request method and path */
function refusal(name: string, status: number, code: string, request: string, parts: RequestParts = {}): Check {
  const [method = '', path = ''] = request.split(' ');
  const run = async (service: Service): Promise<string> => {
    await service.expectRefusal(status, code, method, path, parts);
    return `${status} ${code}`;
  };
  return { name, run };
}

async function listStock({ client }: Service): Promise<string> {
  let last: bigint | undefined;
  let count = 0;
  for await (const { petId } of client.listInventory()) {
    expectThat(last === undefined || petId > last, `${petId} comes after ${last}`);
    last = petId;
    count += 1;
    if (count === ENOUGH) return `the first ${count} entries of a longer list`;
  }
  return `${count} entries, complete`;
}

async function followPages({ client }: Service): Promise<string> {
  const first = await client.listInventoryPage({ limit: 2 });
  if (first.next === undefined) {
    expectThat(first.data.length <= 2, `a page of 2 has ${first.data.length} entries`);
    return `${first.data.length} entries on the only page`;
  }
  expectSame('the length of the first page', first.data.length, 2);
  const second = await client.listInventoryPage({ limit: 2, cursor: first.next });
  const ids = [...first.data, ...second.data].map(({ petId }) => petId);
  const areAscending = ids.every((id, index) => id > (ids[index - 1] ?? id - 1n));
  expectThat(areAscending, `the petIds are ${ids.join(', ')}`);
  return `petIds ${ids.join(', ')}`;
}

async function filterByStatus({ client }: Service): Promise<string> {
  const { data } = await client.listInventoryPage({ limit: 10, status: 'sold' });
  const others = data.filter(({ status }) => status !== 'sold');
  expectSame('the number of other entries', others.length, 0);
  return `${data.length} entries, all sold`;
}

async function compress(service: Service): Promise<string> {
  const list = (encoding: string): Promise<ServiceAnswer> =>
    service.send('GET', '/inventory?limit=1000', { headers: { 'Accept-Encoding': encoding } });
  const compressed = await list('gzip');
  const plain = await list('identity');
  for (const { status, headers } of [compressed, plain]) {
    expectSame('the status', status, 200);
    expectThat(/\baccept-encoding\b/i.test(headers.get('Vary') ?? ''), 'Vary does not name Accept-Encoding');
  }
  expectSame('Content-Encoding', compressed.headers.get('Content-Encoding'), 'gzip');
  expectThat(!plain.headers.has('Content-Encoding'), 'it is compressed where the client does not allow it');
  JSON.parse(compressed.text);
  return 'gzip with Accept-Encoding: gzip, plain without';
}

async function listOrders(service: Service): Promise<string> {
  const { status, headers, text } = await service.send('GET', '/store/orders?limit=1');
  expectSame('the status', status, 200);
  expectSame('X-API-Stability', headers.get('X-API-Stability'), 'beta');
  expectThat(Array.isArray(JSON.parse(text)), 'the body is not a list');
  return 'X-API-Stability: beta';
}

async function showDeprecation(service: Service): Promise<string> {
  const { petId } = await service.anEntry();
  const { status, headers } = await service.send('GET', `/pets/${petId}`);
  expectThat(status === 200 || status === 404, `the status is ${status}`);
  const sunset = headers.get('Sunset') ?? '';
  expectThat(/^@\d+$/.test(headers.get('Deprecation') ?? ''), 'the header Deprecation is missing');
  expectThat(Number.isFinite(Date.parse(sunset)), 'the header Sunset is no date');
  const link = headers.get('Link') ?? '';
  expectThat(link.includes('rel="deprecation"') && link.includes('rel="sunset"'), 'Link does not lead to a page');
  return `until ${sunset}`;
}

async function countDown(service: Service): Promise<string> {
  const { minute: before } = (await service.send('GET', '/inventory?limit=1')).limits;
  const { minute: after } = (await service.send('GET', '/inventory?limit=1')).limits;
  expectThat(before !== undefined && after !== undefined, 'the minute is not named');
  if (after.reset.getTime() - before.reset.getTime() > 30_000) return 'a new minute began';
  const step = before.limit > COUNTED_ONE_BY_ONE ? 0 : 1;
  const counts = `${before.remaining}, then ${after.remaining} of ${before.limit}`;
  expectThat(after.remaining <= before.remaining - step, counts);
  return counts;
}

async function preflight(service: Service): Promise<string> {
  const { status, headers } = await service.send('OPTIONS', '/inventory/1', {
    key: 'none',
    headers: {
      Origin: 'https://smoke.invalid',
      'Access-Control-Request-Method': 'PATCH',
      'Access-Control-Request-Headers': 'authorization,content-type',
    },
  });
  expectSame('the status', status, 204);
  const methods = headers.get('Access-Control-Allow-Methods') ?? '';
  expectThat(methods.includes('PATCH'), `Access-Control-Allow-Methods is ${methods}`);
  const allowed = (headers.get('Access-Control-Allow-Headers') ?? '').toLowerCase();
  for (const name of ['authorization', 'content-type', 'if-match', 'idempotency-key']) {
    expectThat(allowed.includes(name), `Access-Control-Allow-Headers lacks ${name}`);
  }
  return `204 for ${headers.get('Access-Control-Allow-Origin')}`;
}
