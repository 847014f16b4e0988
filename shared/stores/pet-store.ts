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

/** The records of the pets: one item per pet. */
export class PetStore {
  readonly #client: DynamoDBDocumentClient;
  readonly #tableName: string;

  constructor(client: DynamoDBDocumentClient, tableName: string) {
    this.#client = client;
    this.#tableName = tableName;
  }

  /** The record of a pet; undefined where there is none. */
  async find(petId: Int64): Promise<PetRecord | undefined> {
    const { Item } = await reachingDynamoDB(
      this.#client.send(new GetCommand({ TableName: this.#tableName, Key: { petId: BigInt(petId) } })),
    );
    return Item && v.parse(petItemSchema, Item);
  }
}
