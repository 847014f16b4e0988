import { expect, test } from '@jest/globals';
import * as v from 'valibot';
import { errorCatalog } from '../../../shared/contract/errors.ts';
import { recordToJson } from '../../../shared/contract/exact-json.ts';
import { isInt64 } from '../../../shared/contract/int64.ts';
import { inventoryItemSchema } from '../../../shared/contract/inventory.ts';
import { everyOperationErrors, operations } from '../../../shared/contract/operations.ts';
import { methodsOf, operationAt } from '../../../shared/contract/routes.ts';
import { type Order, orderSchema } from '../../../shared/contract/orders.ts';
import { type PetRecord, petRecordSchema, petSchema } from '../../../shared/contract/pets.ts';
import { int64, MAX_INT64, MIN_INT64 } from '../../support/int64.ts';

test.each([
  ['HEAD', '/store/orders', 'listOrders', ['GET', 'HEAD']],
  ['PATCH', '/inventory/{petId}', 'updateInventory', ['GET', 'HEAD', 'PATCH']],
  ['POST', '/inventory', undefined, ['GET', 'HEAD', 'PATCH']],
  ['GET', '/{proxy+}', undefined, []],
])('%s %s is the operation %s, and its path has the methods %j', (method, path, operation, methods) => {
  expect(methodsOf(path)).toEqual(methods);
  expect(operationAt(method, path)).toBe(operation);
});

test('The error catalog has exactly the errors of operations and of unknown routes', () => {
  const ofOperations = Object.values(operations).flatMap<string>(({ errors }) => errors);
  const named = new Set([...everyOperationErrors, ...ofOperations, 'ROUTE_NOT_FOUND', 'METHOD_NOT_ALLOWED']);

  expect([...named].toSorted()).toEqual(Object.keys(errorCatalog).toSorted());
});

test.each(['0', '1', MAX_INT64, MIN_INT64])('%s is an int64, and a number in JSON with all its digits', (text) => {
  expect(isInt64(text)).toBe(true);
  expect(recordToJson({ id: int64(text), tags: [{ id: int64(text) }] })).toBe(`{"id":${text},"tags":[{"id":${text}}]}`);
});

test.each(['', '9223372036854775808', '-0', '-', '1.0', ' 1', '1\n', '\u0661\u0662'])('%j is no int64', (text) => {
  expect(isInt64(text)).toBe(false);
});

const order: Order = {
  id: MAX_INT64,
  petId: MIN_INT64,
  quantity: 2,
  shipDate: '2026-11-21T12:30:00Z',
  status: 'approved',
  complete: true,
};
const orderFields = ['id', 'petId', 'quantity', 'status', 'complete'];
const invalidDates = ['2026-11-21', '2026-11-21 12:30:00Z', '2026-04-31T12:30:00Z', '2025-02-29T12:30:00Z'];

const URL_OF_PHOTO = 'https://images.example.com/pets/101.jpg';

const pet: PetRecord = {
  id: MAX_INT64,
  category: { id: MIN_INT64, name: 'dogs' },
  name: 'Labrador Retriever',
  photoUrls: [URL_OF_PHOTO],
  tags: [{ id: int64('9007199254740993'), name: 'family' }],
};
const longPhotos = Array(50).fill(`${URL_OF_PHOTO}?`.padEnd(2_000, 'x'));
const invalidPhotos = [['a photo'], ['ftp://example.com'], Array(51).fill(URL_OF_PHOTO)];

const item = { petId: MAX_INT64, quantity: 12, status: 'pending' } as const;

const labels = (count: number) => Array.from({ length: count }, (_, index) => ({ id: String(index), name: 'x' }));

const variants = (base: object, differences: readonly object[]): object[] =>
  differences.map((difference) => Object.assign({}, base, difference));

test.each<[string, v.GenericSchema, valid: readonly unknown[], invalid: readonly unknown[]]>([
  ['a stock entry', inventoryItemSchema, [item], variants(item, [{ quantity: '1' }, { status: 'placed' }])],
  [
    'an order',
    orderSchema,
    variants(order, [{}, { shipDate: '2026-11-21T12:30:00.123+01:00' }, { shipDate: '2024-02-29T23:59:59Z' }]),
    variants(order, [
      ...orderFields.map((field) => ({ [field]: undefined })),
      ...invalidDates.map((shipDate) => ({ shipDate })),
      { id: 1 },
      { status: 'sold' },
      { color: 'red' },
    ]),
  ],
  [
    'a stored pet',
    petRecordSchema,
    variants(pet, [
      { category: undefined, tags: undefined, photoUrls: [] },
      { photoUrls: longPhotos, tags: labels(50), name: 'x'.repeat(200) },
    ]),
    variants(pet, [
      ...invalidPhotos.map((photoUrls) => ({ photoUrls })),
      { id: 1 },
      { name: '' },
      { name: 'x'.repeat(201) },
      { tags: labels(51) },
      { status: 'sold' },
    ]),
  ],
  ['a pet in a response', petSchema, [pet, { ...pet, status: 'sold' }], [{ ...pet, status: 'placed' }]],
])('The schema of %s accepts exactly valid values', (_, schema, valid, invalid) => {
  for (const value of valid) expect(v.safeParse(schema, value).issues).toBeUndefined();
  expect(invalid.filter((value) => v.is(schema, value))).toEqual([]);
});
