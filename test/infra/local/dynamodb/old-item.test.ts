import { randomUUID } from 'node:crypto';
import {
  type ConditionalCheckFailedException,
  DeleteItemCommand,
  DynamoDBClient,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { beforeAll, expect, test } from '@jest/globals';
import { createTables } from '../../../../infra/local/dynamodb/tables.ts';
import { describeOnEachEngine } from '../../../support/engines.ts';
import { tableResource } from '../../../support/tables.ts';

const TableName = `stock-${randomUUID()}`;
const known = { petId: { N: '1' }, quantity: { N: '5' } };

type Answer = 'ALL_OLD' | 'NONE' | undefined;

const condition = (answer: Answer) => ({
  TableName,
  ConditionExpression: 'quantity = :other',
  ExpressionAttributeValues: { ':other': { N: '6' } },
  ReturnValuesOnConditionCheckFailure: answer,
});

describeOnEachEngine('A condition that fails', () => {
  let client: DynamoDBClient;

  beforeAll(async () => {
    client = new DynamoDBClient({ maxAttempts: 1 });
    await createTables(client, [tableResource(TableName, { petId: 'N' })]);
    await client.send(new PutItemCommand({ TableName, Item: known }));
  });

  const writes = {
    PutItem: (petId: string, answer: Answer) =>
      client.send(new PutItemCommand({ ...condition(answer), Item: { petId: { N: petId } } })),
    UpdateItem: (petId: string, answer: Answer) =>
      client.send(
        new UpdateItemCommand({
          ...condition(answer),
          Key: { petId: { N: petId } },
          UpdateExpression: 'SET quantity = :other',
        }),
      ),
    DeleteItem: (petId: string, answer: Answer) =>
      client.send(new DeleteItemCommand({ ...condition(answer), Key: { petId: { N: petId } } })),
  };

  test.each(['PutItem', 'UpdateItem', 'DeleteItem'] as const)('brings the old item of %s if asked to', async (name) => {
    const write = writes[name];
    const failure = (petId: string, answer: Answer) =>
      write(petId, answer).then(
        () => 'written',
        ({ name: error, message, Item }: ConditionalCheckFailedException) => ({ error, message, Item }),
      );
    const failed = { error: 'ConditionalCheckFailedException', message: 'The conditional request failed' };

    expect(await failure('1', 'ALL_OLD')).toEqual({ ...failed, Item: known });
    expect(await failure('2', 'ALL_OLD')).toEqual({ ...failed, Item: undefined });
    expect(await failure('1', 'NONE')).toEqual({ ...failed, Item: undefined });
    expect(await failure('1', undefined)).toEqual({ ...failed, Item: undefined });
  });
});
