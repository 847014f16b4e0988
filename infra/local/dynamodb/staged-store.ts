import type { Callback, IndexStore, Item, ItemStore, OperationStore, Store, Table, Write } from 'dynalite/db/index.js';

/**
 * dynalite's store as the operations of a transaction see it: they read what is there, and their writes are kept back
 * until all of them are made at once. Whoever uses it holds the locks of the items.
 */
export class StagedStore implements OperationStore {
  readonly options: Store['options'];
  readonly #store: Store;
  readonly #writes: Write[] = [];

  constructor(store: Store) {
    this.#store = store;
    this.options = store.options;
  }

  getTable(name: string, done: Callback<Table>): void {
    this.#store.getTable(name, done);
  }

  // The prefixes are those of dynalite's own keys.
  getItemDb(table: string): ItemStore {
    const items = this.#store.getItemDb(table);
    return {
      ...this.#staged(`item-${table}~`),
      get: (key, done) => items.get(key, done),
      lock: (_key, run) => run((done) => done),
    };
  }

  getIndexDb(kind: string, table: string, index: string): IndexStore {
    return this.#staged(`index-${kind.toLowerCase()}~${table}~${index}~`);
  }

  /** Makes all writes, or none: one batch of LevelDB is atomic, also where the process is killed meanwhile. */
  commit(): Promise<void> {
    return this.#store.db.batch(this.#writes);
  }

  #staged(prefix: string): IndexStore {
    return {
      put: (key: string, value: Item, done: Callback) => {
        this.#writes.push({ type: 'put', key: prefix + key, value });
        done(null);
      },
      del: (key: string, done: Callback) => {
        this.#writes.push({ type: 'del', key: prefix + key });
        done(null);
      },
    };
  }
}
