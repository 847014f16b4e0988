import {
  ConditionalCheckFailedException,
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb';
import {
  type DynamoDBDocumentClient,
  GetCommand,
  paginateScan,
  PutCommand,
  TransactWriteCommand,
  UpdateCommand,
  type UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { type KeyIdentity, type KeyRecord, parseKeyRecord, unusedCounters } from '../keys/key-record.ts';

/** What a change may set; `undefined` takes the attribute away. Counters are the limiter's business. */
export type KeyChange = { readonly [Name in keyof KeyRecord]?: KeyRecord[Name] | undefined };

export type NewRecord = Omit<KeyRecord, 'revision'>;

/** A change of a key that was read. */
export interface Revision {
  readonly key: KeyRecord;
  readonly change: KeyChange;
}

/** What a key takes over from the one that it replaces. Requests change it, also between reading and writing. */
const counterNames = ['currentMinute', 'minuteUsed', 'dayUsed', 'minuteRefused', 'suspendedUntil'] as const;

/** An item of the keys table that is no record of a key: its key is refused, and only an admin can mend it, by hand. */
export class UnreadableRecordError extends Error {
  override readonly name = 'UnreadableRecordError';
  readonly keyHash: string;

  constructor(tableName: string, item: unknown, error: unknown) {
    const { keyId, keyHash } = v.parse(namesSchema, item);
    const who = keyId === undefined ? `with the hash ${keyHash}` : keyId;
    super(`The key ${who} has a record in the table ${tableName} that is not in order: ${wordsOf(error)}`);
    this.keyHash = keyHash;
  }
}

const namesSchema = v.object({ keyHash: v.string(), keyId: v.fallback(v.optional(v.string()), undefined) });

function wordsOf(error: unknown): string {
  if (!v.isValiError(error)) throw error;
  return error.issues.map((issue) => `${v.getDotPath(issue)}: ${issue.message}`).join('; ');
}

/** The keys table for those who manage keys. Each change replaces a known revision, so none undoes another unseen. */
export class KeyTable {
  readonly #client: DynamoDBDocumentClient;
  readonly #tableName: string;

  constructor(client: DynamoDBDocumentClient, tableName: string) {
    this.#client = client;
    this.#tableName = tableName;
  }

  /** All keys there are, page by page. @param onUnreadable is told of each record that is left out */
  async *pages(onUnreadable?: (error: UnreadableRecordError) => void): AsyncGenerator<KeyRecord[]> {
    const pages = paginateScan({ client: this.#client }, { TableName: this.#tableName, ConsistentRead: true });
    for await (const { Items = [] } of pages) {
      yield Items.flatMap((item) => {
        try {
          return [this.#parse(item)];
        } catch (error) {
          if (!(error instanceof UnreadableRecordError) || !onUnreadable) throw error;
          onUnreadable(error);
          return [];
        }
      });
    }
  }

  /** @throws UnreadableRecordError */
  async get(keyHash: string): Promise<KeyRecord | undefined> {
    const { Item } = await this.#client.send(
      new GetCommand({ TableName: this.#tableName, Key: { keyHash }, ConsistentRead: true }),
    );
    return Item && this.#parse(Item);
  }

  /** Puts a key that is not there yet. @returns whether it was put */
  add(record: NewRecord): Promise<boolean> {
    return hasHeld(() => this.#client.send(new PutCommand(this.#addition(record))));
  }

  /** Changes a key, if it is still as it was read. @returns the key as it is then; undefined where it was not changed */
  async revise(key: KeyRecord, change: KeyChange): Promise<KeyRecord | undefined> {
    const isDone = await hasHeld(() => this.#client.send(new UpdateCommand(this.#update({ key, change }))));
    return isDone ? this.#changed({ key, change }) : undefined;
  }

  /**
   * Lets a new key count on where another one is, and that one point to the new key, from one moment on.
   *
   * @param from the key that counts until then, as it was read, counters included
   * @param also another key to change at the same moment
   * @returns whether it was done; not where one of the keys, or only the counters, have changed
   */
  handOver(from: Revision, to: Omit<NewRecord, keyof typeof unusedCounters>, also?: Revision): Promise<boolean> {
    const { suspendedByAdmin } = from.key;
    const counters = Object.fromEntries(counterNames.map((name) => [name, from.key[name]]));
    const successor = { ...to, ...unusedCounters, suspendedByAdmin, ...counters };
    const updates = [this.#update(from, counterNames), ...(also ? [this.#update(also)] : [])];
    const TransactItems = [{ Put: this.#addition(successor) }, ...updates.map((Update) => ({ Update }))];
    return hasHeld(() => this.#client.send(new TransactWriteCommand({ TransactItems })));
  }

  #addition(record: NewRecord) {
    return {
      TableName: this.#tableName,
      Item: this.#parse({ ...record, revision: 1 }),
      ConditionExpression: 'attribute_not_exists(keyHash)',
    };
  }

  /** @param unchanged attributes besides the revision that must still be as they were read */
  #update({ key, change }: Revision, unchanged: readonly (keyof KeyRecord)[] = []) {
    const changed = { ...change, revision: this.#changed({ key, change }).revision };
    const sets = Object.entries(changed).filter(([, value]) => value !== undefined);
    const removes = Object.entries(changed).flatMap(([name, value]) => (value === undefined ? [name] : []));
    const asRead = [...unchanged, 'revision'] as const;
    const names = [...sets.map(([name]) => name), ...removes, ...asRead];
    return {
      TableName: this.#tableName,
      Key: { keyHash: key.keyHash },
      UpdateExpression:
        `SET ${sets.map(([name]) => `#${name} = :${name}`).join(', ')}` +
        (removes.length > 0 ? ` REMOVE ${removes.map((name) => `#${name}`).join(', ')}` : ''),
      ConditionExpression: asRead.map((name) => `#${name} = :was_${name}`).join(' AND '),
      ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
      ExpressionAttributeValues: Object.fromEntries([
        ...sets.map(([name, value]) => [`:${name}`, value]),
        ...asRead.map((name) => [`:was_${name}`, key[name]]),
      ]),
    } satisfies UpdateCommandInput;
  }

  /** The key after a change, which is checked before it is written. */
  #changed({ key, change }: Revision): KeyRecord {
    return this.#parse({ ...key, ...change, revision: key.revision + 1 });
  }

  #parse(item: unknown): KeyRecord {
    try {
      return parseKeyRecord(item);
    } catch (error) {
      throw new UnreadableRecordError(this.#tableName, item, error);
    }
  }
}

/** What keeps a transaction from being carried out, and passes. */
const LOST_RACES = new Set(['ConditionalCheckFailed', 'TransactionConflict']);

/** Makes a conditional write. @returns whether its conditions held, and nobody else was at work on the same keys */
async function hasHeld(write: () => Promise<unknown>): Promise<boolean> {
  try {
    await write();
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException || error instanceof TransactionConflictException) return false;
    const reasons = error instanceof TransactionCanceledException ? (error.CancellationReasons ?? []) : [];
    if (reasons.some(({ Code = '' }) => LOST_RACES.has(Code))) return false;
    throw error;
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

/** How long the record of a revoked key stays, in seconds: nobody who saw the key before adds it again. */
const KEPT_SECONDS = 30 * 86_400;

/** Closes a key for good. DynamoDB deletes the record later. */
export function revocation() {
  return { enabled: false, revoked: true, purgeAt: Math.floor(Date.now() / 1_000) + KEPT_SECONDS } satisfies KeyChange;
}

/** Whether the record of a revoked key has lived half of its time. */
export function isHalfPurged({ purgeAt = 0 }: KeyRecord): boolean {
  return purgeAt < Date.now() / 1_000 + KEPT_SECONDS / 2;
}
