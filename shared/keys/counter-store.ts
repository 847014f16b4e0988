import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { isThrottled, retry } from '../dynamodb.ts';
import { exactNumbers } from '../item-attributes.ts';
import { type KeyRecord, NEVER, parseKeyRecord } from './key-record.ts';
import type { Token } from './token.ts';
import { type CountedIn, type RefusalStep, SUSPENSION_MS } from './verdict.ts';
import { firstMinuteOfDay } from './window.ts';

/** Whether the condition held, and the key: after the write, or unchanged if it did not. */
export type ConditionalWriteResult =
  { readonly done: true; readonly key: KeyRecord } | { readonly done: false; readonly key: KeyRecord | undefined };

/** When API Gateway received a request, and the deadline to start its writes, by this machine's clock. Unix ms. */
export type RequestTimes = Readonly<Record<'now' | 'retryUntil', number>>;

/** Max attempts of a throttled write. With more, a flood with one key would occupy many execution environments. */
const THROTTLED_ATTEMPTS = 3;

/** An update and its condition, in addition to {@link IS_VALID}. */
interface Expressions {
  readonly update: string;
  readonly condition: string;
}

const IS_VALID =
  'enabled = :true AND revoked = :false AND suspendedUntil <= :now ' +
  'AND (attribute_not_exists(expiresAtMs) OR expiresAtMs > :now) AND tokens.#token.#until > :now';

/** If quota remains, counts an admitted request in the key's current minute or in the new one that it begins. */
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

/** Counts refused requests if the quota is exhausted and the key unchanged since they were refused. */
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
 * The counters of the keys. Each change is one conditional write, whose condition also checks that the key and the
 * token are valid. The SDK client must not retry: a repeated increment would count twice.
 */
export class CounterStore {
  readonly #client: DynamoDBDocumentClient;
  readonly #tableName: string;

  constructor(client: DynamoDBDocumentClient, tableName: string) {
    this.#client = client;
    this.#tableName = tableName;
  }

  /** Counts an admitted request, if quota remains. */
  countAdmitted(token: Token, window: CountedIn, times: RequestTimes): Promise<ConditionalWriteResult> {
    return this.#updateIf(token, times, ADMITTED[window.starts ?? 'none'], { ...valuesOf(window), ':one': 1 });
  }

  /** Counts refused requests, if the quota is exhausted. @param revision of the key when they were refused */
  countRefused(
    token: Token,
    { window, revision }: RefusalStep,
    count: number,
    times: RequestTimes,
  ): Promise<ConditionalWriteResult> {
    const values = { ...valuesOf(window), ':refused': count, ':revision': revision };
    return this.#updateIf(token, times, REFUSED[window.starts ?? 'none'], values);
  }

  /** Suspends a key whose refused requests of the minute reached its per-minute limit. */
  async suspendIfRefusedTooOften(token: Token, key: KeyRecord, times: RequestTimes): Promise<KeyRecord> {
    const { now, retryUntil } = times;
    // Past the deadline for another write: the next refusal suspends the key.
    if (key.minuteRefused < key.perMinute || Date.now() > retryUntil) return key;
    const values = { ':minute': key.currentMinute, ':until': now + SUSPENSION_MS };
    const write = await this.#updateIf(token, times, SUSPENDED, values).catch((error: unknown) => {
      if (!isThrottled(error)) throw error;
      // This refusal is counted; the next one suspends the key.
      return { done: true, key } as const;
    });
    if (write.done) return write.key;
    // Another request may have suspended it already. If not, return the counted refusal.
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
      ConditionExpression: `${IS_VALID} AND ${condition}`,
      ExpressionAttributeNames: { '#token': hash, '#until': 'until' },
      ExpressionAttributeValues: { ...values, ':true': true, ':false': false, ':now': now },
      ReturnValues: 'ALL_NEW',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    try {
      // A throttled write was not applied, so a retry counts nothing twice.
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
