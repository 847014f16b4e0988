import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import {
  type DynamoDBDocumentClient,
  GetCommand,
  paginateScan,
  PutCommand,
  UpdateCommand,
  type UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { type KeyIdentity, type KeyRecord, parseKeyRecord } from '../keys/key-record.ts';

/** What a change may set; `undefined` takes the attribute away. Counters are the limiter's business. */
export type KeyChange = { readonly [Name in keyof KeyRecord]?: KeyRecord[Name] | undefined };

export type NewRecord = Omit<KeyRecord, 'revision'>;

/** An item of the keys table that is no record of a key: its key is refused, and only an admin can mend it, by hand. */
export class UnreadableRecordError extends Error {
  override readonly name = 'UnreadableRecordError';
  readonly recordId: string;

  constructor(tableName: string, item: unknown, error: unknown) {
    const { keyId, recordId } = v.parse(namesSchema, item);
    const who = keyId === undefined ? `with the record id ${recordId}` : keyId;
    super(`The key ${who} has a record in the table ${tableName} that is not in order: ${wordsOf(error)}`);
    this.recordId = recordId;
  }
}

const namesSchema = v.object({ recordId: v.string(), keyId: v.fallback(v.optional(v.string()), undefined) });

function wordsOf(error: unknown): string {
  if (!v.isValiError(error)) throw error;
  return error.issues.map((issue) => `${pathOf(issue)}: ${issue.message}`).join('; ');
}

/** The hash of a token is not for logs. */
const pathOf = (issue: v.BaseIssue<unknown>): string =>
  (v.getDotPath(issue) ?? '').replace(/^tokens\.[^.]+/, 'tokens.…');

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
  async get(recordId: string): Promise<KeyRecord | undefined> {
    const { Item } = await this.#client.send(
      new GetCommand({ TableName: this.#tableName, Key: { recordId }, ConsistentRead: true }),
    );
    return Item && this.#parse(Item);
  }

  /** Puts a key that is not there yet. @returns whether it was put */
  async add(record: NewRecord): Promise<boolean> {
    const added = this.#parse({ ...record, revision: 1 });
    const put = new PutCommand({
      TableName: this.#tableName,
      Item: added,
      ConditionExpression: 'attribute_not_exists(recordId)',
    });
    if (await conditionHeld(() => this.#client.send(put))) return true;
    return (await this.#written(added, { tokens: added.tokens, keyId: added.keyId })) !== undefined;
  }

  /** Changes a key, if it is still as it was read. @returns the key as it is then; undefined where it was not changed */
  async revise(key: KeyRecord, change: KeyChange): Promise<KeyRecord | undefined> {
    const changed = this.#parse({ ...key, ...change, revision: key.revision + 1 });
    const update = new UpdateCommand(this.#update(key, { ...change, revision: changed.revision }));
    if (await conditionHeld(() => this.#client.send(update))) return changed;
    return this.#written(changed, change);
  }

  /**
   * The key as it is, if a change was written after all: where an answer is lost, the SDK sends the write again, which then
   * finds its own revision.
   */
  async #written({ recordId, revision }: KeyRecord, change: KeyChange): Promise<KeyRecord | undefined> {
    const now = await this.get(recordId);
    const has = ([name, value]: [string, unknown]): boolean =>
      isDeepStrictEqual(Object.entries(now ?? {}).find(([own]) => own === name)?.[1], value);
    return now?.revision === revision && Object.entries(change).every(has) ? now : undefined;
  }

  #update({ recordId, revision }: KeyRecord, change: KeyChange): UpdateCommandInput {
    const sets = Object.entries(change).filter(([, value]) => value !== undefined);
    const removes = Object.entries(change).flatMap(([name, value]) => (value === undefined ? [name] : []));
    return {
      TableName: this.#tableName,
      Key: { recordId },
      UpdateExpression:
        `SET ${sets.map(([name]) => `#${name} = :${name}`).join(', ')}` +
        (removes.length > 0 ? ` REMOVE ${removes.map((name) => `#${name}`).join(', ')}` : ''),
      ConditionExpression: '#revision = :readRevision',
      ExpressionAttributeNames: Object.fromEntries(Object.keys(change).map((name) => [`#${name}`, name])),
      ExpressionAttributeValues: {
        ...Object.fromEntries(sets.map(([name, value]) => [`:${name}`, value])),
        ':readRevision': revision,
      },
    };
  }

  #parse(item: unknown): KeyRecord {
    try {
      return parseKeyRecord(item);
    } catch (error) {
      throw new UnreadableRecordError(this.#tableName, item, error);
    }
  }
}

/** Makes a conditional write. @returns whether its condition held */
async function conditionHeld(write: () => Promise<unknown>): Promise<boolean> {
  try {
    await write();
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
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
] as const satisfies readonly Exclude<keyof KeyIdentity, 'recordId'>[];

/** How long the record of a revoked key stays, in seconds: nobody who saw the key before adds it again. */
const KEPT_SECONDS = 30 * 86_400;

/** Closes a key for good. DynamoDB deletes the record later. */
export function revocation() {
  return { enabled: false, revoked: true, purgeAt: Math.floor(Date.now() / 1_000) + KEPT_SECONDS } satisfies KeyChange;
}

/** Whether the record of a revoked key has lived half of its time. */
export function needsRenewal({ purgeAt = 0 }: KeyRecord): boolean {
  return purgeAt < Date.now() / 1_000 + KEPT_SECONDS / 2;
}
