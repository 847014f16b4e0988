import { workingTokens } from '../../../shared/key-registry/key-tokens.ts';
import type { Access, KeyRecord, TokenRecord } from '../../../shared/keys/key-record.ts';
import { NEVER } from '../../../shared/keys/working-token.ts';
import { type PlanId, planIds, plans } from '../../../shared/keys/plans.ts';
import { isSameDay, minuteOf } from '../../../shared/keys/window.ts';
import type { Target } from '../target.ts';
import { allRecords, findKey } from './find-key.ts';

/** `restored`: it came back with a backup, with tokens that had been ended, and is closed until it is rotated. */
export type KeyState = 'active' | 'suspended' | 'disabled' | 'expired' | 'restored';

/** A token as the commands show it; times are ISO 8601. Never the token itself, nor anything it could be rebuilt from. */
export interface TokenView {
  readonly label: string;
  /** Its last four characters. */
  readonly last: string;
  readonly access: Access;
  readonly since: string;
  /** Null: until it is ended. */
  readonly until: string | null;
  /** It was made by a command that was cut off before it showed it. */
  readonly neverShown: boolean;
}

/** A key as the commands show it; times are ISO 8601. */
export interface KeyView {
  readonly id: string;
  readonly name: string;
  readonly plan: PlanId;
  readonly perMinute: number;
  readonly perDay: number;
  readonly state: KeyState;
  readonly created: string;
  /** To the minute; null: never. */
  readonly lastUsed: string | null;
  readonly usedThisMinute: number;
  readonly usedToday: number;
  readonly expires: string | null;
  /** Null where it is not suspended, or until it is resumed. */
  readonly suspendedUntil: string | null;
  /** Those that work, the oldest first. */
  readonly tokens: readonly TokenView[];
}

/** @param now Unix milliseconds */
export function keyView(key: KeyRecord, now = Date.now()): KeyView {
  const minute = minuteOf(now);
  const hasEnd = key.suspendedUntil > now && key.suspendedUntil < NEVER;
  return {
    id: key.keyId,
    name: key.name,
    plan: key.plan,
    perMinute: key.perMinute,
    perDay: key.perDay,
    state: stateOf(key, now),
    created: timeText(key.createdAt),
    lastUsed: key.currentMinute === 0 ? null : timeText(key.currentMinute * 60_000),
    usedThisMinute: key.currentMinute === minute ? key.minuteUsed : 0,
    usedToday: isSameDay(key.currentMinute, minute) ? key.dayUsed : 0,
    expires: key.expiresAt === undefined ? null : timeText(key.expiresAt),
    suspendedUntil: hasEnd && key.enabled ? timeText(key.suspendedUntil) : null,
    tokens: workingTokens(key, now).map(tokenView),
  };
}

export const tokenView = ({ label, last, access, since, until, pending }: TokenRecord): TokenView => ({
  label,
  last,
  access,
  since: timeText(since),
  until: until >= NEVER ? null : timeText(until),
  neverShown: pending ?? false,
});

function stateOf(key: KeyRecord, now: number): KeyState {
  if (key.restored) return 'restored';
  if (key.suspendedUntil >= NEVER) return 'suspended';
  if (!key.enabled) return 'disabled';
  if (key.expiresAt !== undefined && key.expiresAt <= now) return 'expired';
  return key.suspendedUntil > now ? 'suspended' : 'active';
}

const timeText = (epochMs: number): string => new Date(epochMs).toISOString();

/** @throws AdminError where there is no such key */
export async function showKey(target: Target, id: string): Promise<KeyView> {
  return keyView((await findKey(target, id)).record);
}

const byName = new Intl.Collator();

/** All keys that are not revoked, or those of one plan, by name. */
export async function listKeys(target: Target, plan?: PlanId): Promise<KeyView[]> {
  return (await allRecords(target))
    .filter((record) => !record.revoked && (plan === undefined || record.plan === plan))
    .map((record) => keyView(record))
    .toSorted((a, b) => byName.compare(a.name, b.name) || byName.compare(a.created, b.created));
}

export interface PlanView {
  readonly plan: PlanId;
  readonly title: string;
  /** Null: as agreed with each customer. */
  readonly perMinute: number | null;
  readonly perDay: number | null;
  readonly keys: number;
}

/** The plans of the catalogue, with the number of keys that each has. */
export function planViews(keys: readonly KeyView[]): PlanView[] {
  return planIds.map((plan) => {
    const { title, limits } = plans[plan];
    const { perMinute, perDay } = limits === 'agreed' ? { perMinute: null, perDay: null } : limits;
    return { plan, title, perMinute, perDay, keys: keys.filter((key) => key.plan === plan).length };
  });
}
