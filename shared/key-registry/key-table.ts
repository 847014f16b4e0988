import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  paginateScan,
  PutCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { type KeyIdentity, type KeyRecord, parseKeyRecord } from '../keys/key-record.ts';

/** What a change may set; `undefined` takes the attribute away. Counters are the limiter's business. */
export type KeyChange = { readonly [Name in keyof KeyRecord]?: KeyRecord[Name] | undefined };

/** The keys table for those who manage keys. Each change replaces a known revision, so none undoes another unseen. */
export class KeyTable {
  readonly #client: DynamoDBDocumentClient;
  readonly #tableName: string;

  constructor(client: DynamoDBDocumentClient, tableName: string) {
    this.#client = client;
    this.#tableName = tableName;
  }

  /** All keys there are, page by page. */
  async *pages(): AsyncGenerator<KeyRecord[]> {
    const pages = paginateScan({ client: this.#client }, { TableName: this.#tableName, ConsistentRead: true });
    for await (const { Items = [] } of pages) yield Items.map(parseKeyRecord);
  }

  async get(keyHash: string): Promise<KeyRecord | undefined> {
    const { Item } = await this.#client.send(
      new GetCommand({ TableName: this.#tableName, Key: { keyHash }, ConsistentRead: true }),
    );
    return Item && parseKeyRecord(Item);
  }

  /** Puts a key that is not there yet. @returns whether it was put */
  add(record: Omit<KeyRecord, 'revision'>): Promise<boolean> {
    return this.#ifHolds(
      new PutCommand({
        TableName: this.#tableName,
        Item: { ...withoutUndefined(record), revision: 1 },
        ConditionExpression: 'attribute_not_exists(keyHash)',
      }),
    );
  }

  /** Puts a key whether it is there or not. Only for one that nobody can use yet. */
  async put(record: Omit<KeyRecord, 'revision'>): Promise<void> {
    await this.#client.send(
      new PutCommand({ TableName: this.#tableName, Item: { ...withoutUndefined(record), revision: 1 } }),
    );
  }

  /**
   * Changes a key, if it is still as it was read.
   *
   * @param unchanged attributes besides the revision that must still be as they were read
   * @returns whether it was changed
   */
  revise(key: KeyRecord, change: KeyChange, unchanged: readonly (keyof KeyRecord)[] = []): Promise<boolean> {
    const sets = Object.entries({ ...change, revision: key.revision + 1 }).filter(([, value]) => value !== undefined);
    const removes = Object.entries(change).flatMap(([name, value]) => (value === undefined ? [name] : []));
    const conditions = unchanged.map((name) => `#${name} = :was_${name}`);
    // Records from before there were revisions have none.
    const isRevision = key.revision === 0 ? 'attribute_not_exists(#revision) OR #revision = :was' : '#revision = :was';
    const names = [...sets.map(([name]) => name), ...removes, ...unchanged, 'revision'];
    return this.#ifHolds(
      new UpdateCommand({
        TableName: this.#tableName,
        Key: { keyHash: key.keyHash },
        UpdateExpression:
          `SET ${sets.map(([name]) => `#${name} = :${name}`).join(', ')}` +
          (removes.length > 0 ? ` REMOVE ${removes.map((name) => `#${name}`).join(', ')}` : ''),
        ConditionExpression: ['attribute_exists(keyHash)', `(${isRevision})`, ...conditions].join(' AND '),
        ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
        ExpressionAttributeValues: Object.fromEntries([
          ...sets.map(([name, value]) => [`:${name}`, value]),
          ...unchanged.map((name) => [`:was_${name}`, key[name]]),
          [':was', key.revision],
        ]),
      }),
    );
  }

  /** Removes a key, if it is still as it was read. @returns whether it is gone */
  remove(key: KeyRecord): Promise<boolean> {
    return this.#ifHolds(
      new DeleteCommand({
        TableName: this.#tableName,
        Key: { keyHash: key.keyHash },
        ConditionExpression: 'attribute_not_exists(keyHash) OR attribute_not_exists(revision) OR revision = :was',
        ExpressionAttributeValues: { ':was': key.revision },
      }),
    );
  }

  /** Removes a key whatever it is by now. */
  async delete(keyHash: string): Promise<void> {
    await this.#client.send(new DeleteCommand({ TableName: this.#tableName, Key: { keyHash } }));
  }

  async #ifHolds(command: PutCommand | UpdateCommand | DeleteCommand): Promise<boolean> {
    try {
      if (command instanceof PutCommand) await this.#client.send(command);
      else if (command instanceof UpdateCommand) await this.#client.send(command);
      else await this.#client.send(command);
      return true;
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return false;
      throw error;
    }
  }
}

/** The part of a record that API Gateway decides. */
export const identityNames = [
  'keyId',
  'name',
  'plan',
  'perMinute',
  'perDay',
  'enabled',
  'createdAt',
  'expiresAt',
  'replacedBy',
  'usageIdentifier',
] as const satisfies readonly Exclude<keyof KeyIdentity, 'keyHash' | 'lineage'>[];

function withoutUndefined(record: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
}
