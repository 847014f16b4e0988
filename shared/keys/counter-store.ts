import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { exactNumbers, isThrottled, tryAgain } from '../dynamodb.ts';
import { type KeyRecord, parseKeyRecord } from './key-record.ts';
import { NEVER } from './working-token.ts';
import type { Token } from './token.ts';
import { type CountedIn, latestSuspension, SUSPENSION_MS } from './verdict.ts';
import { firstMinuteOfDay, type Minute } from './window.ts';

/** Whether the write happened, and the key after it; or before it, where its condition was false. */
export type Write =
  { readonly done: true; readonly key: KeyRecord } | { readonly done: false; readonly key: KeyRecord | undefined };

/** Requests that a write takes from the windows of a key, net of what it gives back to each. */
export interface Amount {
  readonly ofMinute: number;
  readonly ofDay: number;
  /** The key as it was last seen: its limits must still hold. Not needed for {@link ONE}. */
  readonly known?: KeyRecord;
}

/** Requests that were refused and that one write counts. */
export interface Refusals {
  readonly count: number;
  /** Of the key as those before the last were refused: what was changed since, they must not count against. */
  readonly revision?: number;
}

/** The time of a request. */
export interface RequestTime {
  /** Its own, Unix milliseconds. */
  readonly now: number;
  /** By this machine's clock, Unix milliseconds: a write that DynamoDB throttles is tried no longer. */
  readonly tryUntil: number;
  /** Between two of these tries, in milliseconds. */
  readonly longestPause?: number;
}

export const ONE: Amount = { ofMinute: 1, ofDay: 1 };

interface ConditionalUpdate {
  readonly update: string;
  /** All must hold, beside {@link IS_GOOD}. */
  readonly conditions: readonly string[];
  readonly values: Record<string, string | number>;
}

const IS_GOOD =
  'enabled = :true AND revoked = :false ' +
  'AND (suspendedUntil <= :now OR (suspendedByAdmin = :false AND suspendedUntil > :latestSuspension)) ' +
  'AND (attribute_not_exists(expiresAt) OR expiresAt > :now) AND tokens.#token.#until > :now';

/**
 * The counters of the keys. Each change of them is one conditional write, which says by itself whether the key and the token are good.
 * The SDK client must not retry: a repeated increment would count twice.
 */
export class CounterStore {
  readonly #client: DynamoDBDocumentClient;
  readonly #tableName: string;

  constructor(client: DynamoDBDocumentClient, tableName: string) {
    this.#client = client;
    this.#tableName = tableName;
  }

  /** Counts admitted requests, if there is room for them. */
  countAdmitted(token: Token, window: CountedIn, amount: Amount, time: RequestTime): Promise<Write> {
    const dayUsed = window.starts === 'day' ? ':ofDay' : 'dayUsed + :ofDay';
    const room = roomFor(amount, window);
    return this.#updateIf(token, time, {
      update: window.starts
        ? `SET currentMinute = :minute, minuteUsed = :ofMinute, minuteRefused = :zero, dayUsed = ${dayUsed}`
        : 'ADD minuteUsed :ofMinute, dayUsed :ofDay',
      conditions: [isWindow(window), ...room.conditions],
      values: {
        ...valuesOf(window),
        ...room.values,
        ':ofMinute': amount.ofMinute,
        ':ofDay': amount.ofDay,
        ...(window.starts && { ':zero': 0 }),
      },
    });
  }

  /** Counts refused requests, if there is no room. */
  countRefused(token: Token, window: CountedIn, refused: Refusals, time: RequestTime): Promise<Write> {
    const { count, revision } = refused;
    const noRoom = window.starts ? 'dayUsed >= perDay' : '(minuteUsed >= perMinute OR dayUsed >= perDay)';
    return this.#updateIf(token, time, {
      update: window.starts
        ? 'SET currentMinute = :minute, minuteUsed = :zero, minuteRefused = :refused'
        : 'ADD minuteRefused :refused',
      conditions: [isWindow(window), noRoom, ...(revision === undefined ? [] : ['revision = :revision'])],
      values: {
        ...valuesOf(window),
        ':refused': count,
        ...(revision !== undefined && { ':revision': revision }),
        ...(window.starts && { ':zero': 0 }),
      },
    });
  }

  /** Suspends a key that was refused as often within the minute as it may make requests (spec §7, rule 2). */
  async suspendIfRefusedTooOften(token: Token, key: KeyRecord, time: RequestTime): Promise<KeyRecord> {
    if (key.minuteRefused < key.perMinute) return key;
    const { now } = time;
    const suspending = this.#updateIf(token, time, {
      update: 'SET suspendedUntil = :until, suspendedByAdmin = :false',
      conditions: ['currentMinute = :minute', 'minuteRefused >= perMinute'],
      values: { ':minute': key.currentMinute, ':until': now + SUSPENSION_MS },
    });
    const write = await suspending.catch((error: unknown) => {
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
    { now, tryUntil, longestPause }: RequestTime,
    { update, conditions, values }: ConditionalUpdate,
  ): Promise<Write> {
    const command = new UpdateCommand({
      TableName: this.#tableName,
      Key: { recordId },
      UpdateExpression: update,
      ConditionExpression: [IS_GOOD, ...conditions].join(' AND '),
      ExpressionAttributeNames: { '#token': hash, '#until': 'until' },
      ExpressionAttributeValues: {
        ...values,
        ':true': true,
        ':false': false,
        ':now': now,
        ':latestSuspension': latestSuspension(now),
      },
      ReturnValues: 'ALL_NEW',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    try {
      // Hundreds of environments may wait for one item. What is throttled is surely not done, and counts nothing twice.
      const limits = { maxTries: Infinity, tryUntil, longestPause };
      const { Attributes } = await tryAgain(() => this.#client.send(command), isThrottled, limits);
      return { done: true, key: parseKeyRecord(Attributes) };
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
      return { done: false, key: error.Item && parseKeyRecord(unmarshall(error.Item, { ...exactNumbers })) };
    }
  }
}

/** The condition under which a write counts in a window: it is the key's current one, or the next that is begun. */
function isWindow({ starts, insteadOf }: CountedIn): string {
  if (insteadOf !== undefined) return 'currentMinute = :insteadOf';
  if (starts === undefined) return 'currentMinute = :minute';
  return starts === 'day' ? 'currentMinute < :day' : 'currentMinute < :minute AND currentMinute >= :day';
}

function valuesOf({ minute, starts, insteadOf }: CountedIn): Record<string, Minute> {
  if (insteadOf !== undefined) return { ':minute': minute, ':insteadOf': insteadOf };
  return { ':minute': minute, ...(starts && { ':day': firstMinuteOfDay(minute) }) };
}

/** What holds where the windows that are not begun anew have room for an amount. */
function roomFor(
  { ofMinute, ofDay, known }: Amount,
  { starts }: CountedIn,
): Pick<ConditionalUpdate, 'conditions' | 'values'> {
  const checksMinute = starts === undefined;
  const checksDay = starts !== 'day';
  if (!known) {
    return {
      conditions: [...(checksMinute ? ['minuteUsed < perMinute'] : []), ...(checksDay ? ['dayUsed < perDay'] : [])],
      values: {},
    };
  }
  // A condition cannot add, so the room is reckoned before, from limits that must still hold.
  const { keyId, perMinute, perDay } = known;
  return {
    conditions: [
      'keyId = :keyId AND perMinute = :perMinute AND perDay = :perDay',
      ...(checksMinute ? ['minuteUsed <= :minuteRoom'] : []),
      ...(checksDay ? ['dayUsed <= :dayRoom'] : []),
    ],
    values: {
      ':keyId': keyId,
      ':perMinute': perMinute,
      ':perDay': perDay,
      ...(checksMinute && { ':minuteRoom': perMinute - ofMinute }),
      ...(checksDay && { ':dayRoom': perDay - ofDay }),
    },
  };
}
