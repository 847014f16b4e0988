/** What the embedded engine uses of dynalite, which has no types. */
declare module 'dynalite' {
  import type { Server } from 'node:http';

  export default function dynalite(): Server;
}

declare module 'dynalite/db/index.js' {
  export type Callback<Result = void> = (error: Error | null | undefined, result: Result) => void;

  /** An item, or a key, in DynamoDB's own JSON. */
  export type Item = Readonly<Record<string, unknown>>;

  export interface Table {
    readonly TableName: string;
  }

  /** Parameters of a write, after they were checked. PutItem has an item, the others have a key. */
  export interface WriteData {
    readonly TableName: string;
    readonly Item?: Item;
    readonly Key?: Item;
    readonly ReturnValuesOnConditionCheckFailure?: string;
    readonly ReturnConsumedCapacity?: string;
  }

  export interface ItemStore {
    put(key: string, value: Item, done: Callback): void;
    del(key: string, done: Callback): void;
    /** An item that is not there is an error whose name is NotFoundError. */
    get(key: string, done: Callback<Item | undefined>): void;
    /** Calls `run` once nothing else holds the lock of the key. What `release` returns frees it, and calls `done`. */
    lock(key: string, run: (release: Release) => void): void;
  }

  export type Release = <Done extends (...values: never[]) => void>(done: Done) => Done;

  /** What an operation uses of the store, as long as tables have no indexes. */
  export interface OperationStore {
    readonly options: { readonly maxItemSize: number };
    getTable(name: string, done: Callback<Table>): void;
    getItemDb(table: string): ItemStore;
  }

  /** What dynalite keeps everything in, on disk or in memory. */
  export interface Store extends OperationStore {
    readonly db: {
      batch(writes: readonly { type: 'put'; key: string; value: Item }[]): Promise<void>;
      keys(options: object): { close(): Promise<void> };
      values(options: object): { close(): Promise<void> };
    };
  }

  const db: {
    create: (options: {
      /** Folder of the LevelDB store; in memory without one. */
      readonly path?: string;
      readonly createTableMs: number;
      readonly deleteTableMs: number;
      readonly updateTableMs: number;
    }) => Store;
    /** @returns why the condition does not hold; nothing where it does */
    checkConditional: (data: WriteData, existing: Item | undefined) => Error | null | undefined;
    /** @returns what is wrong with an item, or a key; nothing where it fits the table */
    validateItem(item: Item, table: Table): Error | null | undefined;
    validateKey(key: Item, table: Table): Error | null | undefined;
    createKey(item: Item, table: Table): string;
    validationError(message: string): Error;
  };
  export default db;
}

declare module 'dynalite/validations/index.js' {
  import type { OperationStore, WriteData } from 'dynalite/db/index.js';

  export type FieldTypes = Record<string, string | Readonly<Record<string, unknown>>>;
  export type CustomCheck = (data: WriteData, store: OperationStore) => string | undefined;

  const validations: {
    /** Takes fields that are null or of no type out of `data`. @throws an error of the API on one of another type */
    checkTypes(data: object, types: FieldTypes): WriteData;
    /** Parses the expressions too. @throws an error of the API on a value that is not allowed */
    checkValidations(data: WriteData, types: FieldTypes, custom: CustomCheck, store: OperationStore): void;
    /** Adds to `data` what its expressions mean. @returns what is wrong with them; nothing where they are right */
    validateExpressions(data: object): string | undefined;
  };
  export default validations;
}

declare module 'dynalite/validations/*Item.js' {
  import type { CustomCheck, FieldTypes } from 'dynalite/validations/index.js';

  const validation: { readonly types: FieldTypes; readonly custom: CustomCheck };
  export default validation;
}

declare module 'dynalite/actions/*Item.js' {
  import type { Callback, OperationStore, WriteData } from 'dynalite/db/index.js';

  /** The capacity is undefined where the data did not ask for it. */
  type Result = { readonly ConsumedCapacity: { readonly CapacityUnits: number } | undefined };

  export default function write(store: OperationStore, data: WriteData, done: Callback<Result>): void;
}
