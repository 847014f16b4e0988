import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { RETENTION_MS, safeNumberSchema, timeToLive } from '../item-attributes.ts';
import { type KeyRecord, tokenName, NO_EXPIRY, UNTIL_RESUMED } from '../keys/key-record.ts';
import { type ExactLimits, plans } from '../keys/plans.ts';
import { withoutTokens } from '../keys/token.ts';
import { SUSPENSION_MS } from '../keys/verdict.ts';
import type { KeyChange, Tokens } from './record-changes.ts';

/** Max wait for the write of an entry, in milliseconds: its change has already been made. */
const MAX_WRITE_MS = 5_000;

/** Details of a change that its record does not have. */
export interface Occasion {
  readonly reason?: string | undefined;
  /** The part that an admin has edited in API Gateway, and the record adopts. */
  readonly edit?: KeyChange;
}

const entrySchema = v.object({
  recordId: v.string(),
  /** Revision of the record after the change. */
  revision: safeNumberSchema,
  /** Unix milliseconds, unique per key. */
  at: safeNumberSchema,
  /** Time of the previous change, to detect missing entries. */
  previousAt: v.optional(safeNumberSchema),
  who: v.string(),
  what: v.array(v.string()),
  reason: v.optional(v.string()),
});

/** A change before its write. */
export type ChangeEntry = Omit<v.InferOutput<typeof entrySchema>, 'who'>;

/** A change for display. */
export interface HistoryRow {
  /** ISO 8601. */
  readonly at: string;
  /** Null: not recorded, and unknown. */
  readonly who: string | null;
  readonly what: readonly string[];
  readonly reason: string | null;
}

interface HistorySettings {
  readonly client: DynamoDBDocumentClient;
  readonly tableName: string;
  /** Returns the author of the changes. */
  readonly who: () => Promise<string>;
  /** Called if a change succeeds, but cannot be recorded. */
  readonly onLost: (error: unknown) => void;
}

/**
 * Who changed a key, what and when: an item for each relevant change of a record, kept for
 * 400 days. It is written after the record, not in a transaction with it, which would conflict with the counting
 * of requests. The record has the time of its last change and each entry that of the previous one, which reveals gaps.
 */
export class KeyHistory {
  readonly #settings: HistorySettings;

  constructor(settings: HistorySettings) {
    this.#settings = settings;
  }

  /** The entry of a change before its write; undefined for bookkeeping. @param before undefined for a new key */
  entryOf(before: KeyRecord | undefined, after: KeyRecord, { reason, edit }: Occasion = {}): ChangeEntry | undefined {
    const { recordId, revision } = after;
    const previousAt = before?.changedAt;
    const at = Math.max(Date.now(), (previousAt ?? 0) + 1);
    const edited = before && { ...before, ...edit };
    const adopted = edited ? describeChange(before, edited, at).map((words) => `${words} (in API Gateway)`) : [];
    const what = [...adopted, ...describeChange(edited, after, at)].map(withoutTokens);
    // Only a suspension of a suspended key has a reason and changes nothing.
    if (what.length === 0 && reason !== undefined) what.push('suspended as before');
    return what.length > 0 ? { recordId, revision, at, previousAt, what, reason } : undefined;
  }

  /** Records a completed change. It never throws: a failure is reported. */
  async put(entry: ChangeEntry): Promise<void> {
    const { client, tableName: TableName, who, onLost } = this.#settings;
    try {
      const Item = { ...entry, who: await who(), ttl: timeToLive(entry.at) };
      const put = new PutCommand({ TableName, Item, ConditionExpression: 'attribute_not_exists(recordId)' });
      await client.send(put, { abortSignal: AbortSignal.timeout(MAX_WRITE_MS) });
    } catch (error) {
      // It exists already: the SDK has retried after a lost response.
      if (!(error instanceof ConditionalCheckFailedException)) onLost(error);
    }
  }

  /** The latest changes of a key, the newest first, with a suspension by the limiter that the record still has. */
  async of({ recordId, changedAt, suspendedUntil, suspendedByAdmin }: KeyRecord, limit: number): Promise<HistoryRow[]> {
    const query = new QueryCommand({
      TableName: this.#settings.tableName,
      KeyConditionExpression: 'recordId = :recordId',
      ExpressionAttributeValues: { ':recordId': recordId },
      ScanIndexForward: false,
      ConsistentRead: true,
      Limit: limit,
    });
    const { Items, LastEvaluatedKey } = await this.#settings.client.send(query);
    const rows: HistoryRow[] = [];
    let expectedAt = changedAt ?? 0;
    for (const { at, previousAt = 0, who, what, reason = null } of v.parse(v.array(entrySchema), Items)) {
      if (expectedAt > at) rows.push(notRecorded(expectedAt));
      rows.push({ at: new Date(at).toISOString(), who, what, reason });
      expectedAt = previousAt;
    }
    // Older entries are deleted.
    if (!LastEvaluatedKey && expectedAt > Date.now() - RETENTION_MS) rows.push(notRecorded(expectedAt));
    const bannedAt = suspendedByAdmin ? 0 : suspendedUntil - SUSPENSION_MS;
    if (bannedAt > 0) rows.push({ ...notRecorded(bannedAt), who: 'limiter', what: [banText(suspendedUntil)] });
    return rows.toSorted((a, b) => (a.at < b.at ? 1 : -1));
  }
}

const banText = (until: number): string => `suspended automatically until ${timeText(until)}`;

const notRecorded = (at: number): HistoryRow => ({ at: new Date(at).toISOString(), who: null, what: [], reason: null });

/**
 * A change of a key in short phrases such as `plan free → pro`; none where only bookkeeping changed, such as
 * `unappliedSince`, or the limiter suspended the key. Never a token or its hash.
 *
 * @param before undefined for a new key @param at time of the change, Unix milliseconds
 */
export function describeChange(before: KeyRecord | undefined, after: KeyRecord, at: number): string[] {
  if (!before) {
    const empty = { ...after, expiresAtMs: undefined, tokens: {} };
    return [`created on ${planText(after)}`, ...describeChange(empty, after, at)];
  }
  const plan = changed('plan', planText(before), planText(after));
  return [
    ...changed('name', before.name, after.name),
    ...(plan.length > 0 ? plan : changed('limits', limitsPhrase(before), limitsPhrase(after))),
    ...changed('expires', timeText(before.expiresAtMs), timeText(after.expiresAtMs)),
    ...stateChange(before, after, at),
    ...tokenChanges(before.tokens, after.tokens, at),
  ];
}

const changed = (what: string, before: string, after: string): string[] =>
  before === after ? [] : [`${what} ${before} → ${after}`];

const limitsPhrase = ({ perMinute, perDay }: ExactLimits): string =>
  `${perMinute.toLocaleString('en')} per minute, ${perDay.toLocaleString('en')} per day`;

const planText = (key: KeyRecord): string =>
  plans[key.plan].limits === 'agreed' ? `${key.plan} (${limitsPhrase(key)})` : key.plan;

const timeText = (epochMs = NO_EXPIRY): string =>
  epochMs >= NO_EXPIRY ? 'never' : `${new Date(epochMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** A suspension by the limiter is no revision. Its end by an admin names it. */
function stateChange(before: KeyRecord, after: KeyRecord, at: number): string[] {
  if (after.revoked) return before.revoked ? [] : ['revoked'];
  const { suspendedUntil: until, suspendedByAdmin } = after;
  const isNew = until !== before.suspendedUntil || !before.suspendedByAdmin;
  if (suspendedByAdmin && until > at && isNew)
    return [`suspended until ${until >= UNTIL_RESUMED ? 'it is resumed' : timeText(until)}`];
  if (before.suspendedUntil > at && until <= at)
    return [before.suspendedByAdmin ? 'resumed' : `resumed (was ${banText(before.suspendedUntil)})`];
  return before.enabled === after.enabled ? [] : [after.enabled ? 'enabled' : 'disabled'];
}

function tokenChanges(before: Tokens, after: Tokens, at: number): string[] {
  const changes: string[] = [];
  for (const [hash, token] of Object.entries({ ...before, ...after })) {
    const { access, until } = token;
    const name = `token ${tokenName(token)}`;
    const isGone = !(hash in after);
    if (isGone && until > at) changes.push(`${name} removed`);
    if (!(hash in before)) changes.push(`${name} added${access === 'full' ? '' : ', read-only'}`);
    if (isGone || until === (before[hash]?.until ?? NO_EXPIRY)) continue;
    changes.push(`${name} ${until > at ? `ends ${timeText(until)}` : 'ended'}`);
  }
  return changes;
}
