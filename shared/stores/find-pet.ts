import { type DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import type { Int64 } from '../contract/int64.ts';
import type { PetRecord } from '../contract/pets.ts';
import { int64AttributeSchema, reachingDynamoDB } from '../dynamodb.ts';

const labelAttribute = v.object({ id: int64AttributeSchema, name: v.string() });

const petItemSchema = v.pipe(
  v.object({
    petId: int64AttributeSchema,
    name: v.string(),
    category: v.optional(labelAttribute),
    photoUrls: v.array(v.string()),
    tags: v.optional(v.array(labelAttribute)),
  }),
  v.transform(({ petId, ...rest }): PetRecord => ({ id: petId, ...rest })),
);

/** The record of a pet; undefined where there is none. @throws ServiceError SERVICE_UNAVAILABLE */
export async function findPet(
  client: DynamoDBDocumentClient,
  tableName: string,
  petId: Int64,
): Promise<PetRecord | undefined> {
  const get = new GetCommand({ TableName: tableName, Key: { petId: BigInt(petId) } });
  const { Item } = await reachingDynamoDB(client.send(get));
  return Item && v.parse(petItemSchema, Item);
}
