import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { InventoryClient } from '../../../shared/client/pet-store-inventory-client.ts';
import { apiErrorOf, collect } from '../../support/inventory-client.ts';
import { issueKey } from '../../support/issue-key.ts';
import { LocalHost } from '../../support/local-host.ts';

let host: LocalHost;
let store: InventoryClient;

beforeAll(async () => {
  host = await LocalHost.start();
  store = await clientWith({});
});
afterAll(() => host.close());

async function clientWith(differences: Parameters<typeof issueKey>[1]): Promise<InventoryClient> {
  const { token } = await issueKey(host, differences);
  return new InventoryClient({ baseUrl: host.baseUrl, apiKey: token });
}

describe('the client and the service', () => {
  test('list the stock, streamed and in pages alike', async () => {
    const streamed = await collect(store.listInventory());
    const paged = await collect(store.listInventory({ limit: 7 }));
    expect(streamed.length).toBeGreaterThan(7);
    expect(paged).toEqual(streamed);
    expect(streamed[0]).toEqual({
      petId: expect.any(BigInt),
      quantity: expect.any(Number),
      status: expect.stringMatching(/^(available|pending|sold)$/),
    });
    const sold = streamed.filter(({ status }) => status === 'sold');
    expect(await collect(store.listInventory({ status: 'sold' }))).toEqual(sold);
    expect(await collect(store.listInventory({ status: 'sold', limit: 1 }))).toEqual(sold);
  });

  test('keep the digits of a petId', async () => {
    const item = { petId: 9223372036854775807n, quantity: 1, status: 'pending' };
    await host.putStock(item);
    const { data } = await store.updateInventory(item.petId, 2);
    expect(data).toEqual({ ...item, quantity: 2 });
    const { data: entries } = await store.listInventoryPage({ limit: 1_000 });
    expect(entries).toContainEqual({ ...item, quantity: 2 });
    await host.deleteStock(item.petId);
  });

  test('keep two clients from overwriting each other', async () => {
    const other = await clientWith({});
    const { etag } = await store.updateInventory(101n, 7);
    const theirs = await other.updateInventory(101n, 8, { ifMatch: etag });
    const refusal = await apiErrorOf(store.updateInventory(101n, 9, { ifMatch: etag }));
    expect(refusal).toMatchObject({ code: 'PRECONDITION_FAILED', status: 412, attempts: 1, etag: theirs.etag });
    expect((await store.updateInventory(101n, 9, { ifMatch: refusal.etag })).data.quantity).toBe(9);
  });

  test('carry out an update once, however often the call is made', async () => {
    const idempotencyKey = 'delivery-of-today';
    const first = await store.updateInventory(101n, 3, { idempotencyKey });
    await store.updateInventory(101n, 4);
    const again = await store.updateInventory(101n, 3, { idempotencyKey });
    expect(again).toMatchObject({ data: first.data, etag: first.etag });
    const other = await apiErrorOf(store.updateInventory(101n, 5, { idempotencyKey }));
    expect(other).toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED', status: 422 });
    expect((await store.listInventoryPage({ limit: 1_000 })).data).toContainEqual({ ...first.data, quantity: 4 });
  });

  test('show a pet, and until when', async () => {
    const { data, deprecation, sunset } = await store.getPet(101n);
    expect(data).toMatchObject({ id: 101n, name: expect.any(String), photoUrls: expect.any(Array) });
    expect(deprecation).toBeInstanceOf(Date);
    expect(sunset?.getTime()).toBeGreaterThan(deprecation?.getTime() ?? Infinity);
  });

  test('list the orders', async () => {
    const orders = await collect(store.listOrders());
    expect(orders[0]).toMatchObject({
      id: expect.any(BigInt),
      petId: expect.any(BigInt),
      complete: expect.any(Boolean),
    });
    expect(await collect(store.listOrders({ limit: 2 }))).toEqual(orders);
  });

  test('name both windows of the limits', async () => {
    const limited = await clientWith({ plan: 'free', perMinute: 60, perDay: 1_000 });
    const { limits } = await limited.listInventoryPage({ limit: 1 });
    expect(limits).toMatchObject({
      limit: 60,
      remaining: 59,
      minute: { limit: 60, remaining: 59 },
      day: { limit: 1_000, remaining: 999 },
    });
    expect(limited.limits).toEqual(limits);
  });

  test('say what is wrong', async () => {
    const stranger = new InventoryClient({ baseUrl: `${host.baseUrl}/`, apiKey: 'psk_unknown' });
    expect(await apiErrorOf(stranger.listInventoryPage({ limit: 1 }))).toMatchObject({
      code: 'API_KEY_INVALID',
      status: 401,
      requestId: expect.stringMatching(/./),
      attempts: 1,
    });
    expect(await apiErrorOf(store.getPet(424242n))).toMatchObject({ code: 'PET_NOT_FOUND', status: 404 });
    expect(await apiErrorOf(store.updateInventory(101n, -1))).toMatchObject({ code: 'INVALID_BODY', status: 400 });
    expect(await apiErrorOf(store.listInventoryPage({ limit: 0 }))).toMatchObject({
      code: 'INVALID_QUERY',
      status: 400,
    });
  });

  test('agree that a used up day is not waited out', async () => {
    const limited = await clientWith({ plan: 'free', perMinute: 60, perDay: 2 });
    await limited.listInventoryPage({ limit: 1 });
    await limited.listInventoryPage({ limit: 1 });
    const refusal = await apiErrorOf(limited.listInventoryPage({ limit: 1 }));
    expect(refusal).toMatchObject({ code: 'DAILY_QUOTA_EXCEEDED', status: 429, attempts: 1, limits: { remaining: 0 } });
    expect(refusal.retryAfter).toBeGreaterThan(0);
  });
});
