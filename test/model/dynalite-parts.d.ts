/** The parts of dynalite that are functions of their arguments, as far as the model uses them. */

type DynaliteItem = Record<string, import('@aws-sdk/client-dynamodb').AttributeValue>;
type DynaliteCallback<Result> = (error: (Error & { body?: { __type: string } }) | null, result?: Result) => void;

interface DynaliteTable {
  readonly TableName: string;
  readonly AttributeDefinitions: readonly { readonly AttributeName: string; readonly AttributeType: 'S' | 'N' }[];
  readonly KeySchema: readonly { readonly AttributeName: string; readonly KeyType: 'HASH' | 'RANGE' }[];
}

/** What an action needs of dynalite's own store. */
interface DynaliteStore {
  readonly options: { readonly maxItemSize: number };
  getTable(name: string, callback: DynaliteCallback<DynaliteTable>): void;
  getItemDb(name: string): {
    lock(key: string, work: (release: <Callback>(callback: Callback) => Callback) => void): void;
    get(key: string, callback: DynaliteCallback<DynaliteItem>): void;
    put(key: string, item: DynaliteItem, callback: DynaliteCallback<void>): void;
    del(key: string, callback: DynaliteCallback<void>): void;
  };
}

type DynaliteAction = (
  store: DynaliteStore,
  data: Record<string, unknown>,
  callback: DynaliteCallback<Record<string, unknown>>,
) => void;

declare module 'dynalite/actions/*' {
  const action: DynaliteAction;
  export default action;
}

declare module 'dynalite/db/index.js' {
  const db: {
    createKey(key: DynaliteItem, table: DynaliteTable): string;
    checkConditional(data: Record<string, unknown>, item: DynaliteItem | undefined): Error | null;
  };
  export default db;
}

declare module 'dynalite/validations/index.js' {
  const validations: {
    /** Adds what the expressions mean; returns a message where they mean nothing. */
    validateExpressions(data: Record<string, unknown>): string | undefined;
  };
  export default validations;
}
