import { type AttributeValue, ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import getItem from 'dynalite/actions/getItem.js';
import putItem from 'dynalite/actions/putItem.js';
import updateItem from 'dynalite/actions/updateItem.js';
import conditionParser from 'dynalite/db/conditionParser.js';
import type { OperationStore } from 'dynalite/db/index.js';
import updateParser from 'dynalite/db/updateParser.js';
import validations from 'dynalite/validations/index.js';
import { cacheParsed } from '../../infra/local/dynamodb/cache-parsed.ts';
import { documentClient } from '../../shared/dynamodb.ts';
import { exactNumbers } from '../../shared/item-attributes.ts';
import { type KeyRecord, parseKeyRecord } from '../../shared/keys/key-record.ts';

/** An item as DynamoDB's own API has it. */
export type Item = Record<string, AttributeValue>;

/** The parameters of a command, or its response, as DynamoDB's own API has them. */
export type Input = Record<string, unknown>;

interface Occasion {
  readonly at: number;
  readonly writer: string;
}

/** A write of one item. */
export interface Commit extends Occasion {
  readonly before: Item | undefined;
  readonly after: Item;
}

/** What dynalite reads of the table. */
const TABLE = {
  TableName: 'keys',
  AttributeDefinitions: [{ AttributeName: 'recordId', AttributeType: 'S' }],
  KeySchema: [{ AttributeName: 'recordId', KeyType: 'HASH' }],
};

const actions: Readonly<Record<string, typeof updateItem>> = {
  GetItemCommand: getItem,
  PutItemCommand: putItem,
  UpdateItemCommand: updateItem,
};

// To parse an expression takes longer than all the rest.
for (const parser of [conditionParser, updateParser]) cacheParsed(parser);

const metadata = (httpStatusCode: number) => ({ $metadata: { httpStatusCode, attempts: 1, totalRetryDelay: 0 } });

/** The keys table in memory, with dynalite's expressions: a command is executed at once; every write is recorded. */
export class VirtualTable {
  readonly commits: Commit[] = [];
  readonly #items = new Map<string, Item>();

  get records(): KeyRecord[] {
    return [...this.#items.values()].map(recordOf);
  }

  recordAt(recordId: string): KeyRecord {
    return recordOf(this.#items.get(recordId));
  }

  put(Item: Item, at: number): void {
    this.execute('PutItemCommand', { TableName: TABLE.TableName, Item }, { at, writer: 'admin' });
  }

  /** @throws the SDK's errors */
  execute(command: string, input: Input, occasion: Occasion): Input {
    if (command === 'ScanCommand') return { Items: [...this.#items.values()], ...metadata(200) };
    const action = actions[command];
    if (!action) throw new Error(`The model does not know ${command}`);
    const recordId = keyOf(input);
    const before = this.#items.get(recordId);
    const store = storeOf(before, (after) => {
      this.#items.set(recordId, after);
      this.commits.push({ ...occasion, before, after });
    });
    // Actions change what they are given.
    const data = structuredClone({ ...input, TableName: TABLE.TableName });
    const wrong = validations.validateExpressions(data);
    if (wrong !== undefined) throw new Error(wrong);
    let reply: Input | undefined;
    action(store, data, (error, output) => {
      if (error) throw isConditionFailure(error) ? conditionFailed(input, before) : error;
      reply = { ...partsOf(output), ...metadata(200) };
    });
    if (!reply) throw new Error(`${command} was not executed at once`);
    return reply;
  }
}

/** The history table in memory: what the history of keys asks of it, and no more. */
export class VirtualHistory {
  readonly #items: Item[] = [];

  /** @throws the SDK's errors */
  execute(command: string, { Item, ExpressionAttributeValues, Limit }: Input): Input {
    if (command === 'PutItemCommand') {
      const isSame = (other: Item) => ['recordId', 'revision'].every((key) => text(other, key) === text(Item, key));
      if (this.#items.some(isSame)) throw conditionFailed({}, undefined);
      this.#items.push(itemOf(Item));
      return metadata(200);
    }
    const recordId = text(ExpressionAttributeValues, ':recordId');
    const found = this.#items.filter((item) => text(item, 'recordId') === recordId);
    const latest = found.toSorted((a, b) => Number(b['revision']?.N) - Number(a['revision']?.N));
    return { Items: latest.slice(0, Number(Limit)), ...metadata(200) };
  }
}

const text = (item: unknown, name: string): string => JSON.stringify(partsOf(item)[name]);

/** The partition key of the item that a command is about. */
export const keyOf = ({ Key, Item }: Input): string => String(partsOf(partsOf(Key ?? Item)['recordId'])['S']);

/** The database that dynalite's actions work on. It has one item. */
function storeOf(item: Item | undefined, write: (after: Item) => void): OperationStore {
  return {
    options: { maxItemSize: 409_600 },
    getTable: (_, done) => done(null, TABLE),
    getItemDb: () => ({
      lock: (_, run) => run((done) => done),
      get: (_, done) =>
        done(item ? null : Object.assign(new Error('There is no item'), { name: 'NotFoundError' }), item),
      put: (_, after, done) => {
        write(itemOf(after));
        done(null);
      },
    }),
  };
}

function conditionFailed(input: Input, item: Item | undefined): ConditionalCheckFailedException {
  const returnsItem = item && input['ReturnValuesOnConditionCheckFailure'] === 'ALL_OLD';
  const message = 'The conditional request failed';
  return new ConditionalCheckFailedException({ message, ...(returnsItem && { Item: item }), ...metadata(400) });
}

const isConditionFailure = (error: Error): boolean =>
  String(partsOf(partsOf(error)['body'])['__type']).endsWith('ConditionalCheckFailedException');

/** The properties of an unknown value; none where it is no object. */
export const partsOf = (value: unknown): Input => (typeof value === 'object' && value !== null ? { ...value } : {});

/** An item that went through dynalite, which makes nothing else of it. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const itemOf = (value: unknown): Item => value as Item;

const plainItem = (item: unknown) => unmarshall(itemOf(item), { ...exactNumbers });

export const recordOf = (item: Item | undefined): KeyRecord => parseKeyRecord(item && plainItem(item), 'keys');

/**
 * A client whose calls end in a function instead of the network. The SDK checks a command and makes attribute values of
 * it, and plain items of the response.
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
        const reply: Input = Object.fromEntries(output);
        // The type of a response depends on the command, which is not known here.
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion
        return { output: reply as never, response: undefined };
      },
    { relation: 'after', toMiddleware: 'DocumentMarshall' },
  );
  return client;
}
