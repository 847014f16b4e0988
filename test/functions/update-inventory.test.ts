import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { operationHandler } from '../../shared/http/operation-handler.ts';
import { acceptForeignErrors } from '../support/foreign-errors.ts';
import { EmbeddedDatabase } from '../support/engines.ts';
import { admittedContext, admittedHeaders, aProxyEvent, lambdaContext } from '../support/proxy-event.ts';
import { recordRequestLines } from '../support/request-lines.ts';
import { anEntry, createRequestsTable, StockTable } from '../support/tables.ts';

acceptForeignErrors();
const database = new EmbeddedDatabase();
const lines = recordRequestLines();

let handler: ReturnType<typeof operationHandler>;
let stock: StockTable;
let pets = 100;

beforeAll(async () => {
  stock = await StockTable.create(database.client);
  const requestsTable = await createRequestsTable(database.client);
  Object.assign(process.env, { STOCK_TABLE: stock.name, REQUESTS_TABLE: requestsTable });
  ({ handler } = await import('../../functions/update-inventory.ts'));
});

beforeEach(() => {
  jest.spyOn(console, 'error').mockImplementation(() => undefined);
});

afterEach(() => {
  jest.restoreAllMocks();
});

/** A pet of its own for a test. */
async function aPet(): Promise<string> {
  const petId = String(++pets);
  await stock.put(anEntry(petId, 1, 'pending'), { version: 'v5' });
  return petId;
}

const patch = (
  petId: string,
  quantity: unknown,
  headers: Record<string, string> = {},
  authorizer: Record<string, unknown> = admittedContext,
) =>
  handler(
    aProxyEvent({
      method: 'PATCH',
      resource: '/inventory/{petId}',
      pathParameters: { petId },
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify({ quantity }),
      authorizer,
    }),
    lambdaContext,
  );

const ETAG = /^"[\w-]{12}"$/;

const body = (code: string) => expect.stringContaining(`"code":"${code}"`);
const marked = { 'X-API-Stability': 'experimental', ...admittedHeaders };

describe('PATCH /inventory/{petId}', () => {
  test('answers with the entry, and with its ETag (RFC 9110 §8.8.3)', async () => {
    const petId = await aPet();

    expect(await patch(petId, 7)).toEqual({
      statusCode: 200,
      headers: { 'Content-Type': 'application/json', ETag: expect.stringMatching(ETAG), ...marked },
      body: `{"petId":${petId},"quantity":7,"status":"pending"}`,
    });
  });

  test.each<[string, () => ReturnType<typeof patch>, number, string]>([
    ['an unknown pet', () => patch('1', 7), 404, 'PET_NOT_FOUND'],
    ['a petId that is none', () => patch('x', 7), 400, 'INVALID_PET_ID'],
    ['a wrong body', () => patch('1', -1), 400, 'INVALID_BODY'],
    ['a body that is no JSON', () => patch('1', 7, { 'Content-Type': 'text/plain' }), 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['a wrong If-Match', () => patch('1', 7, { 'If-Match': '5' }), 400, 'INVALID_HEADER'],
    ['a wrong Idempotency-Key', () => patch('1', 7, { 'Idempotency-Key': '""' }), 400, 'INVALID_HEADER'],
  ])('refuses %s, with its mark (spec §9, rule 2) and the limits', async (_, request, statusCode, code) => {
    expect(await request()).toMatchObject({ statusCode, headers: marked, body: body(code) });
  });
});

test('The line about PATCH /inventory/{petId} says what became of it', async () => {
  await patch(await aPet(), 7, { 'If-Match': '"v4"' });

  expect(lines()).toMatchObject([
    { operation: 'updateInventory', keyId: 'k3y1d', status: '412', code: 'PRECONDITION_FAILED' },
  ]);
});

describe('PATCH /inventory/{petId} with If-Match', () => {
  test.each(['"v4", "v5"', '*'])('%s updates that version', async (ifMatch) => {
    expect(await patch(await aPet(), 7, { 'If-Match': ifMatch })).toMatchObject({ statusCode: 200 });
  });

  test.each(['"v4"', 'W/"v5"', '"of-somebody-else"'])(
    '%s is 412 with the ETag that the entry has, and changes nothing',
    async (ifMatch) => {
      const petId = await aPet();

      expect(await patch(petId, 7, { 'If-Match': ifMatch })).toMatchObject({
        statusCode: 412,
        headers: { ETag: '"v5"', ...marked },
        body: body('PRECONDITION_FAILED'),
      });
      expect(await stock.read(petId)).toMatchObject({ quantity: 1, version: 'v5' });
    },
  );
});

describe('PATCH /inventory/{petId} with Idempotency-Key', () => {
  test('answers the same again, whatever others do, and from another key of the lineage', async () => {
    const petId = await aPet();
    const headers = { 'Idempotency-Key': `"${randomUUID()}"` };
    const answer = await patch(petId, 7, headers);
    await patch(petId, 99);

    expect(answer.statusCode).toBe(200);
    expect(await patch(petId, 7, headers, { ...admittedContext, principalId: 'the successor' })).toEqual(answer);
    expect(await stock.read(petId)).toMatchObject({ quantity: 99 });
  });

  test.each<[string, number, Record<string, string>]>([
    ['another quantity', 8, {}],
    ['an If-Match', 7, { 'If-Match': '"6"' }],
  ])('is 422 for %s', async (_, quantity, more) => {
    const petId = await aPet();
    const headers = { 'Idempotency-Key': `"${randomUUID()}"` };
    await patch(petId, 7, headers);

    expect(await patch(petId, quantity, { ...headers, ...more })).toMatchObject({
      statusCode: 422,
      headers: marked,
      body: body('IDEMPOTENCY_KEY_REUSED'),
    });
  });

  test('is one of the lineage of the API key: others may have the same', async () => {
    const petId = await aPet();
    const headers = { 'Idempotency-Key': `"${randomUUID()}"` };
    await patch(petId, 7, headers);

    expect(await patch(petId, 8, headers, { ...admittedContext, lineage: 'another' })).toMatchObject({
      statusCode: 200,
    });
  });
});
