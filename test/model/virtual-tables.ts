import {
  type AttributeValue,
  type CancellationReason,
  ConditionalCheckFailedException,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
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

/** A change of one item. */
export interface Commit {
  readonly at: number;
  /** Who made it. */
  readonly writer: string;
  readonly table: string;
  readonly key: Item;
  readonly before: Item | undefined;
  readonly after: Item | undefined;
}

interface Change extends Omit<Commit, 'at' | 'writer'> {
  /** Where the item is, among those of all tables. */
  readonly place: string;
}

interface Result {
  readonly output: Input;
  readonly changes: readonly Change[];
}

/** What dynalite has of a table. */
interface Table {
  readonly TableName: string;
  readonly AttributeDefinitions: readonly object[];
  readonly KeySchema: readonly { readonly AttributeName: string }[];
}

export const TRANSACTION = 'TransactWriteItemsCommand';

/** Commands, and parts of a transaction. */
const actions: Readonly<Record<string, typeof updateItem>> = {
  GetItemCommand: getItem,
  PutItemCommand: putItem,
  UpdateItemCommand: updateItem,
  DeleteItemCommand: deleteItem,
  Put: putItem,
  Update: updateItem,
};

const metadata = (httpStatusCode: number) => ({ $metadata: { httpStatusCode, attempts: 1, totalRetryDelay: 0 } });

/** Tables in memory, with dynalite's expressions: a command is carried out at once, and every change is noted. */
export class VirtualTables {
  /** All changes so far. */
  readonly commits: Commit[] = [];
  readonly #tables = new Map<string, Table>();
  readonly #items = new Map<string, Item>();

  /** @param keys the partition key is text, the sort key is a number */
  createTable(name: string, ...keys: readonly string[]): void {
    this.#tables.set(name, {
      TableName: name,
      AttributeDefinitions: keys.map((key, index) => ({ AttributeName: key, AttributeType: index === 0 ? 'S' : 'N' })),
      KeySchema: keys.map((key, index) => ({ AttributeName: key, KeyType: index === 0 ? 'HASH' : 'RANGE' })),
    });
  }

  itemAt(table: string, key: Item): Item | undefined {
    return this.#items.get(this.#placeOf({ TableName: table, Key: key }));
  }

  /** Which items a command is about. */
  itemsOf(command: string, input: Input): string[] {
    return partsOfCommand(command, input).map(([, part]) => this.#placeOf(part));
  }

  /** Puts an item in, as an admin does. */
  put(table: string, Item: Item, at: number): void {
    this.execute('PutItemCommand', { TableName: table, Item }, { at, writer: 'admin' });
  }

  /** Carries out a command. @throws the SDK's errors */
  execute(command: string, input: Input, occasion: Pick<Commit, 'at' | 'writer'>): Input {
    const results: Result[] = [];
    const failures: (ConditionalCheckFailedException | undefined)[] = [];
    for (const [action, part] of partsOfCommand(command, input)) {
      const result = this.#try(action, part);
      failures.push(result instanceof Error ? result : undefined);
      if (!(result instanceof Error)) results.push(result);
    }
    const failure = failures.find((each) => each);
    if (failure) throw command === TRANSACTION ? canceled(failures.map(reasonOf)) : failure;
    for (const { place, ...change } of results.flatMap(({ changes }) => changes)) {
      if (change.after) this.#items.set(place, change.after);
      else this.#items.delete(place);
      this.commits.push({ ...occasion, ...change });
    }
    return { ...(command !== TRANSACTION && results[0]?.output), ...metadata(200) };
  }

  /** What a command would answer, and change; or that its condition is false. */
  #try(command: string, input: Input): Result | ConditionalCheckFailedException {
    const action = actions[command];
    if (!action) throw new Error(`The model does not know ${command}`);
    const changes: Change[] = [];
    let result: Result | ConditionalCheckFailedException | undefined;
    const data = { TableName: String(input['TableName']), ...understand(input) };
    action(this.#storeFor(changes), data, (error, output) => {
      if (error && !isConditionFailure(error)) throw error;
      result = error ? this.#conditionFailed(input) : { output: partsOf(output), changes };
    });
    if (!result) throw new Error(`${command} was not carried out at once`);
    return result;
  }

  #conditionFailed(input: Input): ConditionalCheckFailedException {
    const isWanted = input['ReturnValuesOnConditionCheckFailure'] === 'ALL_OLD';
    const Item = isWanted ? this.#items.get(this.#placeOf(input)) : undefined;
    const message = 'The conditional request failed';
    return new ConditionalCheckFailedException({ message, ...(Item && { Item }), ...metadata(400) });
  }

  /** What dynalite's actions take for a database. They change nothing by themselves. */
  #storeFor(changes: Change[]): OperationStore {
    const change = (table: string, at: string, after?: Item): void => {
      const place = `${table}/${at}`;
      const before = this.#items.get(place);
      changes.push({ table, place, key: this.#keyOf(table, after ?? before ?? {}), before, after });
    };
    return {
      options: { maxItemSize: 409_600 },
      getTable: (name, done) => done(null, this.#table(name)),
      getItemDb: (name) => ({
        lock: (_, run) => run((done) => done),
        get: (key, done) => {
          const item = this.#items.get(`${name}/${key}`);
          done(item ? null : Object.assign(new Error('There is no item'), { name: 'NotFoundError' }), item);
        },
        put: (key, item, done) => {
          change(name, key, itemOf(item));
          done(null);
        },
        del: (key, done) => {
          change(name, key);
          done(null);
        },
      }),
    };
  }

  #placeOf({ TableName, Key, Item }: Input): string {
    const name = String(TableName);
    return `${name}/${db.createKey(this.#keyOf(name, partsOf(Key ?? Item)), this.#table(name))}`;
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

/** A command by itself; the parts of a transaction, each with what it does. */
function partsOfCommand(command: string, input: Input): [string, Input][] {
  if (command !== TRANSACTION) return [[command, input]];
  return Object.values(partsOf(input['TransactItems'])).flatMap((item) =>
    Object.entries(partsOf(item)).map(([name, part]): [string, Input] => [name, partsOf(part)]),
  );
}

/** The failure of a transaction, with one reason for each of its parts. */
export function canceled(reasons: CancellationReason[]): TransactionCanceledException {
  const message = `Transaction cancelled, specific reasons [${reasons.map(({ Code }) => Code).join(', ')}]`;
  return new TransactionCanceledException({ message, CancellationReasons: reasons, ...metadata(400) });
}

function reasonOf(failure: ConditionalCheckFailedException | undefined): CancellationReason {
  if (!failure) return { Code: 'None' };
  const { message, Item } = failure;
  return { Code: 'ConditionalCheckFailed', Message: message, ...(Item && { Item }) };
}

const isConditionFailure = (error: Error): boolean =>
  String(partsOf(partsOf(error)['body'])['__type']).endsWith('ConditionalCheckFailedException');

/** The parts of an object of which nothing is known; none where it is no object. */
export const partsOf = (value: unknown): Input => (typeof value === 'object' && value !== null ? { ...value } : {});

/** An item that went through dynalite, which makes nothing else of it. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
export const itemOf = (value: unknown): Item => value as Item;

/** What dynalite makes of expressions, by their text, and the values in it. */
const understood = new Map<string, { readonly parsed: Input; readonly values: Input }>();

/** The input of a command with what its expressions mean. Each is parsed once: that takes longer than all the rest. */
function understand(input: Input): Input {
  const { UpdateExpression, ConditionExpression, ExpressionAttributeNames } = input;
  const values = partsOf(input['ExpressionAttributeValues']);
  const types = Object.entries(values).map(([name, value]) => name + Object.keys(partsOf(value)).join());
  const text = JSON.stringify([UpdateExpression, ConditionExpression, ExpressionAttributeNames, types]);
  const known = understood.get(text) ?? parse(input);
  understood.set(text, known);
  for (const [name, value] of Object.entries(values)) Object.assign(known.values[name] ?? {}, value);
  // Actions change what they are given.
  return { ...input, ...structuredClone(known.parsed) };
}

function parse(input: Input): { parsed: Input; values: Input } {
  const data = structuredClone(input);
  const message = validations.validateExpressions(data);
  if (message !== undefined) throw new Error(message);
  const parsed = Object.fromEntries(Object.entries(data).filter(([name]) => name.startsWith('_')));
  return { parsed, values: partsOf(data['ExpressionAttributeValues']) };
}
