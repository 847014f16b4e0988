import { randomUUID } from 'node:crypto';
import { ApiError, type ApiResponse, type InventoryItem } from '../../shared/client/pet-store-inventory-client.ts';
import { challenges } from '../../shared/http/authorizer-result.ts';
import { helpOf } from '../support/promises.ts';
import {
  type Check,
  checksOf,
  type Expectation,
  expectResponse,
  expectSame,
  expectThat,
  NotApplicable,
} from './check.ts';
import type { RequestParts, Service } from './service.ts';

/** Entries that are read of a list, the largest page; a store may have millions. */
const ENOUGH = 1_000;

/** Why an update cannot be tried in a new store. */
export const EMPTY = 'the store is empty';

/** Above so many requests per minute an instance counts several at once, so that a response may not count down. */
const COUNTED_ONE_BY_ONE = 1_000;

/** A petId that no store gives to a pet. */
const NO_PET = '-9223372036854775808';
const PATCH_NO_PET = `PATCH /inventory/${NO_PET}`;
/** A body beyond the 16 KiB that the service takes. */
const LONG_BODY = JSON.stringify({ quantity: 1, note: 'x'.repeat(17 * 1_024) });

const A_LIST = /^\[.*\]$/s;

const accepting = (encoding: string): RequestParts => ({ headers: { 'Accept-Encoding': encoding } });
const patch = (body: string, type = 'application/json'): RequestParts => ({
  headers: { 'Content-Type': type },
  body,
});
const denied = (code: keyof typeof challenges) => ({
  code,
  headers: { 'WWW-Authenticate': challenges[code], 'X-RateLimit-Limit': '0' },
});

const readings: Readonly<Record<string, Expectation>> = {
  'status lists only entries with that status': {
    request: 'GET /inventory?limit=10&status=sold',
    body: /^\[(?:\{[^{}]*"status":"sold"[^{}]*\},?)*\]$/,
  },
  'a list is compressed if the client allows it': {
    request: 'GET /inventory?limit=1000',
    parts: accepting('gzip'),
    headers: { 'Content-Encoding': 'gzip', Vary: ['accept-encoding'] },
    body: A_LIST,
  },
  'a list is not compressed unless the client allows it': {
    request: 'GET /inventory?limit=1000',
    parts: accepting('identity'),
    headers: { 'Content-Encoding': '', Vary: ['accept-encoding'] },
    body: A_LIST,
  },
  'GET /store/orders lists orders, marked as beta': {
    request: 'GET /store/orders?limit=1',
    headers: { 'X-API-Stability': 'beta' },
    body: A_LIST,
  },
  'GET /pets/{petId} returns its deprecation and sunset, and refuses an unknown pet': {
    request: `GET /pets/${NO_PET}`,
    code: 'PET_NOT_FOUND',
    headers: { Deprecation: ['@'], Sunset: [' GMT'] },
  },
  'a request without a key is denied': {
    request: 'GET /inventory',
    parts: { key: 'none' },
    ...denied('API_KEY_MISSING'),
  },
  'a mistyped key is denied': { request: 'GET /inventory', parts: { key: 'mistyped' }, ...denied('API_KEY_INVALID') },
  'an unknown path is refused': { request: 'GET /smoke-check', code: 'ROUTE_NOT_FOUND' },
  'an unknown method is refused with the known ones': {
    request: 'DELETE /inventory',
    code: 'METHOD_NOT_ALLOWED',
    headers: { Allow: 'GET, HEAD, PATCH, OPTIONS' },
  },
  'an unknown query parameter is refused': { request: 'GET /key?smoke=1', code: 'INVALID_QUERY' },
  'an invalid limit is refused': { request: 'GET /inventory?limit=0', code: 'INVALID_QUERY' },
  'an invalid cursor is refused': { request: 'GET /inventory?limit=1&cursor=smoke', code: 'INVALID_CURSOR' },
  'a CORS preflight needs no key': {
    request: 'OPTIONS /inventory/1',
    parts: {
      key: 'none',
      headers: { Origin: 'https://smoke.invalid', 'Access-Control-Request-Method': 'PATCH' },
    },
    status: 204,
    headers: {
      'Access-Control-Allow-Methods': ['patch'],
      'Access-Control-Allow-Headers': ['authorization', 'content-type', 'if-match', 'idempotency-key'],
    },
    body: /^$/,
  },
};

/** Updates that the service refuses. None can change anything. */
const refusedUpdates: Readonly<Record<string, Expectation>> = {
  'a petId that is not a number is refused': {
    request: 'PATCH /inventory/smoke',
    parts: patch('{"quantity":1}'),
    code: 'INVALID_PET_ID',
  },
  'an invalid body is refused': { request: PATCH_NO_PET, parts: patch('{"quantity":-1}'), code: 'INVALID_BODY' },
  'a long body is refused': { request: PATCH_NO_PET, parts: patch(LONG_BODY), code: 'PAYLOAD_TOO_LARGE' },
  'a body that is not JSON is refused': {
    request: PATCH_NO_PET,
    parts: patch('{"quantity":1}', 'text/plain'),
    code: 'UNSUPPORTED_MEDIA_TYPE',
  },
};

export const readOnlyChecks: readonly Check[] = [
  { name: 'GET /inventory lists the stock, ascending by petId', run: listStock },
  { name: 'limit and cursor return page after page', run: followPages },
  { name: 'the limit headers count down', run: countDown },
  { name: 'GET /key matches the limit headers', run: readKey },
  ...checksOf(readings),
  { name: 'an error links to the page that explains it', run: followHelp },
];

export const updatingChecks: readonly Check[] = [
  ...checksOf(refusedUpdates),
  { name: 'an update takes effect once, only with the current ETag, and is reverted', run: updateAndPutBack },
];

async function listStock({ client }: Service): Promise<string> {
  const { data, next } = await client.listInventoryPage({ limit: ENOUGH });
  for (const [index, { petId }] of data.slice(1).entries())
    expectThat(petId > (data[index]?.petId ?? petId), `${petId} comes after ${data[index]?.petId}`);
  return next === undefined ? `${data.length} entries, complete` : `the first ${data.length} entries of a longer list`;
}

async function followPages({ client }: Service): Promise<string> {
  const pages = [await client.listInventoryPage({ limit: 2 })];
  const cursor = pages[0]?.next;
  if (cursor !== undefined) pages.push(await client.listInventoryPage({ limit: 2, cursor }));
  for (const { data, next } of pages)
    expectThat(data.length === 2 || (data.length < 2 && !next), 'a page is no full one');
  const ids = pages.flatMap(({ data }) => data.map(({ petId }) => petId));
  const areAscending = ids.every((id, index) => id > (ids[index - 1] ?? id - 1n));
  expectThat(areAscending, `the petIds are ${ids.join(', ')}`);
  return `petIds ${ids.join(', ')}`;
}

async function countDown({ client }: Service): Promise<string> {
  const { limits: before } = await client.listInventoryPage({ limit: 1 });
  const { limits: after } = await client.listInventoryPage({ limit: 1 });
  expectThat(before !== undefined && after !== undefined, 'a response has no limit headers');
  if (after.reset.getTime() !== before.reset.getTime()) return 'a new window began';
  const step = before.limit > COUNTED_ONE_BY_ONE ? 0 : 1;
  const counts = `${before.remaining}, then ${after.remaining} of ${before.limit}`;
  expectThat(after.remaining <= before.remaining - step, counts);
  return counts;
}

async function readKey({ client }: Service): Promise<string> {
  const { data, limits } = await client.getKey();
  const windows = data.limits.map(({ window, limit, remaining }) => `${remaining} of ${limit} a ${window}`);
  // By what is left, as the headers choose: two windows may have one limit.
  const least = Math.min(...data.limits.map(({ remaining }) => remaining));
  expectSame(`what is left, of ${windows.join(', ')}`, least, limits?.remaining);
  return `${data.plan}: ${windows.join(', ')}`;
}

async function followHelp(service: Service): Promise<string> {
  const { headers } = await service.send('GET', '/inventory', { key: 'none' });
  const help = helpOf(headers);
  if (help === undefined) throw new NotApplicable('no reference page is deployed');
  const page = await service.readPage(help);
  if (!page) throw new NotApplicable('the page is not to be read (--no-page)');
  expectSame('its status', page.status, 200);
  expectThat((await page.text()).includes('id="API_KEY_MISSING"'), `${help} has no such section`);
  return help;
}

/** Changes the quantity of one pet and puts it back, both only if no other client has updated it since: 8 requests. */
async function updateAndPutBack(service: Service): Promise<string> {
  const { client } = service;
  const [first] = (await client.listInventoryPage({ limit: 1 })).data;
  if (!first) throw new NotApplicable(EMPTY);
  const { data: entry, etag } = await client.getInventory(first.petId);
  const { petId, quantity } = entry;
  expectThat(etag !== undefined && /^"[^"]*"$/.test(etag), `the ETag is ${etag}`);
  const request = `PATCH /inventory/${petId}`;
  const stale = patch(JSON.stringify({ quantity }));
  await expectResponse(service, {
    request,
    parts: { ...stale, headers: { ...stale.headers, 'If-Match': '"smoke-check"' } },
    code: 'PRECONDITION_FAILED',
  });
  // Less rather than more, so that no client can buy a pet that is not there.
  const other = quantity > 0 ? quantity - 1 : 1;
  const changed = await unlessChanged(petId, client.updateInventory(petId, other, { ifMatch: etag }));
  const idempotencyKey = `smoke-${randomUUID()}`;
  const options = { ifMatch: changed.etag, idempotencyKey };
  const putBack = () => unlessChanged(petId, client.adjustInventory(petId, quantity - changed.data.quantity, options));
  // Whatever is wrong with the update, its quantity does not stay.
  const restored = await putBack();
  expectSame('the quantity in the response', changed.data.quantity, other);
  expectSame('the status', changed.data.status, entry.status);
  expectThat(changed.etag !== undefined && changed.etag !== etag, `the ETag is ${changed.etag}, after ${etag}`);
  expectSame('the quantity after the adjustment', restored.data.quantity, quantity);
  expectSame('the ETag of the same adjustment again', (await putBack()).etag, restored.etag);
  // No store may have the other one; if one has, it stays as it is.
  const rows = [petId, BigInt(NO_PET)].map((each) => ({ petId: each, quantity, ifMatch: restored.etag }));
  const results = (await client.updateInventories(rows)).map(({ status }) => status);
  if (results[0] === 412) throw changedMeanwhile(petId);
  expectSame('the statuses of many updates at once', results.join(', '), '200, 404');
  const reused = patch(JSON.stringify({ quantity: other }));
  await expectResponse(service, {
    request,
    parts: { ...reused, headers: { ...reused.headers, 'Idempotency-Key': `"${idempotencyKey}"` } },
    code: 'IDEMPOTENCY_KEY_REUSED',
    headers: { 'X-API-Stability': 'experimental' },
  });
  return `pet ${petId} from ${quantity} to ${other} and back`;
}

/** @throws NotApplicable where another client has updated the pet meanwhile */
async function unlessChanged(
  petId: bigint,
  call: Promise<ApiResponse<InventoryItem>>,
): Promise<ApiResponse<InventoryItem>> {
  try {
    return await call;
  } catch (error) {
    throw error instanceof ApiError && error.status === 412 ? changedMeanwhile(petId) : error;
  }
}

const changedMeanwhile = (petId: bigint): NotApplicable =>
  new NotApplicable(`another client has updated pet ${petId} meanwhile, and that stays`);
