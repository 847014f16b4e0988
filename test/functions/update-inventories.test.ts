import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type * as UpdateInventories from '../../functions/update-inventories.ts';
import { EmbeddedDatabase } from '../support/engines.ts';
import { responseTo, aProxyEvent } from '../support/proxy-event.ts';
import { recordRequestLines } from '../support/request-lines.ts';
import { anEntry, createChangesTable, createRequestsTable, StockTable } from '../support/tables.ts';

const database = new EmbeddedDatabase();
recordRequestLines();

let handler: typeof UpdateInventories.handler;
let stock: StockTable;

beforeAll(async () => {
  stock = await StockTable.create(database.client);
  process.env.STOCK_TABLE = stock.name;
  process.env.CHANGES_TABLE = await createChangesTable(database.client);
  process.env.REQUESTS_TABLE = await createRequestsTable(database.client);
  ({ handler } = await import('../../functions/update-inventories.ts'));
});

beforeEach(async () => {
  await stock.put(anEntry(1, 5, 'pending'), { version: 'v1' });
  await stock.put(anEntry('9007199254740993', 5), { version: 'v1' });
});

async function send(body: unknown, headers: Record<string, string> = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const event = aProxyEvent({
    method: 'PATCH',
    resource: '/inventory',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: text,
  });
  const { statusCode, body: response } = await responseTo(handler, event);
  return { status: statusCode, text: response, body: JSON.parse(response) };
}

const quantityOf = async (petId: string) => (await stock.read(petId))?.quantity;

const rows = (count: number) => Array.from({ length: count }, (_, index) => ({ petId: index + 1, quantity: 9 }));

describe('PATCH /inventory', () => {
  test('updates each row independently and returns the results in order, with the etag for ifMatch', async () => {
    const { status, text, body } = await send(
      '[{"petId":9007199254740993,"quantity":7},{"petId":999,"quantity":1},{"petId":1,"quantity":8,"ifMatch":"\\"v0\\""}]',
    );

    expect(status).toBe(200);
    expect(text).toMatch(
      /^\[\{"petId":9007199254740993,"status":200,"etag":"\\"[\w-]+\\"","item":\{"petId":9007199254740993,/,
    );
    expect(body.slice(1)).toEqual([
      { petId: 999, status: 404, error: { code: 'PET_NOT_FOUND', message: 'There is no pet 999.', status: 404 } },
      {
        petId: 1,
        status: 412,
        error: expect.objectContaining({ code: 'PRECONDITION_FAILED', status: 412 }),
        etag: '"v1"',
      },
    ]);
    expect([await quantityOf('9007199254740993'), await quantityOf('1')]).toEqual([7, 5]);
    expect(body[0].etag).toBe(`"${(await stock.read('9007199254740993'))?.version}"`);
  });

  test('starts five rows concurrently and 50 per second, separately for each request', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'performance'] });
    const sixRows = send(rows(6));
    await Promise.all(Array.from({ length: 4 }, () => send(rows(5))));
    jest.advanceTimersByTime(99);
    // Long enough for a row that goes by another clock.
    await sleep(150);
    const hasEnded = await Promise.race([sixRows.then(() => true), sleep(0, false)]);
    jest.advanceTimersByTime(1);
    await sixRows;
    jest.useRealTimers();

    expect(hasEnded).toBe(false);
  });

  test('applies each row once with an Idempotency-Key, evaluates refused rows again, and refuses other rows', async () => {
    const key = { 'Idempotency-Key': '"a"' };
    const batch = [
      { petId: 1, quantity: 8, ifMatch: '"v1"' },
      { petId: 2, quantity: 9 },
    ];
    await stock.delete('2');
    const [first, missing] = (await send(batch, key)).body;
    await stock.put(anEntry(1, 99), { version: 'v9' });
    await stock.put(anEntry(2, 1));
    const [again, created] = (await send(batch, key)).body;

    expect([missing.status, created.status]).toEqual([404, 200]);
    expect(again).toEqual(first);
    expect((await send([{ ...batch[0], quantity: 7 }, batch[1]], key)).body).toMatchObject([
      { status: 422, error: { code: 'IDEMPOTENCY_KEY_REUSED' } },
      { status: 200 },
    ]);
    expect([await quantityOf('1'), await quantityOf('2')]).toEqual([99, 9]);
  });

  test.each([{}, { 'Idempotency-Key': '"c"' }])(
    'sets a row only if the quantity is its ifQuantity: %j',
    async (key) => {
      const refused = { petId: 1, quantity: 9, ifQuantity: 4 };
      const message = 'Pet 1 has 5 in stock, not 4 as in ifQuantity.';
      expect((await send([refused], key)).body).toMatchObject([{ status: 412, error: { message }, etag: '"v1"' }]);
      expect((await send([{ ...refused, ifQuantity: 5, ifMatch: '"v0"' }])).body).toMatchObject([{ status: 412 }]);
      expect((await send([{ ...refused, ifQuantity: 5, ifMatch: '"v1"' }])).body).toMatchObject([{ status: 200 }]);
    },
  );

  test('returns 500 only for a row with an unreadable entry, and logs why', async () => {
    await stock.put(anEntry(2), { status: 'reserved', version: 'v1' });
    const log = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
    const { body } = await send([{ petId: 2, quantity: 9, ifMatch: '"v1"' }, ...rows(1)]);

    expect(body).toMatchObject([{ petId: 2, status: 500, error: { code: 'INTERNAL_ERROR' } }, { status: 200 }]);
    expect(log.mock.calls.join()).toMatch(/"code":"INTERNAL_ERROR".*petId 2 cannot be read: status is \\"reserved\\"/);
  });

  test('returns 400 for an invalid row, names it, and writes nothing', async () => {
    const message = expect.stringMatching(/^Row 2: The field "quantity" is missing\. Send JSON such as \[/);

    expect(await send([...rows(1), { petId: 2 }])).toMatchObject({
      status: 400,
      body: { code: 'INVALID_BODY', message },
    });
    expect(await quantityOf('1')).toBe(5);
  });

  test.each(['If-Match', 'If-None-Match'])('returns 400 for %s and says why', async (name) => {
    expect(await send(rows(1), { [name]: '"a"' })).toMatchObject({
      status: 400,
      body: { code: 'INVALID_HEADER', message: expect.stringContaining(`Remove ${name}: use ifMatch or ifQuantity`) },
    });
    expect(await quantityOf('1')).toBe(5);
  });
});
