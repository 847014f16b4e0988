import { isDeepStrictEqual } from 'node:util';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import {
  type DynamoDBDocumentClient,
  GetCommand,
  paginateScan,
  PutCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { type KeyRecord, parseKeyRecord, UnreadableRecordError } from '../keys/key-record.ts';

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

/** What a change may set; `undefined` takes the attribute away. Counters are the limiter's business. */
export type KeyChange = Readonly<Partial<KeyRecord>>;

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

  constructor(client: DynamoDBDocumentClient, tableName: string) {
    this.#client = client;
    this.#tableName = tableName;
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
  add(record: NewRecord): Promise<KeyRecord | undefined> {
    const added = this.#parse({ ...record, revision: 1 });
    const put = new PutCommand({
      TableName: this.#tableName,
      Item: Object.fromEntries(Object.entries(added).filter(([, value]) => value !== undefined)),
      ConditionExpression: 'attribute_not_exists(recordId)',
    });
    return this.#write(() => this.#client.send(put), added, { tokens: added.tokens, keyId: added.keyId });
  }

  /** Changes a key, if it is still as it was read. @returns the key as it is then; undefined where it was not changed */
  revise(record: KeyRecord, change: KeyChange): Promise<KeyRecord | undefined> {
    const changed = this.#parse({ ...record, ...change, revision: record.revision + 1 });
    const attributes = Object.entries({ ...change, revision: changed.revision });
    const sets = attributes.filter(([, value]) => value !== undefined);
    const removes = attributes.flatMap(([name, value]) => (value === undefined ? [`#${name}`] : []));
    const set = `SET ${sets.map(([name]) => `#${name} = :${name}`).join(', ')}`;
    const update = new UpdateCommand({
      TableName: this.#tableName,
      Key: { recordId: record.recordId },
      UpdateExpression: removes.length > 0 ? `${set} REMOVE ${removes.join(', ')}` : set,
      ConditionExpression: '#revision = :readRevision',
      ExpressionAttributeNames: Object.fromEntries(attributes.map(([name]) => [`#${name}`, name])),
      ExpressionAttributeValues: {
        ...Object.fromEntries(sets.map(([name, value]) => [`:${name}`, value])),
        ':readRevision': record.revision,
      },
    });
    return this.#write(() => this.#client.send(update), changed, change);
  }

  /**
   * Makes a conditional write. Where an answer is lost, the SDK sends the write again, which then finds its own revision.
   *
   * @returns what it wrote; undefined where its condition was false
   */
  async #write(send: () => Promise<unknown>, written: KeyRecord, change: KeyChange): Promise<KeyRecord | undefined> {
    try {
      await send();
      return written;
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
    }
    const now = await this.get(written.recordId);
    const isWritten = now?.revision === written.revision && Object.keys(differences(now, change)).length === 0;
    return isWritten ? now : undefined;
  }

  #parse(item: unknown): KeyRecord {
    return parseKeyRecord(item, this.#tableName);
  }
}

/** The part of a change that a record does not have. */
export function differences(record: KeyRecord, change: KeyChange): KeyChange {
  const before: Readonly<Record<string, unknown>> = record;
  return Object.fromEntries(Object.entries(change).filter(([name, value]) => !isDeepStrictEqual(before[name], value)));
}

/** How long the record of a revoked key stays, in seconds: no sync that saw the key before adds it again. */
const KEPT_SECONDS = 30 * 86_400;

/** Closes a key for good. DynamoDB deletes the record later. @param now Unix milliseconds */
export function revocation(now: number) {
  const purgeAt = Math.floor(now / 1_000) + KEPT_SECONDS;
  return { enabled: false, revoked: true, purgeAt, unappliedSince: undefined } satisfies KeyChange;
}
