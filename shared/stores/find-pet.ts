import { type DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import type { Int64 } from '../contract/int64.ts';
import type { SchemasOf } from '../contract/inventory.ts';
import type { Label, PetRecord } from '../contract/pets.ts';
import { int64AttributeSchema, parseItem } from '../item-attributes.ts';

const labelSchema = v.object({ id: int64AttributeSchema, name: v.string() } satisfies SchemasOf<Label>);

export const petItemSchema = v.pipe(
  v.object({
    petId: int64AttributeSchema,
    category: v.optional(labelSchema),
    name: v.string(),
    photoUrls: v.array(v.string()),
    tags: v.optional(v.array(labelSchema)),
  } satisfies SchemasOf<Omit<PetRecord, 'id'> & { petId: Int64 }>),
  v.transform(({ petId, ...rest }): PetRecord => ({ id: petId, ...rest })),
);

/** The item of a pet. Numbers that may exceed 2^53 are BigInts; the client omits undefined values. */
export const petItem = ({ id, category, tags, ...fields }: PetRecord) => ({
  petId: BigInt(id),
  ...fields,
  category: category && labelAttribute(category),
  tags: tags?.map(labelAttribute),
});

const labelAttribute = (label: Label) => ({ ...label, id: BigInt(label.id) });

/** The record of a pet; undefined if there is none. */
export async function findPet(
  client: DynamoDBDocumentClient,
  tableName: string,
  petId: Int64,
): Promise<PetRecord | undefined> {
  const get = new GetCommand({ TableName: tableName, Key: { petId: BigInt(petId) } });
  const { Item } = await client.send(get);
  return Item && parseItem(petItemSchema, Item, 'petId');
}
