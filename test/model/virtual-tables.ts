import {
  type AttributeValue,
  type CancellationReason,
  ConditionalCheckFailedException,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import deleteItem from 'dynalite/actions/deleteItem.js';
import getItem from 'dynalite/actions/getItem.js';
import putItem from 'dynalite/actions/putItem.js';
import updateItem from 'dynalite/actions/updateItem.js';
import type { OperationStore } from 'dynalite/db/index.js';
import validations from 'dynalite/validations/index.js';
import { documentClient, exactNumbers } from '../../shared/dynamodb.ts';

/** An item as DynamoDB's own API has it. */
export type Item = Record<string, AttributeValue>;

/** The parameters of a command, as DynamoDB's own API has them. */
export type Input = Record<string, unknown>;

/** Changes a command before it is executed: a deliberate fault of the program under test. */
export type Tamper = (command: string, input: Input) => Input;

interface Occasion {
  readonly at: number;
  readonly writer: string;
}

/** A write of one item. */
export interface Commit extends Occasion {
  readonly table: string;
  readonly key: Item;
  readonly before: Item | undefined;
  readonly after: Item | undefined;
}

/** What a command or a part of one would do. */
interface Result {
  readonly output: Input;
  readonly commits: readonly Commit[];
  readonly failure?: ConditionalCheckFailedException;
}

/** What dynalite reads of a table. */
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

/** Tables in memory, with dynalite's expressions: a command is executed at once, and every write is recorded. */
export class VirtualTables {
  readonly commits: Commit[] = [];
  readonly #tables = new Map<string, Table>();
  readonly #items = new Map<string, Item | undefined>();

  /** @param keys the partition key, a string, and the sort key, a number */
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

  /** Identifies the items of a command. */
  itemsOf(command: string, input: Input): string[] {
    return partsOfCommand(command, input).map(([, part]) => this.#placeOf(part));
  }

  /** Puts an item in, as an admin does. */
  put(table: string, Item: Item, at: number): void {
    this.execute('PutItemCommand', { TableName: table, Item }, { at, writer: 'admin' });
  }

  /** @throws the SDK's errors */
  execute(command: string, input: Input, occasion: Occasion): Input {
    const results = partsOfCommand(command, input).map(([action, part]) => this.#try(action, part, occasion));
    const failure = results.find((result) => result.failure)?.failure;
    if (failure) throw command === TRANSACTION ? canceled(results.map(cancellationReason)) : failure;
    for (const commit of results.flatMap(({ commits }) => commits)) {
      this.#items.set(this.#placeOf({ TableName: commit.table, Key: commit.key }), commit.after);
      this.commits.push(commit);
    }
    return { ...(command !== TRANSACTION && results[0]?.output), ...metadata(200) };
  }

  #try(command: string, input: Input, occasion: Occasion): Result {
    const action = actions[command];
    if (!action) throw new Error(`The model does not know ${command}`);
    const table = String(input['TableName']);
    const before = this.#items.get(this.#placeOf(input));
    const commits: Commit[] = [];
    let result: Result | undefined;
    const store = this.#storeOf(before, (after) => {
      commits.push({ ...occasion, table, key: this.#keyOf(input), before, after });
    });
    action(store, { TableName: table, ...understand(input) }, (error, output) => {
      if (error && !isConditionFailure(error)) throw error;
      result = { output: partsOf(output), commits, ...(error && { failure: conditionFailed(input, before) }) };
    });
    if (!result) throw new Error(`${command} was not executed at once`);
    return result;
  }

  /** The database that dynalite's actions work on. It has one item. */
  #storeOf(item: Item | undefined, write: (after: Item | undefined) => void): OperationStore {
    return {
      options: { maxItemSize: 409_600 },
      getTable: (name, done) => done(null, this.#table(name)),
      getItemDb: () => ({
        lock: (_, run) => run((done) => done),
        get: (_, done) =>
          done(item ? null : Object.assign(new Error('There is no item'), { name: 'NotFoundError' }), item),
        put: (_, after, done) => {
          write(itemOf(after));
          done(null);
        },
        del: (_, done) => {
          write(undefined);
          done(null);
        },
      }),
    };
  }

  #placeOf(part: Input): string {
    return JSON.stringify([part['TableName'], this.#keyOf(part)]);
  }

  #keyOf({ TableName, Key, Item }: Input): Item {
    const item = partsOf(Key ?? Item);
    const { KeySchema } = this.#table(String(TableName));
    return itemOf(Object.fromEntries(KeySchema.map(({ AttributeName }) => [AttributeName, item[AttributeName]])));
  }

  #table(name: string): Table {
    const table = this.#tables.get(name);
    if (!table) throw new Error(`There is no table ${name}`);
    return table;
  }
}

/** A command by itself; the parts of a transaction, each with its action. */
function partsOfCommand(command: string, input: Input): [string, Input][] {
  if (command !== TRANSACTION) return [[command, input]];
  return Object.values(partsOf(input['TransactItems'])).flatMap((item) =>
    Object.entries(partsOf(item)).map(([name, part]): [string, Input] => [name, partsOf(part)]),
  );
}

function conditionFailed(input: Input, item: Item | undefined): ConditionalCheckFailedException {
  const returnsItem = item && input['ReturnValuesOnConditionCheckFailure'] === 'ALL_OLD';
  const message = 'The conditional request failed';
  return new ConditionalCheckFailedException({ message, ...(returnsItem && { Item: item }), ...metadata(400) });
}

/** The failure of a transaction, with one reason for each of its parts. */
export function canceled(reasons: CancellationReason[]): TransactionCanceledException {
  const message = `Transaction cancelled, specific reasons [${reasons.map(({ Code }) => Code).join(', ')}]`;
  return new TransactionCanceledException({ message, CancellationReasons: reasons, ...metadata(400) });
}

function cancellationReason({ failure }: Result): CancellationReason {
  if (!failure) return { Code: 'None' };
  const { message, Item } = failure;
  return { Code: 'ConditionalCheckFailed', Message: message, ...(Item && { Item }) };
}

const isConditionFailure = (error: Error): boolean =>
  String(partsOf(partsOf(error)['body'])['__type']).endsWith('ConditionalCheckFailedException');

/** The properties of an unknown value; none where it is no object. */
export const partsOf = (value: unknown): Input => (typeof value === 'object' && value !== null ? { ...value } : {});

/** An item that went through dynalite, which makes nothing else of it. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const itemOf = (value: unknown): Item => value as Item;

/** Expressions that dynalite has parsed, by their text, and the values in them. */
const understood = new Map<string, { readonly parsed: Input; readonly values: Input }>();

/** The input of a command with its parsed expressions. Each is parsed once: that takes longer than all the rest. */
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

/**
 * A client whose calls end in a function instead of the network. The SDK checks a command and makes attribute values of
 * it, and plain items of the answer.
 */
export function clientOver(call: (command: string, input: Input) => Promise<Input>): DynamoDBDocumentClient {
  const client = documentClient({ requestTimeout: 1_000 });
  client.middlewareStack.addRelativeTo(
    (_: unknown, { commandName = '' }) =>
      async ({ input }: { readonly input: object }) => {
        const output = Object.entries(await call(commandName, { ...input })).map(([name, value]) => {
          if (name === 'Attributes' || name === 'Item') return [name, plainItem(value)];
          return [name, name === 'Items' && Array.isArray(value) ? value.map(plainItem) : value];
        });
        const answer: Input = Object.fromEntries(output);
        // The type of an answer depends on the command, which is not known here.
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion
        return { output: answer as never, response: undefined };
      },
    { relation: 'after', toMiddleware: 'DocumentMarshall' },
  );
  return client;
}

export const plainItem = (item: unknown) => unmarshall(itemOf(item), { ...exactNumbers });
