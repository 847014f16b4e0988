import type { TransactWriteItem } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { describeOnEachEngine } from '../../../support/engines.ts';
import { EmbeddedDatabase } from '../../../support/embedded-database.ts';
import { StockTransactions } from '../../../support/stock-transactions.ts';

const CANCELLED = { name: 'TransactionCanceledException' };

let pet: StockTransactions;

function eachWithItsPet(): void {
  beforeEach(async () => {
    pet = await StockTransactions.create();
  });

  afterEach(() => pet.client.destroy());
}

describeOnEachEngine('A request of a transaction', () => {
  eachWithItsPet();

  test('has its effect once with a token, which no other request may have', async () => {
    const options = { ClientRequestToken: 'token' + pet.requests.slice(-12) };
    const addition = { Update: pet.update('ADD quantity :value', '1') };
    await pet.send([addition], options);
    await pet.send([addition], options);

    expect(await pet.stock()).toEqual(pet.stockOf(6));
    expect(await pet.failure([pet.setting(6, 7)], options)).toMatchObject({
      name: 'IdempotentParameterMismatchException',
    });
    expect(await pet.stock()).toEqual(pet.stockOf(6));
  });

  test('that was cancelled can be tried again with its token', async () => {
    const options = { ClientRequestToken: 'token' + pet.requests.slice(-12) };

    expect(await pet.failure([pet.setting(4, 6)], options)).toMatchObject(CANCELLED);

    await pet.send([pet.setting(5, 4)]);
    await pet.send([pet.setting(4, 6)], options);

    expect(await pet.stock()).toEqual(pet.stockOf(6));
  });

  test('takes two units for an item, and reads it where it is repeated', async () => {
    const options = { ReturnConsumedCapacity: 'TOTAL', ClientRequestToken: pet.requests.slice(-36) } as const;
    const actions = [pet.request('request'), pet.request('other')];
    const TableName = pet.requests;

    expect((await pet.send(actions, options)).ConsumedCapacity).toEqual([
      { TableName, CapacityUnits: 4, WriteCapacityUnits: 4 },
    ]);
    expect((await pet.send(actions, options)).ConsumedCapacity).toMatchObject([
      { TableName, ReadCapacityUnits: expect.any(Number) },
    ]);
  });

  test.each<[string, string, () => TransactWriteItem[]]>([
    ['over 100 actions', 'ValidationException', () => Array.from({ length: 101 }, (_, id) => pet.request(`${id}`))],
    ['two actions on one item', 'ValidationException', () => [pet.setting(5, 6), pet.deletion()]],
    ['an action of two kinds', 'ValidationException', () => [{ ...pet.request('request'), ...pet.deletion() }]],
    ['an action of no kind', 'ValidationException', () => [{}]],
    ['a bad expression', 'ValidationException', () => [pet.deletion({ ConditionExpression: 'quantity quantity' })]],
    ['no condition to check', 'ValidationException', () => [pet.check('')]],
    ['a table that is not there', 'ResourceNotFoundException', () => [pet.deletion({ TableName: 'missing' })]],
  ])('is refused with %s', async (_, name, actions) => {
    expect(await pet.failure([pet.request('request'), ...actions()])).toMatchObject({ name, reasons: [] });
    expect(await pet.isRecorded('request')).toBe(false);
    expect(await pet.stock()).toEqual(pet.stockOf(5));
  });
});

// DynamoDB Local takes some of these.
describe('A request of a transaction, on the embedded engine', () => {
  new EmbeddedDatabase();
  eachWithItsPet();

  test.each([
    ['{', 'SerializationException', 'The body is not JSON'],
    ['{"TransactItems":[]}', 'ValidationException', "'TransactItems' is not valid"],
    [
      '{"TransactItems":[{"Put":{"ReturnValues":"NONE"}}]}',
      'ValidationException',
      "'TransactItems.0.Put.ReturnValues'",
    ],
    ['{"TransactItems":[{"Update":{}}]}', 'ValidationException', "Value null at 'updateExpression'"],
  ])('is refused where the SDK would not send it: %s', async (body, type, message) => {
    const response = await fetch(String(process.env['AWS_ENDPOINT_URL_DYNAMODB']), {
      method: 'POST',
      headers: { 'x-amz-target': 'DynamoDB_20120810.TransactWriteItems' },
      body,
    });

    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      __type: expect.stringMatching(new RegExp(`#${type}$`)),
      message: expect.stringContaining(message),
    });
  });

  test('is cancelled by a key that does not fit its table', async () => {
    const missingKey = pet.deletion({ Key: { another: { S: '1' } } });

    expect(await pet.failure([pet.request('request'), missingKey])).toMatchObject({
      ...CANCELLED,
      reasons: [
        { Code: 'None' },
        { Code: 'ValidationError', Message: 'The provided key element does not match the schema' },
      ],
    });
  });

  test('holds at most 4 MB', async () => {
    const note = { S: 'x'.repeat(390_000) };
    const large = (index: number) => ({
      Put: { TableName: pet.requests, Item: { requestId: { S: `large ${index}` }, note } },
    });

    expect(await pet.failure(Array.from({ length: 12 }, (_, index) => large(index)))).toMatchObject({
      name: 'ValidationException',
      message: 'Transaction payload size cannot exceed 4MB',
    });
    expect(await pet.isRecorded('large 0')).toBe(false);
  });
});
