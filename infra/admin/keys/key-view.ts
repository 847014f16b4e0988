import { workingTokens } from './tokens.ts';
import {
  idOf,
  type KeyRecord,
  NO_EXPIRY,
  UNTIL_RESUMED,
  tokenName,
  type TokenRecord,
} from '../../../shared/keys/key-record.ts';
import { isSameDay, minuteOf, validToken } from '../../../shared/keys/verdict.ts';
import type { PlanId } from '../../../shared/keys/plans.ts';
import { parseToken } from '../../../shared/keys/token.ts';
import { AdminError } from '../service/failures.ts';
import type { Target } from '../service/target.ts';
import { allRecords, comparable, findRecord } from './find-key.ts';

const keyStates = ['active', 'suspended', 'disabled', 'expired', 'no valid token', 'revoked'] as const;
export type KeyState = (typeof keyStates)[number];

/** Filters of the list of keys. `expiring`: within 14 days. */
export const stateFilters = [...keyStates, 'expiring'] as const;
const EXPIRING_MS = 14 * 86_400_000;

/** A key as returned by the commands; times are ISO 8601. */
export type KeyView = Readonly<ReturnType<typeof keyView>>;

/** @param now Unix milliseconds */
export function keyView(key: KeyRecord, now = Date.now()) {
  const { name, plan, perMinute, perDay, currentMinute, expiresAtMs = NO_EXPIRY, suspendedUntil } = key;
  const minute = minuteOf(now);
  const state = stateOf(key, now);
  const isSuspendedForAWhile = key.enabled && suspendedUntil > now;
  return {
    id: idOf(key),
    name,
    plan,
    perMinute,
    perDay,
    state,
    created: timeText(key.createdAt),
    /** To the minute. */
    lastUsed: currentMinute === 0 ? null : timeText(currentMinute * 60_000),
    usedThisMinute: currentMinute === minute ? key.minuteUsed : 0,
    /** Requests over the limit this minute; not those of a suspended key. */
    refusedThisMinute: currentMinute === minute ? key.minuteRefused : 0,
    usedToday: isSameDay(currentMinute, minute) ? key.dayUsed : 0,
    /** At least: those of a suspended key are not counted. */
    refusedToday: isSameDay(currentMinute, minute) ? (key.dayRefused ?? 0) : 0,
    expires: timeOrNull(expiresAtMs),
    /** Null if it is not suspended, or suspended until resumed. */
    suspendedUntil: isSuspendedForAWhile ? timeOrNull(suspendedUntil) : null,
    /** Null if it is not suspended. */
    suspendedBy: state === 'suspended' ? (key.suspendedByAdmin ? ('admin' as const) : ('limiter' as const)) : null,
    /** Valid tokens, oldest first. */
    tokens: key.revoked ? [] : workingTokens(key, now).map(tokenView),
    /** When the record of a revoked key is deleted; null for other keys. */
    forgotten: key.purgeAt === undefined ? null : timeText(key.purgeAt * 1_000),
    /** Whether API Gateway is up to date. */
    applied: key.unappliedSince === undefined,
  };
}

/** A token as returned by the commands; times are ISO 8601. Never the secret, or anything it could be rebuilt from. */
export type TokenView = Readonly<ReturnType<typeof tokenView>>;

const tokenView = ({ label, last, access, since, until, pending }: TokenRecord) => ({
  name: tokenName({ label, last }),
  label,
  last,
  access,
  since: timeText(since),
  until: timeOrNull(until),
  /** Created by a command that was interrupted before it printed the token. */
  neverShown: pending ?? false,
});

function stateOf(key: KeyRecord, now: number): KeyState {
  const { revoked, suspendedUntil, enabled, expiresAtMs = NO_EXPIRY } = key;
  if (revoked) return 'revoked';
  if (suspendedUntil >= UNTIL_RESUMED) return 'suspended';
  if (!enabled) return 'disabled';
  if (expiresAtMs <= now) return 'expired';
  if (suspendedUntil > now) return 'suspended';
  return workingTokens(key, now).length === 0 ? 'no valid token' : 'active';
}

const timeText = (epochMs: number): string => new Date(epochMs).toISOString();

const timeOrNull = (epochMs: number): string | null => (epochMs >= NO_EXPIRY ? null : timeText(epochMs));

/** @throws AdminError if there is no such key */
export const showKey = async (target: Target, id: string): Promise<KeyView> => keyView(await findRecord(target, id));

export const byText = new Intl.Collator();

export interface KeySelection {
  readonly plan?: PlanId | undefined;
  /** Undefined for all keys except revoked ones. */
  readonly state?: (typeof stateFilters)[number] | undefined;
  /** Part of the name (case-insensitive) or id, or the last four characters of a token. */
  readonly search?: string;
}

/** Keys by name, without revoked ones unless selected. */
export const listKeys = async (target: Target, selection: KeySelection = {}): Promise<KeyView[]> =>
  selectKeys(await allRecords(target), selection);

export function selectKeys(records: readonly KeyRecord[], { plan, state, search = '' }: KeySelection = {}): KeyView[] {
  const text = search.trim();
  return records
    .filter((record) => plan === undefined || record.plan === plan)
    .filter((record) => hasText(record, text))
    .map((record) => keyView(record))
    .filter((view) => hasState(view, state))
    .toSorted((a, b) => byText.compare(a.name, b.name) || byText.compare(a.created, b.created));
}

const hasText = (record: KeyRecord, text: string): boolean =>
  comparable(record.name).includes(comparable(text)) ||
  idOf(record).includes(text) ||
  Object.values(record.tokens).some(({ last }) => last === text);

function hasState(view: KeyView, filter: KeySelection['state']): boolean {
  if (filter === undefined) return view.state !== 'revoked';
  if (filter !== 'expiring') return view.state === filter;
  const { state, expires } = view;
  const isOver = state === 'revoked' || state === 'expired';
  return !isOver && expires !== null && Date.parse(expires) < Date.now() + EXPIRING_MS;
}

export type FoundToken = Awaited<ReturnType<typeof findToken>>;

/** Finds the key of a token by its handle, and the token if it is valid. @throws AdminError if there is no key */
export async function findToken({ keyTable }: Target, text: string) {
  const token = parseToken(text.trim());
  if (!token) throw new AdminError('This is not an API key: it is mistyped or truncated.');
  const record = await keyTable.get(token.recordId);
  if (!record)
    throw new AdminError('No key of this service has this token: it belongs to another stage, or its key was deleted.');
  const found = record.revoked ? undefined : validToken(record, token.hash, Date.now());
  return { key: keyView(record), token: found ? tokenView(found) : null };
}
