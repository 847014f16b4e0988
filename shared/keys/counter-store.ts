import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { isThrottled, retry } from '../dynamodb.ts';
import { itemFrom } from '../item-attributes.ts';
import { type KeyRecord, parseKeyRecord, UNTIL_RESUMED } from './key-record.ts';
import type { Token } from './token.ts';
import { type CountedIn, type CountingStep, firstMinuteOfDay, SUSPENSION_MS } from './verdict.ts';

/** The key: after the write, or unchanged if the condition did not hold. */
export type ConditionalWriteResult =
  | { readonly conditionHeld: true; readonly key: KeyRecord }
  | { readonly conditionHeld: false; readonly key: KeyRecord | undefined };

/** What the writes of a request go by. */
export interface WriteOptions {
  /** When API Gateway received the request, Unix milliseconds. */
  readonly now: number;
  /** The deadline to start a write, by this machine's clock. Unix milliseconds. */
  readonly retryUntil: number;
  readonly retriesThrottled: boolean;
}

/** Refused requests to count in the minute and in the day. */
export interface Refusals {
  readonly ofMinute: number;
  readonly ofDay: number;
}

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
    // What ends here is kept for the sync, which stores it. A record of an older release has no `dayRefused`.
    update:
      'SET priorMinute = currentMinute, priorUsed = dayUsed, priorRefused = if_not_exists(dayRefused, :zero), ' +
      'currentMinute = :minute, minuteUsed = :one, minuteRefused = :zero, dayUsed = :one, dayRefused = :zero',
    condition: 'currentMinute < :day',
  },
};

/** Counts refused requests if the quota is exhausted and the key unchanged since they were refused. */
const REFUSED = {
  none: {
    update: 'ADD minuteRefused :refused, dayRefused :refusedToday',
    condition: 'currentMinute = :minute AND (minuteUsed >= perMinute OR dayUsed >= perDay) AND revision = :revision',
  },
  minute: {
    update: 'SET currentMinute = :minute, minuteUsed = :zero, minuteRefused = :refused ADD dayRefused :refusedToday',
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

  /** Counts an admitted request if quota remains, or refused ones if it is exhausted. */
  count(token: Token, step: CountingStep, refused: Refusals, options: WriteOptions): Promise<ConditionalWriteResult> {
    const values = valuesOf(step.window);
    if (step.kind === 'countAdmitted')
      return this.#updateIf(token, options, ADMITTED[step.window.starts ?? 'none'], { ...values, ':one': 1 });
    const refusals = { ':refused': refused.ofMinute, ':refusedToday': refused.ofDay, ':revision': step.revision };
    return this.#updateIf(token, options, REFUSED[step.window.starts ?? 'none'], { ...values, ...refusals });
  }

  /** Suspends a key whose refused requests of the minute reached its per-minute limit. */
  async suspendIfRefusedTooOften(token: Token, key: KeyRecord, options: WriteOptions): Promise<KeyRecord> {
    // Past the deadline for another write: the next refusal suspends the key.
    if (key.minuteRefused < key.perMinute || Date.now() > options.retryUntil) return key;
    const values = { ':minute': key.currentMinute, ':until': options.now + SUSPENSION_MS };
    try {
      const { key: latest } = await this.#updateIf(token, options, SUSPENDED, values);
      // This write has suspended the key, or that of another request has.
      const isSuspended = latest && latest.suspendedUntil > options.now && latest.suspendedUntil < UNTIL_RESUMED;
      return isSuspended ? latest : key;
    } catch (error) {
      // This refusal is counted; the next one suspends the key.
      if (isThrottled(error)) return key;
      throw error;
    }
  }

  async #updateIf(
    { recordId, hash }: Token,
    { now, retryUntil, retriesThrottled }: WriteOptions,
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
      const maxAttempts = retriesThrottled ? THROTTLED_ATTEMPTS : 1;
      const { Attributes } = await retry(send, isThrottled, { maxAttempts, retryUntil });
      return { conditionHeld: true, key: parseKeyRecord(Attributes, this.#tableName) };
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
      const key = error.Item && parseKeyRecord(itemFrom(error.Item), this.#tableName);
      return { conditionHeld: false, key };
    }
  }
}

const valuesOf = ({ minute, starts }: CountedIn): Record<string, number> => ({
  ':minute': minute,
  ...(starts && { ':day': firstMinuteOfDay(minute), ':zero': 0 }),
});
