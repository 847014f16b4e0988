import { extname } from 'node:path';
import { paginateScan } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import type { Int64 } from '../../../shared/contract/int64.ts';
import { type InventoryItem, inventoryItemSchema } from '../../../shared/contract/inventory.ts';
import { type Order, orderSchema } from '../../../shared/contract/orders.ts';
import { type PetRecord, petRecordSchema } from '../../../shared/contract/pets.ts';
import { petItem, petItemSchema } from '../../../shared/stores/find-pet.ts';
import { orderItem, orderItemSchema, orderList } from '../../../shared/stores/order-list.ts';
import { stockList } from '../../../shared/stores/sorted-table.ts';
import { stockEntrySchema, stockItem } from '../../../shared/stores/stock-store.ts';
import type { TableName } from '../../tables.ts';
import type { Item } from '../../../shared/item-attributes.ts';
import { AdminError } from '../service/failures.ts';
import type { Target } from '../service/target.ts';

export type Format = '.csv' | '.jsonl';

/** Receives the number of processed records; the total may grow. */
export type OnProgress = (done: number, total: number) => void;

/** Definition of a kind of record for import and export. */
export interface RecordKind<Entry> {
  /** Singular and plural, for messages. */
  readonly names: readonly [one: string, several: string];
  /** Schema of a row. An int64 may be a number or a string in the file; the schema receives its digits. */
  readonly schema: v.GenericSchema<unknown, Entry> & { readonly entries: v.ObjectEntries };
  readonly formats: readonly [Format, ...Format[]];
  readonly idField: string;
  readonly idOf: (entry: Entry) => Int64;
  /** Fields of the API that a file must not have, with the reason. */
  readonly foreignFields?: ReadonlyMap<string, string>;
  readonly table: TableName;
  readonly toItem: (entry: Entry) => Item;
  /** Key attributes of its item; the last is the id. */
  readonly keyNames: readonly string[];
  readonly itemSchema: v.GenericSchema<unknown, Entry>;
  readonly all: (target: Target) => AsyncGenerator<readonly Entry[]>;
}

/** Stock entries, in files as the API lists them. */
export const stockEntries: RecordKind<InventoryItem> = {
  names: ['stock entry', 'stock entries'],
  schema: v.strictObject(inventoryItemSchema.entries),
  formats: ['.csv', '.jsonl'],
  idField: 'petId',
  idOf: ({ petId }) => petId,
  table: 'stock',
  toItem: stockItem,
  keyNames: ['storeId', 'petId'],
  itemSchema: stockEntrySchema,
  all: ({ documents, tables }) => stockList(documents, tables.stock).all(),
};

/** Pets, in files as the API returns them, but without a status. */
export const pets: RecordKind<PetRecord> = {
  names: ['pet', 'pets'],
  schema: petRecordSchema,
  formats: ['.jsonl'],
  idField: 'id',
  idOf: ({ id }) => id,
  foreignFields: new Map([['status', 'belongs to the stock entry: remove it, and import it with inventory import']]),
  table: 'pets',
  toItem: petItem,
  keyNames: ['petId'],
  itemSchema: petItemSchema,
  // Their table is not sorted.
  async *all({ documents, tables }) {
    for await (const { Items = [] } of paginateScan({ client: documents }, { TableName: tables.pets }))
      yield Items.map((item) => v.parse(petItemSchema, item));
  },
};

export const orders: RecordKind<Order> = {
  names: ['order', 'orders'],
  schema: orderSchema,
  formats: ['.csv', '.jsonl'],
  idField: 'id',
  idOf: ({ id }) => id,
  table: 'orders',
  toItem: orderItem,
  keyNames: ['storeId', 'orderId'],
  itemSchema: orderItemSchema,
  all: ({ documents, tables }) => orderList(documents, tables.orders).all(),
};

/** Format of a file, by its extension. @throws AdminError if the kind does not support it */
export function formatOf<Entry>(file: string, kind: RecordKind<Entry>, action: string): Format {
  const ending = extname(file).toLowerCase();
  const format = kind.formats.find((known) => known === ending);
  if (format) return format;
  throw new AdminError(`Cannot ${action} ${file}: its extension must be ${formatsOf(kind)}.`);
}

/** `petId, quantity and status`. */
export const fieldsOf = ({ schema }: Pick<RecordKind<unknown>, 'schema'>): string =>
  new Intl.ListFormat('en-GB').format(fieldNames(schema.entries));

/** Names of fields, such as `petId` and `shipDate (optional)`. */
export const fieldNames = (fields: v.ObjectEntries): string[] =>
  Object.entries(fields).map(([name, { type }]) => (type === 'optional' ? `${name} (optional)` : name));

/** `.csv or .jsonl`. */
export const formatsOf = ({ formats }: Pick<RecordKind<never>, 'formats'>): string => formats.join(' or ');
