import * as v from 'valibot';
import { type Int64, int64Schema, integerFrom } from './int64.ts';
import { ENTRY_TAG, type InventoryItemOf, type InventoryUpdateOf, MAX_QUANTITY, petStatuses } from './records.ts';

export { MAX_QUANTITY } from './records.ts';

export const quantitySchema = integerFrom(0, MAX_QUANTITY);

export const petStatusSchema = v.picklist(petStatuses, `must be one of ${petStatuses.join(', ')}`);

/** Body of `PATCH /inventory/{petId}`. */
export const inventoryUpdateSchema = v.strictObject({
  quantity: v.pipe(quantitySchema, v.description('The new stock count')),
} satisfies SchemasOf<InventoryUpdate>);
export type InventoryUpdate = InventoryUpdateOf<Int64>;

const DIFFERENCE_RULE = `must be an integer from -${MAX_QUANTITY} to ${MAX_QUANTITY}, and not 0`;

/** Body of `POST /inventory/{petId}/adjustments`. */
export const inventoryAdjustmentSchema = v.strictObject({
  by: v.pipe(
    integerFrom(-MAX_QUANTITY, MAX_QUANTITY, DIFFERENCE_RULE),
    v.notValue(0, DIFFERENCE_RULE),
    v.description('Amount to add; negative: to subtract'),
  ),
});
export type InventoryAdjustment = v.InferOutput<typeof inventoryAdjustmentSchema>;

/** Max updates per request. */
export const MAX_UPDATES = 25;
export const ROWS_RULE = `must be an array of 1 to ${MAX_UPDATES} updates`;
const TAG_RULE = 'must be an ETag from a response, such as "mX0aVbq3Zk1T" with its quotes';

/** Body of `PATCH /inventory`. */
export const inventoryUpdatesSchema = v.pipe(
  v.array(
    v.strictObject(
      {
        petId: v.pipe(int64Schema, v.description('The pet whose entry is updated')),
        ...inventoryUpdateSchema.entries,
        ifMatch: v.optional(
          v.pipe(
            v.string(TAG_RULE),
            v.regex(ENTRY_TAG, TAG_RULE),
            v.description('Update only the entry with this ETag'),
          ),
        ),
        ifQuantity: v.optional(v.pipe(quantitySchema, v.description('Update only if the quantity is still this'))),
      },
      'must be an object',
    ),
    ROWS_RULE,
  ),
  v.minLength(1, ROWS_RULE),
  v.maxLength(MAX_UPDATES, ROWS_RULE),
  v.checkItems(
    ({ petId }, index, rows) => rows.findIndex((row) => row.petId === petId) === index,
    'has the petId of an earlier row',
  ),
);
export type InventoryUpdates = v.InferOutput<typeof inventoryUpdatesSchema>;

/** A schema for each property of a record, and no other. */
export type SchemasOf<T> = { readonly [K in keyof T]-?: v.GenericSchema<unknown, T[K]> };

export type InventoryItem = InventoryItemOf<Int64>;

export const inventoryItemSchema = v.object({
  petId: v.pipe(int64Schema, v.description('The pet of the entry')),
  quantity: v.pipe(quantitySchema, v.description('Current stock count')),
  status: v.pipe(petStatusSchema, v.description('Status of the pet')),
} satisfies SchemasOf<InventoryItem>);

/** The fields that EventBridge rules match. */
export const stockEventKind = { Source: 'pet-store-inventory', DetailType: 'Stock Changed' } as const;

/** The `detail` of an event (docs/events.md): one change of an entry. Null: the entry has no such field now. */
export const stockChangedSchema = v.object({
  // Text, as consumers' parsers may round numbers beyond 2^53.
  petId: v.string(),
  quantity: v.nullish(quantitySchema, null),
  status: v.nullish(petStatusSchema, null),
  previous: v.nullish(v.omit(inventoryItemSchema, ['petId']), null),
  version: v.nullish(v.string(), null),
  changedAt: v.string(),
  sequence: v.string(),
} satisfies Record<keyof InventoryItem, v.GenericSchema> & Record<string, v.GenericSchema>);
export type StockChanged = v.InferOutput<typeof stockChangedSchema>;

/** The JSON text of an entry. A list has many, and `JSON.rawJSON` for the digits of `petId` takes much longer. */
export const inventoryItemToJson = ({ petId, ...fields }: InventoryItem): string =>
  `{"petId":${petId},${JSON.stringify(fields).slice(1)}`;

/** The ETag of a version of an entry: strong (RFC 9110 §8.8.3). */
export const entityTag = (version: string): string => `"${version}"`;
