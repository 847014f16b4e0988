import { extname } from 'node:path';
import { paginateScan } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import type { Int64 } from '../../../shared/contract/int64.ts';
import { type InventoryItem, inventoryItemSchema } from '../../../shared/contract/inventory.ts';
import { type Order, orderSchema } from '../../../shared/contract/orders.ts';
import { type PetRecord, petRecordSchema } from '../../../shared/contract/pets.ts';
import { orderItem, orderItemSchema, orderList } from '../../../shared/stores/order-list.ts';
import { petItem, petItemSchema } from '../../../shared/stores/find-pet.ts';
import { stockEntrySchema, stockList } from '../../../shared/stores/sorted-table.ts';
import { stockItem } from '../../../shared/stores/stock-store.ts';
import type { Item } from '../../write-items.ts';
import { AdminError } from '../admin-error.ts';
import type { Target } from '../target.ts';

/** Formats of a file, by the ending of its name. */
export type Format = '.csv' | '.jsonl';

/** Records that went from one place to another. */
export interface Transfer {
  readonly count: number;
  /** In a sentence, which is safe to show. */
  readonly message: string;
}

/** Called with the number of records that are done; the total may grow on the way. */
export type OnProgress = (done: number, total: number) => void;

/** What an import needs to know about the records that it loads. */
export interface RecordKind<Entry> {
  /** For messages: one of them, and several. */
  readonly names: readonly [one: string, several: string];
  /** Rules of a row. In a file an int64 may be a number or text; it reaches the schema as its digits. */
  readonly schema: v.GenericSchema<unknown, Entry> & { readonly entries: v.ObjectEntries };
  readonly formats: readonly [Format, ...Format[]];
  /** The field that identifies a record. */
  readonly idField: string;
  readonly idOf: (entry: Entry) => Int64;
  /** Fields that such a record has elsewhere, but not in a file, with the reason. */
  readonly foreignFields?: ReadonlyMap<string, string>;
  readonly tableOf: (target: Target) => string;
  readonly toItem: (entry: Entry) => Item;
  /** Of its item; the last is the id. */
  readonly keyNames: readonly string[];
  readonly itemSchema: v.GenericSchema<unknown, Entry>;
  /** All of them, some at a time. */
  readonly all: (target: Target) => AsyncGenerator<readonly Entry[]>;
}

/** Stock entries, in files as the API lists them. */
export const stockEntries: RecordKind<InventoryItem> = {
  names: ['stock entry', 'stock entries'],
  schema: v.strictObject(inventoryItemSchema.entries),
  formats: ['.csv', '.jsonl'],
  idField: 'petId',
  idOf: ({ petId }) => petId,
  tableOf: ({ tables }) => tables.stock,
  toItem: stockItem,
  keyNames: ['storeId', 'petId'],
  itemSchema: stockEntrySchema,
  all: ({ documents, tables }) => stockList(documents, tables.stock).all(),
};

/** Pets, in files as the API shows them, but without a status. */
export const pets: RecordKind<PetRecord> = {
  names: ['pet', 'pets'],
  schema: petRecordSchema,
  formats: ['.jsonl'],
  idField: 'id',
  idOf: ({ id }) => id,
  foreignFields: new Map([['status', 'comes from the stock entry: leave it out, and load it with inventory import']]),
  tableOf: ({ tables }) => tables.pets,
  toItem: petItem,
  keyNames: ['petId'],
  itemSchema: petItemSchema,
  all: allPets,
};

/** Orders, in files as the API lists them. */
export const orders: RecordKind<Order> = {
  names: ['order', 'orders'],
  schema: orderSchema,
  formats: ['.csv', '.jsonl'],
  idField: 'id',
  idOf: ({ id }) => id,
  tableOf: ({ tables }) => tables.orders,
  toItem: orderItem,
  keyNames: ['storeId', 'orderId'],
  itemSchema: orderItemSchema,
  all: ({ documents, tables }) => orderList(documents, tables.orders).all(),
};

/** Their table has no order. */
async function* allPets({ documents, tables }: Target): AsyncGenerator<readonly PetRecord[]> {
  for await (const { Items = [] } of paginateScan({ client: documents }, { TableName: tables.pets }))
    yield Items.map((item) => v.parse(petItemSchema, item));
}

/** The format of a file, by the ending of its name. @throws AdminError where records of the kind have no such format */
export function formatOf<Entry>(file: string, kind: RecordKind<Entry>, action: string): Format {
  const ending = extname(file).toLowerCase();
  const format = kind.formats.find((known) => known === ending);
  if (format) return format;
  throw new AdminError(`Cannot ${action} ${file}: its name must end in ${formatsOf(kind)}.`);
}

/** `petId, quantity and status`. */
export const fieldsOf = ({ schema }: Pick<RecordKind<unknown>, 'schema'>): string =>
  new Intl.ListFormat('en-GB').format(fieldNames(schema.entries));

/** Of fields, such as `petId` and `shipDate (optional)`. */
export const fieldNames = (fields: v.ObjectEntries): string[] =>
  Object.entries(fields).map(([name, { type }]) => (type === 'optional' ? `${name} (optional)` : name));

/** `.csv or .jsonl`. */
export const formatsOf = ({ formats }: Pick<RecordKind<never>, 'formats'>): string => formats.join(' or ');
