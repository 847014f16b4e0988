import { type DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import type { Int64 } from '../contract/int64.ts';
import type { PetRecord } from '../contract/pets.ts';
import { int64AttributeSchema, reachingDynamoDB } from '../dynamodb.ts';

const labelSchema = v.object({ id: int64AttributeSchema, name: v.string() });

export const petItemSchema = v.pipe(
  v.object({
    petId: int64AttributeSchema,
    name: v.string(),
    category: v.optional(labelSchema),
    photoUrls: v.array(v.string()),
    tags: v.optional(v.array(labelSchema)),
  }),
  v.transform(({ petId, ...rest }): PetRecord => ({ id: petId, ...rest })),
);

/** The item of a pet. Numbers that may be beyond 2^53 are BigInts. */
export const petItem = ({ id, category, name, photoUrls, tags }: PetRecord) => ({
  petId: BigInt(id),
  name,
  photoUrls,
  ...(category && { category: labelAttribute(category) }),
  ...(tags && { tags: tags.map(labelAttribute) }),
});

const labelAttribute = ({ id, name }: NonNullable<PetRecord['category']>) => ({ id: BigInt(id), name });

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
