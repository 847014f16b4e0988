import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, GetCommand, paginateScan, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { type KeyRecord, parseKeyRecord, UnreadableRecordError } from '../keys/key-record.ts';
import type { KeyHistory, Occasion } from './key-history.ts';
import { differsFrom, type KeyChange } from './record-changes.ts';

/** The keys table for commands and syncs. Each change replaces a known revision, so none overwrites another. */
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

  /** All keys, including revoked ones. @param onUnreadable called for each record that is omitted */
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

  /** Creates a key. @returns its record; undefined if it exists already */
  add(record: KeyRecord, occasion?: Occasion): Promise<KeyRecord | undefined> {
    const { recordId: _, ...attributes } = record;
    return this.#change(undefined, record, attributes, occasion);
  }

  /**
   * Changes a key, if unchanged since it was read. A suspension never shortens one by the limiter (no revision).
   *
   * @returns the updated key; undefined if it was not changed
   */
  revise(record: KeyRecord, change: KeyChange, occasion?: Occasion): Promise<KeyRecord | undefined> {
    const changed = { ...change, revision: record.revision + 1 };
    return this.#change(record, { ...record, ...changed }, changed, occasion);
  }

  /**
   * Writes a record conditionally, then its history entry: a command killed in between leaves a change without an
   * entry. If a response is lost, the SDK retries the write, which then finds its own revision.
   *
   * @param changed the attributes to set, or to remove if undefined
   * @returns the record; undefined if the condition failed
   */
  async #change(
    before: KeyRecord | undefined,
    after: KeyRecord,
    changed: Partial<KeyRecord>,
    occasion: Occasion | undefined,
  ): Promise<KeyRecord | undefined> {
    const entry = this.#history?.entryOf(before, after, occasion);
    const stamp = entry && { changedAt: entry.at };
    const attributes = Object.entries({ ...changed, ...stamp });
    const sets = attributes.filter(([, value]) => value !== undefined);
    const removes = attributes.flatMap(([name, value]) => (value === undefined ? [`#${name}`] : []));
    const set = `SET ${sets.map(([name]) => `#${name} = :${name}`).join(', ')}`;
    const isRevision = `#revision = :readRevision${changed.suspendedUntil ? ' AND #suspendedUntil <= :suspendedUntil' : ''}`;
    const update = new UpdateCommand({
      TableName: this.#tableName,
      Key: { recordId: after.recordId },
      UpdateExpression: removes.length > 0 ? `${set} REMOVE ${removes.join(', ')}` : set,
      ConditionExpression: before ? isRevision : 'attribute_not_exists(recordId)',
      ExpressionAttributeNames: Object.fromEntries(attributes.map(([name]) => [`#${name}`, name])),
      ExpressionAttributeValues: {
        ...(before && { ':readRevision': before.revision }),
        ...Object.fromEntries(sets.map(([name, value]) => [`:${name}`, value])),
      },
    });
    // Checked before the write.
    let written: KeyRecord | undefined = this.#parse({ ...after, ...stamp });
    try {
      await this.#client.send(update);
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
      const now = await this.get(after.recordId);
      written = now && !attributes.some(differsFrom(now)) ? now : undefined;
    }
    if (written && entry) await this.#history?.put(entry);
    return written;
  }

  #parse(item: unknown): KeyRecord {
    return parseKeyRecord(item, this.#tableName);
  }
}
