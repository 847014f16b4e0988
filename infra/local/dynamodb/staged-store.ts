import type { Callback, Item, ItemStore, OperationStore, Store, Table } from 'dynalite/db/index.js';

/**
 * dynalite's store as the operations of a transaction see it: they read what is there, and their writes are kept back
 * until all of them are made at once. The caller holds the locks of the items. Puts and updates delete nothing, and
 * no table has an index.
 */
export class StagedStore implements OperationStore {
  readonly options: Store['options'];
  readonly #store: Store;
  readonly #writes: { type: 'put'; key: string; value: Item }[] = [];

  constructor(store: Store) {
    this.#store = store;
    this.options = store.options;
  }

  getTable(name: string, done: Callback<Table>): void {
    this.#store.getTable(name, done);
  }

  getItemDb(table: string): ItemStore {
    const items = this.#store.getItemDb(table);
    return {
      get: (key, done) => items.get(key, done),
      lock: (_key, run) => run((done) => done),
      put: (key, value, done) => {
        // The prefix is that of dynalite's own keys.
        this.#writes.push({ type: 'put', key: `item-${table}~${key}`, value });
        done(null);
      },
      del: (_key, done) => done(new Error('A transaction of the local host deletes nothing')),
    };
  }

  /** Makes all writes, or none: one batch of LevelDB is atomic, also where the process is killed meanwhile. */
  commit(): Promise<void> {
    return this.#store.db.batch(this.#writes);
  }
}
