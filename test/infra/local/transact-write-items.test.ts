import { type TransactWriteItem, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { describeOnEachEngine } from '../../support/engines.ts';
import { StockTransactions } from '../../support/stock-transactions.ts';

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

    expect(await pet.failure([pet.setting(5, 6), pet.request('request')])).toEqual(
      cancelled('None, ConditionalCheckFailed', [{ Code: 'None' }, { ...failed, ...recorded }]),
    );
    expect(await pet.failure([pet.request('other'), pet.setting(4, 6)])).toEqual(
      cancelled('None, ConditionalCheckFailed', [{ Code: 'None' }, failed]),
    );
    expect(await pet.isRecorded('other')).toBe(false);
    expect(await pet.stock()).toEqual(pet.stockOf(5));
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

  test('has its effect once with a token, which no other request may have', async () => {
    const options = { ClientRequestToken: 'token' + pet.requests.slice(-12) };
    const addition = { Update: pet.update('ADD quantity :value', '1') };
    await pet.send([addition], options);
    await pet.send([addition], options);

    expect(await pet.failure([pet.setting(6, 7)], options)).toMatchObject({
      name: 'IdempotentParameterMismatchException',
    });
    expect(await pet.stock()).toEqual(pet.stockOf(6));
  });

  test.each<[string, string, () => TransactWriteItem[]]>([
    ['two actions on one item', 'ValidationException', () => [pet.requestUpdate('request')]],
    ['a bad expression', 'ValidationException', () => [pet.setting(5, 6, { ConditionExpression: 'a a' })]],
    ['a table that is not there', 'ResourceNotFoundException', () => [pet.setting(5, 6, { TableName: 'missing' })]],
  ])('is refused with %s', async (_, name, actions) => {
    expect(await pet.failure([pet.request('request'), ...actions()])).toMatchObject({ name, reasons: [] });
    expect(await pet.isRecorded('request')).toBe(false);
  });
});
