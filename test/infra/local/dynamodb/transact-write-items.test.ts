import { type TransactWriteItem, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { RequestTokens } from '../../../../infra/local/dynamodb/request-tokens.ts';
import { describeOnEachEngine, EmbeddedDatabase } from '../../../support/engines.ts';
import { StockTransactions } from '../../../support/stock-transactions.ts';

const failed = { Code: 'ConditionalCheckFailed', Message: 'The conditional request failed' };
const recorded = { Item: { requestId: { S: 'request' } } };

const cancelled = (codes: string, reasons: object[]) => ({
  name: 'TransactionCanceledException',
  message: `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`,
  reasons,
});

describeOnEachEngine('A transaction', () => {
  let pet: StockTransactions;

  beforeEach(async () => {
    pet = await StockTransactions.create();
  });

  afterEach(() => pet.client.destroy());

  test('makes its writes in all tables', async () => {
    await pet.send([pet.request('request'), pet.setting(5, 7)]);

    expect(await pet.isRecorded('request')).toBe(true);
    expect(await pet.stock()).toEqual(pet.stockOf(7));
  });

  test('makes none of them where a condition fails, and tells which, with the old item if asked to', async () => {
    await pet.send([pet.request('request')]);
    const withOld = { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' };

    expect(await pet.failure([pet.setting(5, 6), pet.request('request')])).toEqual(
      cancelled('None, ConditionalCheckFailed', [{ Code: 'None' }, { ...failed, ...recorded }]),
    );
    expect(await pet.failure([pet.request('other'), pet.setting(4, 6, withOld)])).toEqual(
      cancelled('None, ConditionalCheckFailed', [{ Code: 'None' }, { ...failed, Item: pet.stockOf(5) }]),
    );
    expect(await pet.failure([pet.request('request'), pet.setting(4, 6)])).toEqual(
      cancelled('ConditionalCheckFailed, ConditionalCheckFailed', [{ ...failed, ...recorded }, failed]),
    );
    expect(await pet.isRecorded('other')).toBe(false);
    expect(await pet.stock()).toEqual(pet.stockOf(5));
  });

  test('is cancelled by an update that the table does not allow', async () => {
    const changedKey = { Update: pet.update('SET petId = :value', '1') };

    expect(await pet.failure([pet.request('request'), changedKey])).toMatchObject({
      name: 'TransactionCanceledException',
      reasons: expect.arrayContaining([expect.objectContaining({ Code: 'ValidationError' })]),
    });
    expect(await pet.isRecorded('request')).toBe(false);
  });

  test('loses no write that others make to its items at the same time, nor they its own', async () => {
    const rounds = Array.from({ length: 20 }, (_, round) => String(round));
    const addition = { Update: pet.update('ADD quantity :value, transactions :value', '1') };
    const transactions = rounds.map((round) => pet.failure([pet.request(round), addition]));
    const updates = rounds.map(() =>
      pet.client.send(new UpdateItemCommand(pet.update('ADD quantity :value, updates :value', '1'))),
    );
    await Promise.all(updates);
    const done = (await Promise.all(transactions)).filter((failure) => failure === undefined).length;

    expect(done).toBeGreaterThan(0);
    expect(await pet.stock()).toEqual({
      ...pet.stockOf(5 + done + rounds.length),
      transactions: { N: String(done) },
      updates: { N: String(rounds.length) },
    });
  });
});

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

  test('takes two units for an item', async () => {
    const actions = [pet.request('request'), pet.request('other')];

    expect((await pet.send(actions, { ReturnConsumedCapacity: 'TOTAL' })).ConsumedCapacity).toMatchObject([
      { TableName: pet.requests, CapacityUnits: 4 },
    ]);
  });

  test.each<[string, string, () => TransactWriteItem[]]>([
    ['over 100 actions', 'ValidationException', () => Array.from({ length: 101 }, (_, id) => pet.request(`${id}`))],
    ['two actions on one item', 'ValidationException', () => [pet.requestUpdate('request')]],
    ['an action of no kind', 'ValidationException', () => [{}]],
    [
      'a bad expression',
      'ValidationException',
      () => [pet.setting(5, 6, { ConditionExpression: 'quantity quantity' })],
    ],
    ['a table that is not there', 'ResourceNotFoundException', () => [pet.setting(5, 6, { TableName: 'missing' })]],
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
    ['{"TransactItems":[{"Put":{"ReturnValues":"NONE"}}]}', 'ValidationException', 'knows one Put or one Update'],
    ['{"TransactItems":[{"Delete":{}}]}', 'ValidationException', 'knows one Put or one Update'],
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
});

test('A token is remembered for ten minutes', () => {
  let now = 0;
  const tokens = new RequestTokens(() => now);
  tokens.remember('token', 'request', { a: 1 });
  now = 599_999;

  expect(tokens.answerTo('token', 'request')).toEqual({ a: 1 });
  expect(() => tokens.answerTo('token', 'another')).toThrow('The token was used for another request');

  now = 600_000;

  expect(tokens.answerTo('token', 'another')).toBeUndefined();
});
