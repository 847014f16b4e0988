import { DynamoDBClient, GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';

/** A bare client with two commands, as anyone would write it, and nothing of ours. */
const client = new DynamoDBClient({});
const item = { TableName: process.env['STOCK_TABLE'], Key: { storeId: { S: 'main' }, petId: { N: '1' } } };

export const initialize = () => client.send(new GetItemCommand(item));

export async function handler() {
  await client.send(
    new UpdateItemCommand({
      ...item,
      UpdateExpression: 'SET quantity = :quantity',
      ExpressionAttributeValues: { ':quantity': { N: '5' } },
    }),
  );
  return { statusCode: 200 };
}
