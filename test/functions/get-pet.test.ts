import { afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { petItem } from '../../infra/table-items.ts';
import { writeItems } from '../../infra/write-items.ts';
import type { PetRecord } from '../../shared/contract/pets.ts';
import type { operationHandler } from '../../shared/http/operation-handler.ts';
import { EmbeddedDatabase } from '../support/engines.ts';
import { acceptForeignErrors } from '../support/foreign-errors.ts';
import { int64, MAX_INT64 } from '../support/int64.ts';
import { admittedContext, admittedHeaders, aProxyEvent, lambdaContext } from '../support/proxy-event.ts';
import { anEntry, createPetsTable, StockTable } from '../support/tables.ts';
import { recordRequestLines } from '../support/request-lines.ts';

acceptForeignErrors();
const database = new EmbeddedDatabase();

const deprecated = {
  Deprecation: '@1793491200',
  Sunset: 'Mon, 01 Nov 2027 00:00:00 GMT',
  Link: expect.stringMatching(/^<https:\/\/docs\.example\.com\/.*>; rel="deprecation".*, <.*>; rel="sunset"/),
};

let handler: ReturnType<typeof operationHandler>;
let stock: StockTable;
let petsTable = '';

beforeAll(async () => {
  stock = await StockTable.create(database.client);
  petsTable = await createPetsTable(database.client);
  Object.assign(process.env, {
    PETS_TABLE: petsTable,
    STOCK_TABLE: stock.name,
    PAGE_ORIGIN: 'https://docs.example.com',
    DEPRECATED_AT: '2026-11-01T00:00:00Z',
    SUNSET_AT: '2027-11-01T00:00:00Z',
  });
  ({ handler } = await import('../../functions/get-pet.ts'));
});

beforeEach(() => {
  jest.spyOn(console, 'error').mockImplementation(() => undefined);
});

afterEach(() => {
  jest.restoreAllMocks();
});

const putPet = (pet: PetRecord) => writeItems(database.client, petsTable, [pet], petItem);

const get = (petId: string, authorizer: Record<string, unknown> = admittedContext) =>
  handler(aProxyEvent({ resource: '/pets/{petId}', pathParameters: { petId }, authorizer }), lambdaContext);

recordRequestLines();

describe('GET /pets/{petId}', () => {
  test('answers with the pet, and with the status of its stock entry', async () => {
    await putPet({
      id: MAX_INT64,
      category: { id: int64('1'), name: 'dogs' },
      name: 'Rex',
      photoUrls: ['https://example.com/1.jpg'],
      tags: [{ id: int64('9007199254740993'), name: 'family' }],
    });
    await stock.put(anEntry(MAX_INT64, 3, 'sold'));

    expect(await get(MAX_INT64)).toEqual({
      statusCode: 200,
      headers: {
        'Content-Type': 'application/json',
        'Access-Control-Allow-Origin': 'https://docs.example.com',
        'Access-Control-Expose-Headers': expect.stringContaining('Deprecation'),
        ETag: expect.stringMatching(/^W\/"[\w-]{16}"$/),
        ...deprecated,
        ...admittedHeaders,
      },
      body:
        '{"id":9223372036854775807,"category":{"id":1,"name":"dogs"},"name":"Rex",' +
        '"photoUrls":["https://example.com/1.jpg"],"tags":[{"id":9007199254740993,"name":"family"}],"status":"sold"}',
    });
  });

  test.each<[string, () => ReturnType<typeof get>, number]>([
    ['of a pet that has a stock entry only', () => get('8'), 404],
    ['to a petId that is none', () => get('1e3'), 400],
    ['to a request over the limit', () => get('7', { ...admittedContext, outcome: 'RATE_LIMIT_EXCEEDED' }), 429],
    ['to a request without a verdict', () => get('7', {}), 500],
  ])('says with every answer that it is deprecated, and since when: %s', async (_, request, statusCode) => {
    await stock.put(anEntry(8));

    expect(await request()).toMatchObject({ statusCode, headers: deprecated });
  });
});
