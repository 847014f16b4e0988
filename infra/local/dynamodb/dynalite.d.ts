/** The used parts of dynalite, which has no types. */
declare module 'dynalite' {
  import type { Server } from 'node:http';

  export default function dynalite(): Server;
}

declare module 'dynalite/db/index.js' {
  import type { AttributeValue } from '@aws-sdk/client-dynamodb';

  /** An item, or a key. */
  export type Item = Record<string, AttributeValue>;

  /** An error that the API returns. */
  export interface ApiError extends Error {
    readonly statusCode: number;
    readonly body: { readonly __type: string; readonly message?: string; Item?: Item };
  }

  /** Validated parameters of a write. */
  export interface WriteData {
    readonly TableName: string;
    readonly ExpressionAttributeValues?: Item;
    readonly ReturnValuesOnConditionCheckFailure?: string;
  }

  export type Done<Result = void> = (error: Error | null, result: Result) => void;

  export interface ItemStore {
    get(key: string, done: Done<Item | undefined>): void;
    put(key: string, value: Item, done: Done): void;
    /** `run` holds the lock. The result of `releaseAfter` frees it, and calls `done`. */
    lock(key: string, run: (releaseAfter: <Call>(done: Call) => Call) => void): void;
  }

  /** The parts of the store for operations on tables without indexes. */
  export interface OperationStore {
    readonly options: { readonly maxItemSize: number };
    getTable(name: string, done: Done<object>): void;
    getItemDb(table: string): ItemStore;
  }

  export type BatchWrite = { readonly type: 'put'; readonly key: string; readonly value: Item };

  /** dynalite's store, on disk or in memory. */
  export interface Store extends OperationStore {
    readonly db: {
      open(options: object): Promise<void>;
      batch(writes: readonly BatchWrite[]): Promise<void>;
      del(key: string): Promise<void>;
      iterator(options: object): AsyncIterable<[key: string, table: { readonly TableStatus?: string }]>;
    } & Record<'keys' | 'values', (options: object) => { close(): Promise<void> }>;
  }

  const db: {
    create: (options: object) => Store;
    /** Returns why the condition failed. */
    checkConditional: (data: WriteData, existing: Item | undefined) => ApiError | null | undefined;
    validationError(message: string): ApiError;
  };
  export default db;
}

declare module 'dynalite/db/*Parser.js' {
  /** Names and values of an expression, and which of them are unused so far. */
  export interface ParseContext {
    readonly attrNames?: Readonly<Record<string, string>>;
    readonly attrVals?: Readonly<Record<string, object>>;
    readonly unusedAttrNames: Record<string, unknown>;
    readonly unusedAttrVals: Record<string, unknown>;
  }

  /** `parse` returns the parsed expression, or an error text. */
  export type Parser = { parse: (expression: string, options: { readonly context: ParseContext }) => object | string };

  const parser: Parser;
  export default parser;
}

declare module 'dynalite/validations/index.js' {
  import type { Store, WriteData } from 'dynalite/db/index.js';

  /** They throw an ApiError; the last returns an error text. Each adds its results to `data`. */
  const validations: {
    checkTypes(data: object, types: object): WriteData;
    checkValidations(data: WriteData, types: object, custom: unknown, store: Store): void;
    validateExpressions(data: object): string | undefined;
  };
  export default validations;
}

declare module 'dynalite/validations/*Item.js' {
  const validation: { readonly types: Record<string, unknown>; readonly custom: unknown };
  export default validation;
}

declare module 'dynalite/actions/*Item.js' {
  import type { Done, OperationStore, WriteData } from 'dynalite/db/index.js';

  type Result = { readonly ConsumedCapacity: { readonly CapacityUnits: number } };
  export default function write(store: OperationStore, data: WriteData, done: Done<Result>): void;
}
