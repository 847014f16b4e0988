import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { exactNumbers } from '../dynamodb.ts';
import { type KeyRecord, parseKeyRecord } from './key-record.ts';
import { SUSPENSION_MS } from './verdict.ts';
import { isSameDay, type Minute } from './window.ts';

/** Whether the write happened, and the key after it; or before it, where its condition was false. */
export type Write =
  { readonly done: true; readonly key: KeyRecord } | { readonly done: false; readonly key: KeyRecord | undefined };

/** Requests that a write takes from the windows of a key whose limits are known, net of what it gives back to each. */
export interface Draw {
  readonly ofMinute: number;
  readonly ofDay: number;
}

interface ConditionalUpdate {
  readonly update: string;
  readonly condition: string;
  readonly values: Record<string, string | number | boolean>;
}

const IS_GOOD =
  'enabled = :true AND revoked = :false AND suspendedUntil <= :now AND attribute_not_exists(replacedBy) ' +
  'AND (attribute_not_exists(expiresAt) OR expiresAt > :now)';
/** A condition cannot add, so what a draw leaves room for is reckoned before, from limits that must still hold. */
const AS_KNOWN = 'keyId = :keyId AND perMinute = :perMinute AND perDay = :perDay';

/** The counters of the keys: every change of them is one conditional write. The SDK client must not retry. */
export class CounterStore {
  readonly #client: DynamoDBDocumentClient;
  readonly #tableName: string;

  constructor(client: DynamoDBDocumentClient, tableName: string) {
    this.#client = client;
    this.#tableName = tableName;
  }

  /** Counts one request of a key of which nothing is known, if it is good and has room. */
  count(keyHash: string, now: number, minute: Minute): Promise<Write> {
    return this.#updateIf(keyHash, {
      update: 'ADD minuteUsed :one, dayUsed :one',
      condition: `${IS_GOOD} AND currentMinute = :minute AND minuteUsed < perMinute AND dayUsed < perDay`,
      values: { ':one': 1, ':true': true, ':false': false, ':now': now, ':minute': minute },
    });
  }

  /** Takes requests from the key's current minute, if the key is good, its limits are as known, and both have room. */
  take(key: KeyRecord, draw: Draw, now: number): Promise<Write> {
    return this.#updateIf(key.keyHash, {
      update: 'ADD minuteUsed :ofMinute, dayUsed :ofDay',
      condition:
        `${IS_GOOD} AND currentMinute = :minute AND ${AS_KNOWN} ` +
        'AND minuteUsed <= :minuteRoom AND dayUsed <= :dayRoom',
      values: {
        ...known(key),
        ':minuteRoom': key.perMinute - draw.ofMinute,
        ':dayRoom': key.perDay - draw.ofDay,
        ':ofMinute': draw.ofMinute,
        ':ofDay': draw.ofDay,
        ':true': true,
        ':false': false,
        ':now': now,
        ':minute': key.currentMinute,
      },
    });
  }

  /** Starts a minute with its first admitted requests. Within the same day the day's count goes on. */
  rollOverAdmitting(key: KeyRecord, draw: Draw, now: number, minute: Minute): Promise<Write> {
    const sameDay = isSameDay(key.currentMinute, minute);
    return this.#updateIf(key.keyHash, {
      update:
        'SET currentMinute = :minute, minuteUsed = :ofMinute, minuteRefused = :zero, ' +
        `dayUsed = ${sameDay ? 'dayUsed + :ofDay' : ':ofDay'}`,
      condition: `${IS_GOOD} AND currentMinute = :stale AND ${AS_KNOWN}${sameDay ? ' AND dayUsed <= :dayRoom' : ''}`,
      values: {
        ...known(key),
        ...(sameDay && { ':dayRoom': key.perDay - draw.ofDay }),
        ':ofMinute': draw.ofMinute,
        ':ofDay': draw.ofDay,
        ':zero': 0,
        ':true': true,
        ':false': false,
        ':now': now,
        ':minute': minute,
        ':stale': key.currentMinute,
      },
    });
  }

  /** Starts a minute of a day that is used up, with its first refused request. */
  rollOverRefusing(key: KeyRecord, now: number, minute: Minute): Promise<Write> {
    return this.#updateIf(key.keyHash, {
      update: 'SET currentMinute = :minute, minuteUsed = :zero, minuteRefused = :one',
      condition: `${IS_GOOD} AND currentMinute = :stale AND dayUsed >= perDay`,
      values: {
        ':one': 1,
        ':zero': 0,
        ':true': true,
        ':false': false,
        ':now': now,
        ':minute': minute,
        ':stale': key.currentMinute,
      },
    });
  }

  countRefusals(keyHash: string, refused: number, now: number, minute: Minute): Promise<Write> {
    return this.#updateIf(keyHash, {
      update: 'ADD minuteRefused :refused',
      condition: `${IS_GOOD} AND currentMinute = :minute`,
      values: { ':refused': refused, ':true': true, ':false': false, ':now': now, ':minute': minute },
    });
  }

  /** Suspends a key that was refused as often within the minute as it may make requests (spec §7, rule 2). */
  async suspendIfKnocking(key: KeyRecord, now: number): Promise<KeyRecord> {
    if (key.minuteRefused < key.perMinute) return key;
    const write = await this.#updateIf(key.keyHash, {
      update: 'SET suspendedUntil = :until, suspendedByAdmin = :false',
      condition: `${IS_GOOD} AND currentMinute = :minute`,
      values: {
        ':true': true,
        ':false': false,
        ':now': now,
        ':minute': key.currentMinute,
        ':until': now + SUSPENSION_MS,
      },
    });
    return write.key ?? key;
  }

  async #updateIf(keyHash: string, { update, condition, values }: ConditionalUpdate): Promise<Write> {
    try {
      const { Attributes } = await this.#client.send(
        new UpdateCommand({
          TableName: this.#tableName,
          Key: { keyHash },
          UpdateExpression: update,
          ConditionExpression: condition,
          ExpressionAttributeValues: values,
          ReturnValues: 'ALL_NEW',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      );
      return { done: true, key: parseKeyRecord(Attributes) };
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
      const item = error.Item ? unmarshall(error.Item, { ...exactNumbers }) : await this.#read(keyHash);
      return { done: false, key: item && parseKeyRecord(item) };
    }
  }

  /** For an unknown key, and for engines that do not return the old item with the failure. */
  async #read(keyHash: string): Promise<Record<string, unknown> | undefined> {
    const { Item } = await this.#client.send(
      new GetCommand({ TableName: this.#tableName, Key: { keyHash }, ConsistentRead: true }),
    );
    return Item;
  }
}

function known({ keyId, perMinute, perDay }: KeyRecord) {
  return { ':keyId': keyId, ':perMinute': perMinute, ':perDay': perDay };
}
