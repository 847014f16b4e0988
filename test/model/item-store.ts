import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import deleteItem from 'dynalite/actions/deleteItem.js';
import getItem from 'dynalite/actions/getItem.js';
import putItem from 'dynalite/actions/putItem.js';
import updateItem from 'dynalite/actions/updateItem.js';
import db, { type OperationStore } from 'dynalite/db/index.js';
import validations from 'dynalite/validations/index.js';

/** An item as DynamoDB's own API has it. */
export type Item = Record<string, AttributeValue>;

/** The parameters of a command, as DynamoDB's own API has them. */
export type Input = Record<string, unknown>;

/** The parts of an object of which nothing is known; none where it is no object. */
export const partsOf = (value: unknown): Input => (typeof value === 'object' && value !== null ? { ...value } : {});

/** What the SDK has made of an item. */
export function itemOf(value: unknown): Item {
  if (!isItem(value)) throw new Error(`${JSON.stringify(value)} is not an item`);
  return value;
}

const isItem = (value: unknown): value is Item =>
  Object.values(partsOf(value)).every((attribute) => Object.keys(partsOf(attribute)).length === 1);

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

interface Understood {
  /** What dynalite makes of the expressions, with the first values that were seen. */
  readonly parsed: Input;
  /** The placeholder that each of those values stands for. */
  readonly placeholders: ReadonlyMap<unknown, string>;
}

const understood = new Map<string, Understood>();

/** The input of a command with what its expressions mean. Each is parsed once: that takes longer than all the rest. */
function understand(input: Input): Input {
  const values = partsOf(input['ExpressionAttributeValues']);
  const types = Object.entries(values).map(([name, value]) => name + Object.keys(partsOf(value)).join());
  const { UpdateExpression, ConditionExpression, ProjectionExpression, ExpressionAttributeNames } = input;
  const text = JSON.stringify([
    UpdateExpression,
    ConditionExpression,
    ProjectionExpression,
    ExpressionAttributeNames,
    types,
  ]);
  let found = understood.get(text);
  if (!found) {
    found = parse(input, values);
    understood.set(text, found);
  }
  return { ...input, ...withValues(found, values) };
}

function parse(input: Input, values: Input): Understood {
  const data: Input = { ...input };
  const message = validations.validateExpressions(data);
  if (message !== undefined) throw new Error(message);
  const placeholders = new Map(Object.entries(values).map(([name, value]): [unknown, string] => [value, name]));
  const parsed = Object.fromEntries(Object.entries(data).filter(([name]) => name.startsWith('_')));
  // Actions change what they are given, but not the values of the first command.
  return { parsed: partsOf(copy(parsed, (value) => (placeholders.has(value) ? value : undefined))), placeholders };
}

const withValues = ({ parsed, placeholders }: Understood, values: Input): Input =>
  partsOf(
    copy(parsed, (value) => {
      const name = placeholders.get(value);
      return name === undefined ? undefined : copy(values[name], () => undefined);
    }),
  );

/** A deep copy, in which some objects are replaced. */
function copy(value: unknown, replacement: (value: object) => unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  const replaced = replacement(value);
  if (replaced !== undefined) return replaced;
  if (Array.isArray(value)) return value.map((element: unknown) => copy(element, replacement));
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, copy(part, replacement)]));
}
