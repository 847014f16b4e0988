import { DynamoDBClient, GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { requiredEnv } from '../../../shared/environment.ts';

/** In the place of the SDK's default credential chain: cut down to what Lambda has. */
export const defaultProvider = () => () =>
  Promise.resolve({
    accessKeyId: requiredEnv('AWS_ACCESS_KEY_ID'),
    secretAccessKey: requiredEnv('AWS_SECRET_ACCESS_KEY'),
  });

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
