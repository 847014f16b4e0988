import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, paginateQuery, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { type InventoryItem, petStatusSchema } from './contract/inventory.ts';
import { type Int64, isInt64 } from './contract/int64.ts';
import { decimalTextSchema, reachingDynamoDB, safeNumberSchema } from './dynamodb.ts';

/** The one store there is: the partition key of every stock item. */
export const STORE_ID = 'main';

const stockItemSchema = v.object({
  petId: v.pipe(decimalTextSchema, v.guard(isInt64)),
  quantity: safeNumberSchema,
  status: petStatusSchema,
});

/** The stock levels of the store: one item per pet, in petId order (partition = store, sort key = petId). */
export class StockStore {
  readonly #client: DynamoDBDocumentClient;
  readonly #tableName: string;

  constructor(client: DynamoDBDocumentClient, tableName: string) {
    this.#client = client;
    this.#tableName = tableName;
  }

  /** All entries in ascending petId, one array a DynamoDB page. Reads are eventually consistent: half the price. */
  async *pages(): AsyncGenerator<InventoryItem[]> {
    const pages = paginateQuery(
      { client: this.#client },
      {
        TableName: this.#tableName,
        KeyConditionExpression: 'storeId = :storeId',
        ExpressionAttributeValues: { ':storeId': STORE_ID },
      },
    )[Symbol.asyncIterator]();
    for (;;) {
      const { done, value } = await reachingDynamoDB(pages.next());
      if (done) return;
      yield (value.Items ?? []).map((item) => v.parse(stockItemSchema, item));
    }
  }

  /** Sets the quantity of one pet, leaving its status. Returns the updated entry, or undefined for an unknown pet. */
  async setQuantity(petId: Int64, quantity: number): Promise<InventoryItem | undefined> {
    try {
      const { Attributes } = await reachingDynamoDB(
        this.#client.send(
          new UpdateCommand({
            TableName: this.#tableName,
            Key: { storeId: STORE_ID, petId: BigInt(petId) },
            UpdateExpression: 'SET quantity = :quantity',
            ConditionExpression: 'attribute_exists(petId)',
            ExpressionAttributeValues: { ':quantity': quantity },
            ReturnValues: 'ALL_NEW',
          }),
        ),
      );
      return v.parse(stockItemSchema, Attributes);
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return undefined;
      throw error;
    }
  }
}
