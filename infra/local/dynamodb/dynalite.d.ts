/** What the embedded engine uses of dynalite, which has no types. */
declare module 'dynalite' {
  import type { Server } from 'node:http';

  export default function dynalite(): Server;
}

declare module 'dynalite/db/index.js' {
  /** An item, or a key, in DynamoDB's own JSON. */
  export type Item = Readonly<Record<string, unknown>>;

  /** An error that the API answers with. */
  export interface ApiError extends Error {
    readonly statusCode: number;
    readonly body: { readonly __type: string; readonly message?: string; Item?: Item };
  }

  /** Parameters of a write, after they were checked. */
  export interface WriteData {
    readonly TableName: string;
    readonly ExpressionAttributeValues?: Readonly<Record<string, object>>;
    readonly ReturnValuesOnConditionCheckFailure?: string;
  }

  type Done<Result = void> = (error: Error | null, result: Result) => void;

  /** Runs while it holds a lock. What `releaseAfter` returns frees it, and calls `done`. */
  export type LockHolder = (releaseAfter: <Call>(done: Call) => Call) => void;

  export interface ItemStore {
    get(key: string, done: Done<Item | undefined>): void;
    put(key: string, value: Item, done: Done): void;
    lock(key: string, run: LockHolder): void;
  }

  /** What an operation uses of the store, as long as tables have no indexes. */
  export interface OperationStore {
    readonly options: { readonly maxItemSize: number };
    getTable(name: string, done: Done<object>): void;
    getItemDb(table: string): ItemStore;
  }

  /** What dynalite keeps everything in, on disk or in memory. */
  export interface Store extends OperationStore {
    readonly db: {
      open(options: object): Promise<void>;
      batch(writes: readonly { type: 'put'; key: string; value: Item }[]): Promise<void>;
      del(key: string): Promise<void>;
      iterator(options: object): AsyncIterable<[key: string, value: Item]>;
      keys(options: object): { close(): Promise<void> };
      values(options: object): { close(): Promise<void> };
    };
  }

  const db: {
    create: (options: object) => Store;
    /** Returns why the condition does not hold. */
    checkConditional: (data: WriteData, existing: Item | undefined) => ApiError | null | undefined;
    validationError(message: string): ApiError;
  };
  export default db;
}

declare module 'dynalite/db/*Parser.js' {
  /** What the names and values in an expression stand for, and which of them no expression has used so far. */
  export interface ParseContext {
    readonly attrNames?: Readonly<Record<string, string>>;
    readonly attrVals?: Readonly<Record<string, object>>;
    readonly unusedAttrNames: Record<string, unknown>;
    readonly unusedAttrVals: Record<string, unknown>;
  }

  /** `parse` returns what the expression means; a text where it is wrong. */
  export type Parser = { parse: (expression: string, options: { readonly context: ParseContext }) => object | string };

  const parser: Parser;
  export default parser;
}

declare module 'dynalite/validations/index.js' {
  import type { Store, WriteData } from 'dynalite/db/index.js';

  /** They throw an ApiError; the last returns what is wrong. Each adds what it finds to `data`. */
  const validations: {
    checkTypes(data: object, types: Record<string, unknown>): WriteData;
    checkValidations(data: WriteData, types: Record<string, unknown>, custom: unknown, store: Store): void;
    validateExpressions(data: object): string | undefined;
  };
  export default validations;
}

declare module 'dynalite/validations/*Item.js' {
  const validation: { readonly types: Record<string, unknown>; readonly custom: unknown };
  export default validation;
}

declare module 'dynalite/actions/*Item.js' {
  import type { OperationStore, WriteData } from 'dynalite/db/index.js';

  type Result = { readonly ConsumedCapacity: { readonly CapacityUnits: number } };
  type Done = (error: Error | null, result: Result) => void;

  export default function write(store: OperationStore, data: WriteData, done: Done): void;
}
