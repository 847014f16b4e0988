import { isDeepStrictEqual } from 'node:util';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, GetCommand, paginateScan, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { type KeyRecord, parseKeyRecord, UnreadableRecordError } from '../keys/key-record.ts';
import type { KeyHistory, Occasion } from './key-history.ts';

/** The part of a record that requests change. */
export const unusedCounters = {
  currentMinute: 0,
  minuteUsed: 0,
  dayUsed: 0,
  minuteRefused: 0,
  suspendedUntil: 0,
  suspendedByAdmin: false,
} as const satisfies Partial<KeyRecord>;

/** The part of a record that API Gateway has, too. */
export type GatewayFields = Pick<
  KeyRecord,
  'keyId' | 'name' | 'plan' | 'perMinute' | 'perDay' | 'enabled' | 'expiresAtMs'
>;

/** What makes a key that was never used. */
export type KeyIdentity = GatewayFields & Pick<KeyRecord, 'recordId' | 'createdAt'>;

type Counters = 'currentMinute' | 'minuteUsed' | 'dayUsed' | 'minuteRefused';

/** What a change may set; `undefined` takes the attribute away. Of what requests count, it may only forget refusals. */
export type KeyChange = Readonly<
  Partial<Omit<KeyRecord, 'recordId' | 'createdAt' | 'changedAt' | 'revision' | Counters>>
> & {
  readonly minuteRefused?: 0;
};

export type NewRecord = Omit<KeyRecord, 'revision'>;

/** The record of a key that was never used. @param state what differs from that */
export const newRecord = (identity: KeyIdentity, state: Pick<KeyRecord, 'tokens'> & Partial<KeyRecord>): NewRecord => ({
  ...identity,
  ...unusedCounters,
  interimUntil: 0,
  revoked: false,
  ...state,
});

/** The keys table for what manages keys. Each change replaces a known revision, so none undoes another unseen. */
export class KeyTable {
  readonly #client: DynamoDBDocumentClient;
  readonly #tableName: string;
  readonly #history: KeyHistory | undefined;

  /** @param history gets an entry for each change */
  constructor(client: DynamoDBDocumentClient, tableName: string, history?: KeyHistory) {
    this.#client = client;
    this.#tableName = tableName;
    this.#history = history;
  }

  /** All keys, revoked ones included. @param onUnreadable called for each record that is left out */
  async all(onUnreadable: (error: UnreadableRecordError) => void): Promise<KeyRecord[]> {
    const records: KeyRecord[] = [];
    const pages = paginateScan({ client: this.#client }, { TableName: this.#tableName, ConsistentRead: true });
    for await (const { Items = [] } of pages) {
      for (const item of Items) {
        try {
          records.push(this.#parse(item));
        } catch (error) {
          if (!(error instanceof UnreadableRecordError)) throw error;
          onUnreadable(error);
        }
      }
    }
    return records;
  }

  /** @throws UnreadableRecordError */
  async get(recordId: string): Promise<KeyRecord | undefined> {
    const { Item } = await this.#client.send(
      new GetCommand({ TableName: this.#tableName, Key: { recordId }, ConsistentRead: true }),
    );
    return Item && this.#parse(Item);
  }

  /** Puts a key that is not there yet. @returns its record; undefined where there is one already */
  add(record: NewRecord, occasion?: Occasion): Promise<KeyRecord | undefined> {
    const { recordId, ...attributes } = { ...record, revision: 1 };
    return this.#change(undefined, { recordId, ...attributes }, attributes, occasion);
  }

  /**
   * Changes a key, if it is still as it was read. A suspension shortens none of the limiter's, which are no revisions.
   *
   * @returns the updated key; undefined where it was not changed
   */
  revise(record: KeyRecord, change: KeyChange, occasion?: Occasion): Promise<KeyRecord | undefined> {
    const changed = { ...change, revision: record.revision + 1 };
    return this.#change(record, { ...record, ...changed }, changed, occasion);
  }

  /** Writes a record, then who has changed it: a command that is killed in between leaves a change without an entry. */
  async #change(
    before: KeyRecord | undefined,
    after: KeyRecord,
    changed: Partial<KeyRecord>,
    occasion: Occasion | undefined,
  ): Promise<KeyRecord | undefined> {
    const entry = this.#history?.entryOf(before, after, occasion);
    const stamp = entry && { changedAt: entry.at };
    const isRevision = `#revision = :readRevision${changed.suspendedUntil ? ' AND #suspendedUntil <= :suspendedUntil' : ''}`;
    const written = await this.#write(
      { ...after, ...stamp },
      { ...changed, ...stamp },
      before ? isRevision : 'attribute_not_exists(recordId)',
      before && { ':readRevision': before.revision },
    );
    if (written && entry) await this.#history?.put(entry);
    return written;
  }

  /**
   * Makes a conditional write. Where an answer is lost, the SDK repeats the write, which then finds its own revision.
   *
   * @param record as it is then @param changed the part of it to set, and to take away where it is undefined
   * @returns the record; undefined where its condition was false
   */
  async #write(
    record: KeyRecord,
    changed: Partial<KeyRecord>,
    condition: string,
    values: Readonly<Record<string, number>> = {},
  ): Promise<KeyRecord | undefined> {
    const written = this.#parse(record);
    const attributes = Object.entries(changed);
    const sets = attributes.filter(([, value]) => value !== undefined);
    const removes = attributes.flatMap(([name, value]) => (value === undefined ? [`#${name}`] : []));
    const set = `SET ${sets.map(([name]) => `#${name} = :${name}`).join(', ')}`;
    const update = new UpdateCommand({
      TableName: this.#tableName,
      Key: { recordId: record.recordId },
      UpdateExpression: removes.length > 0 ? `${set} REMOVE ${removes.join(', ')}` : set,
      ConditionExpression: condition,
      ExpressionAttributeNames: Object.fromEntries(attributes.map(([name]) => [`#${name}`, name])),
      ExpressionAttributeValues: { ...values, ...Object.fromEntries(sets.map(([name, value]) => [`:${name}`, value])) },
    });
    try {
      await this.#client.send(update);
      return written;
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
    }
    const now = await this.get(record.recordId);
    return now && !attributes.some(differsFrom(now)) ? now : undefined;
  }

  #parse(item: unknown): KeyRecord {
    return parseKeyRecord(item, this.#tableName);
  }
}

/** The part of a change that a record does not have. */
export const differences = (record: KeyRecord, change: KeyChange): KeyChange =>
  Object.fromEntries(Object.entries(change).filter(differsFrom(record)));

const differsFrom =
  (record: Readonly<Record<string, unknown>>) =>
  ([name, value]: [string, unknown]): boolean =>
    !isDeepStrictEqual(record[name], value);

/** How long the record of a revoked key stays, in seconds: no sync that saw the key before adds it again. */
const KEPT_SECONDS = 30 * 86_400;

/** Revokes a key permanently. DynamoDB deletes the record later. @param now Unix milliseconds */
export function revocation(now: number) {
  const purgeAt = Math.floor(now / 1_000) + KEPT_SECONDS;
  return { enabled: false, revoked: true, purgeAt, unappliedSince: undefined } satisfies KeyChange;
}
