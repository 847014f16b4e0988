import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { safeNumberSchema, timeToLive } from '../item-attributes.ts';
import type { KeyRecord } from '../keys/key-record.ts';
import { isoDay, startOfMinute } from '../keys/verdict.ts';
import { inBatches } from './in-batches.ts';

/** How long after its end a day may get requests: those that API Gateway received before it. */
const LATE_MS = 5 * 60_000;

/** In place of a record id: all keys together. */
export const ALL_KEYS = 'ALL';

const daySchema = v.object({
  /** UTC, such as `2026-11-21`. */
  day: v.string(),
  /** Admitted requests. */
  used: safeNumberSchema,
  /** Refused requests, at least. */
  refused: safeNumberSchema,
  /** Made up by a local server. */
  sample: v.optional(v.literal(true)),
});

/** The requests of a key, or of all keys, on a UTC day. */
export type DayUsage = v.InferOutput<typeof daySchema>;

/** The days that a record has counters of: the latest one with requests, and the one before it. */
export function daysOf(record: KeyRecord): DayUsage[] {
  const { currentMinute, dayUsed, dayRefused = 0, priorMinute = 0, priorUsed = 0, priorRefused = 0 } = record;
  return [
    { minute: priorMinute, used: priorUsed, refused: priorRefused },
    { minute: currentMinute, used: dayUsed, refused: dayRefused },
  ].flatMap(({ minute, ...counts }) => (minute > 0 ? [{ day: isoDay(startOfMinute(minute)), ...counts }] : []));
}

/** The sum of the days of records, by day. */
export function sumByDay(days: Iterable<DayUsage>): Map<string, DayUsage> {
  const sums = new Map<string, DayUsage>();
  for (const { day, used, refused } of days) {
    const sum = sums.get(day) ?? { day, used: 0, refused: 0 };
    sums.set(day, { day, used: sum.used + used, refused: sum.refused + refused });
  }
  return sums;
}

/**
 * The requests of each key per UTC day, for 400 days, by the key's record: a key keeps them when it is moved or
 * rotated. A record counts its day, and holds the day before until a third one begins. The sync stores each day once it
 * has ended. The total of all keys comes last, and reports to later syncs that the day is complete.
 */
export class KeyUsage {
  readonly #client: DynamoDBDocumentClient;
  readonly #tableName: string;

  constructor(client: DynamoDBDocumentClient, tableName: string) {
    this.#client = client;
    this.#tableName = tableName;
  }

  /** Stores the days that have ended, and are not stored yet. @param now Unix milliseconds */
  async store(records: readonly KeyRecord[], now: number): Promise<void> {
    const ended = isoDay(now - LATE_MS - 86_400_000);
    const [latest] = await this.#query(ALL_KEYS, '', 1);
    const stored = latest?.day ?? '';
    if (stored >= ended) return;
    const days = records.flatMap((record) =>
      daysOf(record)
        .filter(({ day }) => day > stored && day <= ended)
        .map((usage) => ({ recordId: record.recordId, usage })),
    );
    const totals = sumByDay([{ day: ended, used: 0, refused: 0 }, ...days.map(({ usage }) => usage)]);
    await inBatches(days, ({ recordId, usage }) => this.put(recordId, usage));
    for (const usage of [...totals.values()].toSorted((a, b) => (a.day < b.day ? -1 : 1))) {
      await this.put(ALL_KEYS, usage);
    }
  }

  /** The stored days of a key, or of all keys together, the oldest first. @param from first day */
  async of(recordId: string | undefined, from: string): Promise<DayUsage[]> {
    return (await this.#query(recordId ?? ALL_KEYS, from)).toReversed();
  }

  static itemOf(recordId: string, usage: DayUsage) {
    return { recordId, ...usage, ttl: timeToLive(Date.parse(usage.day)) };
  }

  /** Stores a day, unless a larger figure is stored: a restored record may have an older one. */
  async put(recordId: string, usage: DayUsage): Promise<void> {
    const { day, used, refused, ttl } = KeyUsage.itemOf(recordId, usage);
    const update = new UpdateCommand({
      TableName: this.#tableName,
      Key: { recordId, day },
      UpdateExpression: 'SET used = :used, refused = :refused, #ttl = :ttl',
      ConditionExpression: 'attribute_not_exists(recordId) OR (used <= :used AND refused <= :refused)',
      ExpressionAttributeNames: { '#ttl': 'ttl' },
      ExpressionAttributeValues: { ':used': used, ':refused': refused, ':ttl': ttl },
    });
    try {
      await this.#client.send(update);
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
    }
  }

  /** Days from a day on, the newest first. */
  async #query(recordId: string, from: string, Limit?: number): Promise<DayUsage[]> {
    const query = new QueryCommand({
      TableName: this.#tableName,
      KeyConditionExpression: 'recordId = :recordId AND #day >= :from',
      ExpressionAttributeNames: { '#day': 'day' },
      ExpressionAttributeValues: { ':recordId': recordId, ':from': from || '0' },
      ScanIndexForward: false,
      ConsistentRead: true,
      Limit,
    });
    const { Items } = await this.#client.send(query);
    return v.parse(v.array(daySchema), Items);
  }
}
