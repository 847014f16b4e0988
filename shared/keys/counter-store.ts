import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { isThrottled, retry } from '../dynamodb.ts';
import { exactNumbers } from '../item-attributes.ts';
import { type KeyRecord, NEVER, parseKeyRecord } from './key-record.ts';
import type { Token } from './token.ts';
import { type CountedIn, type RefusalStep, SUSPENSION_MS } from './verdict.ts';
import { firstMinuteOfDay } from './window.ts';

/** Whether the write happened, and the key after it; or before it, where its condition was false. */
export type ConditionalWriteResult =
  { readonly done: true; readonly key: KeyRecord } | { readonly done: false; readonly key: KeyRecord | undefined };

/** When API Gateway received a request; and until when, by this machine's clock, its writes begin. Unix ms. */
export type RequestTimes = Readonly<Record<'now' | 'retryUntil', number>>;

/** Max attempts of a write while DynamoDB throttles it. With more, a flood with one key would hold many functions. */
const THROTTLED_ATTEMPTS = 3;

/** An update and its condition, beside {@link IS_GOOD}. */
interface Expressions {
  readonly update: string;
  readonly condition: string;
}

const IS_GOOD =
  'enabled = :true AND revoked = :false AND suspendedUntil <= :now ' +
  'AND (attribute_not_exists(expiresAtMs) OR expiresAtMs > :now) AND tokens.#token.#until > :now';

/** An admitted request, where the window has room; in the key's current minute, or in the one that it begins. */
const ADMITTED: Readonly<Record<'none' | 'minute' | 'day', Expressions>> = {
  none: {
    update: 'ADD minuteUsed :one, dayUsed :one',
    condition: 'currentMinute = :minute AND minuteUsed < perMinute AND dayUsed < perDay',
  },
  minute: {
    update: 'SET currentMinute = :minute, minuteUsed = :one, minuteRefused = :zero, dayUsed = dayUsed + :one',
    condition: 'currentMinute < :minute AND currentMinute >= :day AND dayUsed < perDay',
  },
  day: {
    update: 'SET currentMinute = :minute, minuteUsed = :one, minuteRefused = :zero, dayUsed = :one',
    condition: 'currentMinute < :day',
  },
};

/** Refused requests, where the window has no room and the key is as it was when they were refused. */
const REFUSED = {
  none: {
    update: 'ADD minuteRefused :refused',
    condition: 'currentMinute = :minute AND (minuteUsed >= perMinute OR dayUsed >= perDay) AND revision = :revision',
  },
  minute: {
    update: 'SET currentMinute = :minute, minuteUsed = :zero, minuteRefused = :refused',
    condition: 'currentMinute < :minute AND currentMinute >= :day AND dayUsed >= perDay AND revision = :revision',
  },
} as const satisfies Record<string, Expressions>;

const SUSPENDED: Expressions = {
  update: 'SET suspendedUntil = :until, suspendedByAdmin = :false',
  condition: 'currentMinute = :minute AND minuteRefused >= perMinute',
};

/**
 * The counters of the keys. Each change of them is one conditional write, which says by itself whether the key and the
 * token are good. The SDK client must not retry: a repeated increment would count twice.
 */
export class CounterStore {
  readonly #client: DynamoDBDocumentClient;
  readonly #tableName: string;

  constructor(client: DynamoDBDocumentClient, tableName: string) {
    this.#client = client;
    this.#tableName = tableName;
  }

  /** Counts an admitted request, if there is room for it. */
  countAdmitted(token: Token, window: CountedIn, times: RequestTimes): Promise<ConditionalWriteResult> {
    return this.#updateIf(token, times, ADMITTED[window.starts ?? 'none'], { ...valuesOf(window), ':one': 1 });
  }

  /** Counts so many refused requests, if there is no room. @param revision of the key that they were refused by */
  countRefused(
    token: Token,
    { window, revision }: RefusalStep,
    count: number,
    times: RequestTimes,
  ): Promise<ConditionalWriteResult> {
    const values = { ...valuesOf(window), ':refused': count, ':revision': revision };
    return this.#updateIf(token, times, REFUSED[window.starts ?? 'none'], values);
  }

  /** Suspends a key that was refused as often within the minute as it may make requests. */
  async suspendIfRefusedTooOften(token: Token, key: KeyRecord, times: RequestTimes): Promise<KeyRecord> {
    const { now, retryUntil } = times;
    // Too late for one more write: the next refusal suspends the key.
    if (key.minuteRefused < key.perMinute || Date.now() > retryUntil) return key;
    const values = { ':minute': key.currentMinute, ':until': now + SUSPENSION_MS };
    const write = await this.#updateIf(token, times, SUSPENDED, values).catch((error: unknown) => {
      if (!isThrottled(error)) throw error;
      // This refusal is counted. The next one suspends the key.
      return { done: true, key } as const;
    });
    if (write.done) return write.key;
    // Another request may have suspended it just before. Otherwise this one was refused as it was counted.
    const { suspendedUntil = 0 } = write.key ?? {};
    return write.key && suspendedUntil > now && suspendedUntil < NEVER ? write.key : key;
  }

  async #updateIf(
    { recordId, hash }: Token,
    { now, retryUntil }: RequestTimes,
    { update, condition }: Expressions,
    values: Readonly<Record<string, number>>,
  ): Promise<ConditionalWriteResult> {
    const command = new UpdateCommand({
      TableName: this.#tableName,
      Key: { recordId },
      UpdateExpression: update,
      ConditionExpression: `${IS_GOOD} AND ${condition}`,
      ExpressionAttributeNames: { '#token': hash, '#until': 'until' },
      ExpressionAttributeValues: { ...values, ':true': true, ':false': false, ':now': now },
      ReturnValues: 'ALL_NEW',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    try {
      // What is throttled is surely not done, and counts nothing twice.
      const send = () => this.#client.send(command);
      const { Attributes } = await retry(send, isThrottled, { maxAttempts: THROTTLED_ATTEMPTS, retryUntil });
      return { done: true, key: parseKeyRecord(Attributes, this.#tableName) };
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
      const found = error.Item && unmarshall(error.Item, { ...exactNumbers });
      return { done: false, key: found && parseKeyRecord(found, this.#tableName) };
    }
  }
}

const valuesOf = ({ minute, starts }: CountedIn): Record<string, number> => ({
  ':minute': minute,
  ...(starts && { ':day': firstMinuteOfDay(minute), ':zero': 0 }),
});
