import {
  type AttributeValue,
  ConditionalCheckFailedException,
  TransactionCanceledException,
  type CancellationReason,
} from '@aws-sdk/client-dynamodb';
import deleteItem from 'dynalite/actions/deleteItem.js';
import getItem from 'dynalite/actions/getItem.js';
import putItem from 'dynalite/actions/putItem.js';
import updateItem from 'dynalite/actions/updateItem.js';
import db from 'dynalite/db/index.js';
import { understand } from './expressions.ts';

export type Item = Record<string, AttributeValue>;
export type Input = Record<string, unknown>;

/** A change of one item. */
export interface Commit {
  readonly at: number;
  readonly table: string;
  readonly key: Item;
  readonly before: Item | undefined;
  readonly after: Item | undefined;
  /** Who made it. */
  readonly writer: string;
}

interface Change {
  readonly table: string;
  readonly key: string;
  readonly attributes: Item;
  readonly before: Item | undefined;
  readonly after: Item | undefined;
}

const actions: Record<string, DynaliteAction> = {
  GetItemCommand: getItem,
  PutItemCommand: putItem,
  UpdateItemCommand: updateItem,
  DeleteItemCommand: deleteItem,
  ConditionCheck: checkItem,
};

const partsOfTransaction: Record<string, string> = {
  Put: 'PutItemCommand',
  Update: 'UpdateItemCommand',
  Delete: 'DeleteItemCommand',
  ConditionCheck: 'ConditionCheck',
};

/** DynamoDB remembers the token of a transaction this long. */
const TOKEN_MS = 10 * 60_000;
const metadata = (httpStatusCode: number) => ({ $metadata: { httpStatusCode, attempts: 1, totalRetryDelay: 0 } });

/** Tables in memory, on which dynalite's own actions run at once, and all changes of their items. */
export class VirtualTables {
  readonly commits: Commit[] = [];
  readonly #tables = new Map<string, DynaliteTable>();
  readonly #items = new Map<string, Item>();
  readonly #tokens = new Map<string, { readonly at: number; readonly text: string }>();

  /** @param keys attribute names, the partition key first; the sort key is a number */
  createTable(name: string, ...keys: readonly string[]): void {
    this.#tables.set(name, {
      TableName: name,
      AttributeDefinitions: keys.map((key, index) => ({ AttributeName: key, AttributeType: index === 0 ? 'S' : 'N' })),
      KeySchema: keys.map((key, index) => ({ AttributeName: key, KeyType: index === 0 ? 'HASH' : 'RANGE' })),
    });
  }

  /** Carries out a command. Its input has the attribute values of DynamoDB's own API. Throws the SDK's errors. */
  execute(command: string, input: Input, at: number, writer = ''): Input {
    if (command === 'TransactWriteItemsCommand') return this.#transact(input, at, writer);
    const { result, changes } = this.#try(command, input);
    this.#commit(changes, at, writer);
    return { ...result, ...metadata(200) };
  }

  itemAt(table: string, key: Item): Item | undefined {
    return this.#items.get(this.#placeOf({ TableName: table, Key: key }));
  }

  /** Which items a command is about. */
  itemsOf(command: string, input: Input): string[] {
    if (command === 'TransactWriteItemsCommand') return partsOf(input).map(([, part]) => this.#placeOf(part));
    return [this.#placeOf(input)];
  }

  #transact(input: Input, at: number, writer: string): Input {
    const { ClientRequestToken: token } = input;
    const text = JSON.stringify(input);
    if (typeof token === 'string') {
      const earlier = this.#tokens.get(token);
      if (earlier && earlier.at > at - TOKEN_MS) {
        if (earlier.text !== text) throw new Error('A transaction has the token of another one');
        return metadata(200);
      }
    }
    const changes: Change[] = [];
    const reasons = partsOf(input).map(([name, part]): CancellationReason => {
      try {
        changes.push(...this.#try(name, part).changes);
        return { Code: 'None' };
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
        return { Code: 'ConditionalCheckFailed', Message: error.message, ...(error.Item && { Item: error.Item }) };
      }
    });
    if (reasons.some(({ Code }) => Code !== 'None')) throw canceled(reasons);
    if (typeof token === 'string') this.#tokens.set(token, { at, text });
    this.#commit(changes, at, writer);
    return metadata(200);
  }

  /** What a command would answer, and change. */
  #try(command: string, input: Input): { readonly result: Input; readonly changes: readonly Change[] } {
    const action = actions[command];
    if (!action) throw new Error(`The model does not know ${command}`);
    const changes: Change[] = [];
    const change = (table: string, key: string, after: Item | undefined): void => {
      const before = this.#items.get(`${table}/${key}`);
      const attributes = this.#keyOf(table, after ?? before ?? {});
      changes.push({ table, key: `${table}/${key}`, attributes, before, after });
    };
    let outcome: Input | undefined;
    action(this.#store(change), understand(input), (error, result) => {
      if (error?.body?.__type.endsWith('ConditionalCheckFailedException')) throw this.#conditionFailed(input);
      if (error) throw error;
      outcome = result ?? {};
    });
    if (!outcome) throw new Error(`${command} was not carried out at once`);
    return { result: outcome, changes };
  }

  #store(change: (table: string, key: string, after: Item | undefined) => void): DynaliteStore {
    return {
      options: { maxItemSize: 409_600 },
      getTable: (name, callback) => callback(null, this.#table(name)),
      getItemDb: (name) => ({
        lock: (_, work) => work((callback) => callback),
        get: (key, callback) => {
          const item = this.#items.get(`${name}/${key}`);
          if (item) callback(null, item);
          else callback(Object.assign(new Error('not found'), { name: 'NotFoundError' }));
        },
        put: (key, item, callback) => {
          change(name, key, item);
          callback(null);
        },
        del: (key, callback) => {
          change(name, key, undefined);
          callback(null);
        },
      }),
    };
  }

  #commit(changes: readonly Change[], at: number, writer: string): void {
    for (const { table, key, attributes, before, after } of changes) {
      if (after) this.#items.set(key, after);
      else this.#items.delete(key);
      this.commits.push({ at, table, key: attributes, before, after, writer });
    }
  }

  #conditionFailed(input: Input): ConditionalCheckFailedException {
    const item = input['ReturnValuesOnConditionCheckFailure'] === 'ALL_OLD' && this.#items.get(this.#placeOf(input));
    const message = 'The conditional request failed';
    return new ConditionalCheckFailedException({ message, ...(item && { Item: item }), ...metadata(400) });
  }

  #placeOf({ TableName, Key, Item }: Input): string {
    const name = String(TableName);
    return `${name}/${db.createKey(this.#keyOf(name, (Key ?? Item) as Item), this.#table(name))}`;
  }

  #keyOf(table: string, item: Item): Item {
    const names = this.#table(table).KeySchema.map(({ AttributeName }) => AttributeName);
    return Object.fromEntries(Object.entries(item).filter(([name]) => names.includes(name)));
  }

  #table(name: string): DynaliteTable {
    const table = this.#tables.get(name);
    if (!table) throw new Error(`There is no table ${name}`);
    return table;
  }
}

/** The failure of a transaction, with one reason for each of its parts. */
export function canceled(reasons: CancellationReason[]): TransactionCanceledException {
  const message = `Transaction cancelled, specific reasons [${reasons.map(({ Code }) => Code).join(', ')}]`;
  return new TransactionCanceledException({ message, CancellationReasons: reasons, ...metadata(400) });
}

function partsOf({ TransactItems }: Input): [string, Input][] {
  return (TransactItems as Record<string, Input>[]).flatMap((item) =>
    Object.entries(item).map(([kind, part]): [string, Input] => [partsOfTransaction[kind] ?? kind, part]),
  );
}

function checkItem(...[store, data, callback]: Parameters<DynaliteAction>): void {
  store.getTable(String(data['TableName']), (_, table) => {
    const key = table ? db.createKey(data['Key'] as Item, table) : '';
    store.getItemDb(String(data['TableName'])).get(key, (_error, item) => {
      const failure = db.checkConditional(data, item);
      callback(failure, {});
    });
  });
}
