import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import {
  type DynamoDBDocumentClient,
  GetCommand,
  UpdateCommand,
  type UpdateCommandInput,
  type UpdateCommandOutput,
} from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { exactNumbers, isConnectionGone } from '../dynamodb.ts';
import { type KeyRecord, parseKeyRecord } from './key-record.ts';
import { nextStep, rateLimitOf, refusal, SUSPENSION_MS, type Verdict } from './verdict.ts';
import { isSameDay, type Minute, minuteOf } from './window.ts';

/** Whether the write happened, and the key after it; or before it, where its condition was false. */
type Write =
  { readonly done: true; readonly key: KeyRecord } | { readonly done: false; readonly key: KeyRecord | undefined };

interface ConditionalUpdate {
  readonly update: string;
  readonly condition: string;
  readonly values: Record<string, number | boolean>;
}

/** Losing a race means that another request of the key got through, so a few rounds are always enough. */
const MAX_ROUNDS = 8;

const IS_GOOD = 'enabled = :true AND suspendedUntil <= :now AND (attribute_not_exists(expiresAt) OR expiresAt > :now)';

/**
 * Authenticates and counts requests, exactly: N concurrent requests of a key with room for L are admitted min(N, L)
 * times. Each decision is one conditional write; a request with room takes only that one. The SDK client must not
 * retry: a repeated increment would count twice.
 */
export class Limiter {
  readonly #client: DynamoDBDocumentClient;
  readonly #tableName: string;

  constructor(client: DynamoDBDocumentClient, tableName: string) {
    this.#client = client;
    this.#tableName = tableName;
  }

  /**
   * Admits the request and counts it, or says why not.
   *
   * @param keyHash SHA-256 of the API key, 64 hex digits
   * @param now time of the request, Unix milliseconds
   * @throws whatever the SDK throws where the table cannot be reached; the request must then not be served
   */
  async admit(keyHash: string, now: number): Promise<Verdict> {
    let write = await this.#count(keyHash, now, minuteOf(now));
    for (let round = 0; round < MAX_ROUNDS; round++) {
      if (write.done) return { kind: 'admitted', key: write.key, rateLimit: rateLimitOf(write.key) };
      const { key } = write;
      const step = nextStep(key, now);
      if (!key || step.kind === 'deny') return { kind: 'denied' };
      if (step.kind === 'refuseSuspended') return refusal(key, now);

      if (step.kind === 'count') {
        write = await this.#count(keyHash, now, step.minute);
      } else if (step.kind === 'rollOver' && step.admit) {
        write = await this.#rollOverAdmitting(key, now, step.minute);
      } else {
        write =
          step.kind === 'rollOver'
            ? await this.#rollOverRefusing(key, now, step.minute)
            : await this.#countRefusal(keyHash, now, step.minute);
        if (write.done) return refusal(await this.#suspendIfKnocking(write.key, now), now);
      }
    }
    throw new Error(`No decision after ${MAX_ROUNDS} rounds of conditional writes on one key`);
  }

  #count(keyHash: string, now: number, minute: Minute): Promise<Write> {
    return this.#updateIf(keyHash, {
      update: 'ADD minuteUsed :one, dayUsed :one',
      condition: `${IS_GOOD} AND currentMinute = :minute AND minuteUsed < perMinute AND dayUsed < perDay`,
      values: { ':one': 1, ':true': true, ':now': now, ':minute': minute },
    });
  }

  /** Starts a minute with its first admitted request. Within the same day the day's count goes on. */
  #rollOverAdmitting(key: KeyRecord, now: number, minute: Minute): Promise<Write> {
    const sameDay = isSameDay(key.currentMinute, minute);
    return this.#updateIf(key.keyHash, {
      update:
        'SET currentMinute = :minute, minuteUsed = :one, minuteRefused = :zero, ' +
        `dayUsed = ${sameDay ? 'dayUsed + :one' : ':one'}`,
      condition: `${IS_GOOD} AND currentMinute = :stale${sameDay ? ' AND dayUsed < perDay' : ''}`,
      values: { ':one': 1, ':zero': 0, ':true': true, ':now': now, ':minute': minute, ':stale': key.currentMinute },
    });
  }

  /** Starts a minute of a day that is used up, with its first refused request. */
  #rollOverRefusing(key: KeyRecord, now: number, minute: Minute): Promise<Write> {
    return this.#updateIf(key.keyHash, {
      update: 'SET currentMinute = :minute, minuteUsed = :zero, minuteRefused = :one',
      condition: `${IS_GOOD} AND currentMinute = :stale AND dayUsed >= perDay`,
      values: { ':one': 1, ':zero': 0, ':true': true, ':now': now, ':minute': minute, ':stale': key.currentMinute },
    });
  }

  #countRefusal(keyHash: string, now: number, minute: Minute): Promise<Write> {
    return this.#updateIf(keyHash, {
      update: 'ADD minuteRefused :one',
      condition: `${IS_GOOD} AND currentMinute = :minute`,
      values: { ':one': 1, ':true': true, ':now': now, ':minute': minute },
    });
  }

  /** Suspends a key that was refused as often within the minute as it may make requests (spec §7, rule 2). */
  async #suspendIfKnocking(key: KeyRecord, now: number): Promise<KeyRecord> {
    if (key.minuteRefused < key.perMinute) return key;
    const write = await this.#updateIf(key.keyHash, {
      update: 'SET suspendedUntil = :until',
      condition: `${IS_GOOD} AND currentMinute = :minute`,
      values: { ':true': true, ':now': now, ':minute': key.currentMinute, ':until': now + SUSPENSION_MS },
    });
    return write.key ?? key;
  }

  async #updateIf(keyHash: string, { update, condition, values }: ConditionalUpdate): Promise<Write> {
    try {
      const { Attributes } = await this.#send({
        TableName: this.#tableName,
        Key: { keyHash },
        UpdateExpression: update,
        ConditionExpression: condition,
        ExpressionAttributeValues: values,
        ReturnValues: 'ALL_NEW',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      });
      return { done: true, key: parseKeyRecord(Attributes) };
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
      const item = error.Item ? unmarshall(error.Item, { ...exactNumbers }) : await this.#read(keyHash);
      return { done: false, key: item && parseKeyRecord(item) };
    }
  }

  /** The one repetition there is. Should the write have arrived after all, a request counts twice: never too few. */
  async #send(input: UpdateCommandInput): Promise<UpdateCommandOutput> {
    try {
      return await this.#client.send(new UpdateCommand(input));
    } catch (error) {
      if (!isConnectionGone(error)) throw error;
      return this.#client.send(new UpdateCommand(input));
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
