import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { isInt64 } from '../../shared/contract/int64.ts';
import type { InventoryItem } from '../../shared/contract/inventory.ts';
import { writeStock } from '../../infra/write-stock.ts';
import { ApiClient } from '../support/api-client.ts';
import { issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';

/** Room for several DynamoDB pages of 1 MB, and not quite too much for one answer. */
const LONG_LIST = 60_000;
/** An entry is some 82 bytes in the result of a function, which may have 6,291,556. */
const TOO_LONG_LIST = 78_000;

const SMALLEST_PET_ID = -9_223_372_036_854_775_808n;

/** Entries with the longest petIds there are. */
function* entries(from: number, to: number): Generator<InventoryItem> {
  for (let index = from; index < to; index++) {
    const petId = String(SMALLEST_PET_ID + BigInt(index));
    if (isInt64(petId)) yield { petId, quantity: 2_147_483_647 - index, status: 'available' };
  }
}

describe('GET /inventory of a very large store', () => {
  let host: LocalHost;
  let api: ApiClient;

  beforeAll(async () => {
    host = await LocalHost.start({ sampleData: false });
    api = ApiClient.withKey(host.baseUrl, (await issueKey(host)).token);
  });

  afterAll(() => host.close());

  test('200 with every entry in order, over several DynamoDB pages', async () => {
    await writeStock(host.documents, host.stockTable, entries(0, LONG_LIST));
    const expected = [...entries(0, LONG_LIST)].map(
      ({ petId, quantity }) => `{"petId":${petId},"quantity":${quantity},"status":"available"}`,
    );
    const { status, text } = await api.list();

    expect(status).toBe(200);
    expect(text === `[${expected.join(',')}]`).toBe(true);
  }, 60_000);

  test('500 RESPONSE_TOO_LARGE once it is more than the service can send at once, and updates still work', async () => {
    await writeStock(host.documents, host.stockTable, entries(LONG_LIST, TOO_LONG_LIST));
    const answer = await api.list();

    expect(answer).toMatchObject({ status: 500, error: { code: 'RESPONSE_TOO_LARGE' } });
    expect(answer.rateLimit.limit).toBeGreaterThan(0);
    expect(await api.setQuantity(SMALLEST_PET_ID, 1)).toMatchObject({ status: 200 });
  }, 60_000);
});
