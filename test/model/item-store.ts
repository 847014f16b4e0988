import deleteItem from 'dynalite/actions/deleteItem.js';
import getItem from 'dynalite/actions/getItem.js';
import putItem from 'dynalite/actions/putItem.js';
import updateItem from 'dynalite/actions/updateItem.js';
import db, { type OperationStore } from 'dynalite/db/index.js';
import { type Input, type Item, itemOf, partsOf } from './attributes.ts';
import { understand } from './expressions.ts';

interface Change {
  readonly table: string;
  readonly place: string;
  readonly key: Item;
  readonly before: Item | undefined;
  readonly after: Item | undefined;
}

interface Table {
  readonly TableName: string;
  readonly AttributeDefinitions: readonly { readonly AttributeName: string; readonly AttributeType: string }[];
  readonly KeySchema: readonly { readonly AttributeName: string; readonly KeyType: string }[];
}

type Action = typeof updateItem;

const actions: Record<string, Action> = {
  GetItemCommand: getItem,
  PutItemCommand: putItem,
  UpdateItemCommand: updateItem,
  DeleteItemCommand: deleteItem,
  ConditionCheck: checkItem,
};

/** Items in memory. Commands on them are dynalite's own, which run at once here, and change nothing by themselves. */
export class ItemStore {
  readonly #tables = new Map<string, Table>();
  readonly #items = new Map<string, Item>();

  createTable(name: string, keys: readonly string[]): void {
    this.#tables.set(name, {
      TableName: name,
      AttributeDefinitions: keys.map((key, index) => ({ AttributeName: key, AttributeType: index === 0 ? 'S' : 'N' })),
      KeySchema: keys.map((key, index) => ({ AttributeName: key, KeyType: index === 0 ? 'HASH' : 'RANGE' })),
    });
  }

  get(place: string): Item | undefined {
    return this.#items.get(place);
  }

  set(place: string, item: Item | undefined): void {
    if (item) this.#items.set(place, item);
    else this.#items.delete(place);
  }

  /** Where the item is that a command is about. */
  placeOf({ TableName, Key, Item }: Input): string {
    const name = String(TableName);
    return `${name}/${db.createKey(this.#keyOf(name, partsOf(Key ?? Item)), this.#table(name))}`;
  }

  /** What a command would answer, and change. */
  try(command: string, input: Input): { readonly result: Input; readonly changes: Change[] } | 'condition failed' {
    const action = actions[command];
    if (!action) throw new Error(`The model does not know ${command}`);
    const changes: Change[] = [];
    let outcome: Input | 'condition failed' | undefined;
    action(
      this.#storeFor(changes),
      { TableName: String(input['TableName']), ...understand(input) },
      (error, result) => {
        if (error && !isConditionFailure(error)) throw error;
        outcome = error ? 'condition failed' : partsOf(result);
      },
    );
    if (outcome === undefined) throw new Error(`${command} was not carried out at once`);
    return outcome === 'condition failed' ? outcome : { result: outcome, changes };
  }

  /** What dynalite's actions take for a database. */
  #storeFor(changes: Change[]): OperationStore {
    const change = (table: string, at: string, written?: object): void => {
      const place = `${table}/${at}`;
      const before = this.#items.get(place);
      const after = written && itemOf(written);
      changes.push({ table, place, key: this.#keyOf(table, after ?? before ?? {}), before, after });
    };
    return {
      options: { maxItemSize: 409_600 },
      getTable: (name, done) => done(null, this.#table(name)),
      getIndexDb: noIndex,
      getItemDb: (name) => ({
        lock: (_, run) => run((done) => done),
        get: (key, done) => {
          const item = this.#items.get(`${name}/${key}`);
          done(item ? null : Object.assign(new Error('There is no item'), { name: 'NotFoundError' }), item);
        },
        put: (key, item, done) => {
          change(name, key, item);
          done(null);
        },
        del: (key, done) => {
          change(name, key);
          done(null);
        },
      }),
    };
  }

  #keyOf(table: string, item: object): Item {
    const names = new Set(this.#table(table).KeySchema.map(({ AttributeName }) => AttributeName));
    return itemOf(Object.fromEntries(Object.entries(item).filter(([name]) => names.has(name))));
  }

  #table(name: string): Table {
    const table = this.#tables.get(name);
    if (!table) throw new Error(`There is no table ${name}`);
    return table;
  }
}

function noIndex(): never {
  throw new Error('The tables of the model have no indexes');
}

const isConditionFailure = (error: Error): boolean =>
  String(partsOf(partsOf(error)['body'])['__type']).endsWith('ConditionalCheckFailedException');

/** The check of an item in a transaction, which dynalite has no action for. */
function checkItem(...[store, data, done]: Parameters<Action>): void {
  store.getTable(data.TableName, (_, table) => {
    store.getItemDb(data.TableName).get(db.createKey(data.Key ?? {}, table), (_error, item) => {
      done(db.checkConditional(data, item), { ConsumedCapacity: undefined });
    });
  });
}
