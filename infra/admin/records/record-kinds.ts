import { extname } from 'node:path';
import * as v from 'valibot';
import type { Int64 } from '../../../shared/contract/int64.ts';
import { type InventoryItem, inventoryItemSchema } from '../../../shared/contract/inventory.ts';
import { type Order, orderSchema } from '../../../shared/contract/orders.ts';
import { type PetRecord, petRecordSchema } from '../../../shared/contract/pets.ts';
import { orderItem, orderList } from '../../../shared/stores/order-list.ts';
import { petItem } from '../../../shared/stores/find-pet.ts';
import { stockList } from '../../../shared/stores/sorted-table.ts';
import { stockItem } from '../../../shared/stores/stock-store.ts';
import type { Item } from '../../write-items.ts';
import { AdminError } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { formatNumber } from '../text-format.ts';
import { petList } from './pet-list.ts';

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
  /** Why a file of another format does not do, where that is not plain to see. */
  readonly formatReason?: string;
  /** The field that identifies a record. */
  readonly idField: string;
  readonly idOf: (entry: Entry) => Int64;
  /** Fields that such a record has elsewhere, but not in a file, with the reason. */
  readonly foreignFields?: ReadonlyMap<string, string>;
  readonly tableOf: (target: Target) => string;
  readonly toItem: (entry: Entry) => Item;
  readonly listOf: (target: Target) => RecordList<Entry>;
}

/** The records of a table. */
export interface RecordList<Entry> {
  /** All of them in ascending id, some at a time. */
  readonly all: () => AsyncGenerator<readonly Entry[]>;
  /** Those that there are of these, at most 100, as they are now. */
  readonly byIds: (ids: readonly Int64[]) => Promise<readonly Entry[]>;
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
  listOf: ({ documents, tables }) => stockList(documents, tables.stock),
};

/** Pets, in files as the API shows them, but without a status. */
export const pets: RecordKind<PetRecord> = {
  names: ['pet', 'pets'],
  schema: petRecordSchema,
  formats: ['.jsonl'],
  formatReason: 'a pet has lists, so it takes a line of JSON each',
  idField: 'id',
  idOf: ({ id }) => id,
  foreignFields: new Map([['status', 'comes from the stock entry: leave it out, and load it with inventory import']]),
  tableOf: ({ tables }) => tables.pets,
  toItem: petItem,
  listOf: ({ documents, tables }) => petList(documents, tables.pets),
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
  listOf: ({ documents, tables }) => orderList(documents, tables.orders),
};

/** `1,000 stock entries`. */
export function counted(count: number, { names: [one, several] }: Pick<RecordKind<never>, 'names'>): string {
  return `${formatNumber(count)} ${count === 1 ? one : several}`;
}

/** The format of a file, by the ending of its name. @throws AdminError where records of the kind have no such format */
export function formatOf<Entry>(file: string, kind: RecordKind<Entry>, action: string): Format {
  const ending = extname(file).toLowerCase();
  const format = kind.formats.find((known) => known === ending);
  if (format) return format;
  const reason = kind.formatReason === undefined ? '' : `: ${kind.formatReason}`;
  throw new AdminError(`Cannot ${action} ${file}: its name must end in ${formatsOf(kind)}${reason}.`);
}

/** `.csv or .jsonl`. */
export const formatsOf = ({ formats }: Pick<RecordKind<never>, 'formats'>): string => formats.join(' or ');
