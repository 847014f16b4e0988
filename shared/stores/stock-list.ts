import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { type InventoryItem, petStatusSchema } from '../contract/inventory.ts';
import { int64AttributeSchema, safeNumberSchema } from '../dynamodb.ts';
import { SortedTable } from './sorted-table.ts';

export const stockEntrySchema = v.object({
  petId: int64AttributeSchema,
  quantity: safeNumberSchema,
  status: petStatusSchema,
});

/** The stock levels of the store, in ascending petId. */
export const stockList = (client: DynamoDBDocumentClient, tableName: string): SortedTable<InventoryItem> =>
  new SortedTable(client, tableName, 'petId', stockEntrySchema);
