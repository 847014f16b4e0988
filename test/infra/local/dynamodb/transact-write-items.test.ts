import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { describeOnEachEngine } from '../../../support/engines.ts';
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

  test('makes its writes in all tables and their indexes', async () => {
    await pet.send([pet.request('request'), pet.setting(5, 7)]);

    expect(await pet.isRecorded('request')).toBe(true);
    expect(await pet.stock()).toEqual(pet.stockOf(7));
    expect(await pet.indexedStock()).toEqual(pet.stockOf(7));

    await pet.send([pet.deletion({ ConditionExpression: 'attribute_exists(petId)' }), pet.request('deleted')]);

    expect(await pet.isRecorded('deleted')).toBe(true);
    expect(await pet.stock()).toBeUndefined();
    expect(await pet.indexedStock()).toBeUndefined();
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
    expect(await pet.indexedStock()).toEqual(pet.stockOf(5));

    await pet.send([pet.deletion()]);

    expect(await pet.failure([pet.request('other'), pet.setting(5, 6, withOld)])).toEqual(
      cancelled('None, ConditionalCheckFailed', [{ Code: 'None' }, failed]),
    );
  });

  test('checks a condition without a write', async () => {
    expect(await pet.failure([pet.check('attribute_not_exists(petId)'), pet.request('request')])).toMatchObject({
      reasons: [{ Code: 'ConditionalCheckFailed' }, { Code: 'None' }],
    });
    expect(await pet.isRecorded('request')).toBe(false);

    await pet.send([pet.check('attribute_exists(petId)'), pet.request('request')]);

    expect(await pet.isRecorded('request')).toBe(true);
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
