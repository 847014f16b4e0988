import { usagePlanIdOf } from '../../../shared/key-registry/update-gateway.ts';
import {
  type AddTokenParams,
  type KeyChange,
  MAX_TOKENS_WITH_GRACE,
  newRecord,
  tokenEntry,
  type Tokens,
} from '../../../shared/key-registry/record-changes.ts';
import {
  idOf,
  type KeyRecord,
  NO_EXPIRY,
  tokenName,
  type TokenRecord,
  UNTIL_RESUMED,
} from '../../../shared/keys/key-record.ts';
import type { ExactLimits } from '../../../shared/keys/plans.ts';
import { generateToken, hashToken, isIssued, parseToken } from '../../../shared/keys/token.ts';
import { validToken } from '../../../shared/keys/verdict.ts';
import { AdminError } from '../service/failures.ts';
import type { Target } from '../service/target.ts';
import { formatTime } from '../service/text.ts';
import {
  completeChange,
  changeRecord,
  readRecord,
  reportUnapplied,
  untilDone,
  waitForRefusalCacheExpiry,
} from './change-key.ts';
import { findKey } from './find-key.ts';

/** A new token, which clients use as their API key. It is shown once: neither API Gateway nor the keys table stores it. */
export type NewToken = Readonly<ReturnType<typeof newToken>>;

/** @param record of the key @param confirm the change that confirms the token: until then it is pending */
function newToken(
  target: Target,
  token: string,
  record: KeyRecord,
  confirm = (now: KeyRecord, hash: string): KeyChange => ({ tokens: withShown(now.tokens, hash) }),
) {
  const [id, hash] = [idOf(record), hashToken(token)];
  const { name, plan, perMinute, perDay, expiresAtMs = NO_EXPIRY, unappliedSince } = record;
  const { label = '', access = 'read', until = 0 } = record.tokens[hash] ?? {};
  const end = Math.min(expiresAtMs, until);
  const expires = end < NO_EXPIRY ? new Date(end).toISOString() : null;
  const applied = unappliedSince === undefined;
  /** Call it once the token was shown. It writes that; API Gateway is not involved. */
  const confirmShown = () =>
    changeRecord(target, record, (now) => {
      if (validToken(now, hash, Date.now())) return confirm(now, hash);
      throw new AdminError(
        `Another command has replaced or revoked this token of the key ${idOf(now)}: it is not valid.`,
      );
    });
  return { id, token, name, label, access, plan, perMinute, perDay, expires, applied, confirmShown };
}

type CreateKeyParams = Pick<KeyRecord, 'name' | 'plan' | 'expiresAtMs'> &
  Pick<AddTokenParams, 'access'> & { readonly limits: ExactLimits };

/** Creates a key with one token: first its record, with the token pending until shown, then its API Gateway key. */
export async function createKey(target: Target, params: CreateKeyParams): Promise<NewToken> {
  const { name, plan, limits, access, expiresAtMs } = params;
  await usagePlanIdOf(target, plan);
  const token = generateToken();
  const recordId = parseToken(token)?.recordId ?? '';
  const now = Date.now();
  const identity = { recordId, keyId: undefined, name, plan, ...limits, enabled: true, createdAt: now, expiresAtMs };
  const tokens = tokenEntry(token, { access, pending: true }, now);
  const record = await target.keyTable.add(newRecord({ ...identity, tokens, unappliedSince: now }));
  if (!record) throw new Error('The record id of the new key already exists');
  return newToken(target, token, await completeChange(target, { record, live: undefined }, true));
}

/** The tokens with a pending one. @throws AdminError if the key has the maximum number of tokens */
function withPending(record: KeyRecord, token: string, order: AddTokenParams, since = Date.now()): Tokens {
  const tokens = withToken(record, tokenEntry(token, { ...order, pending: true }, since), Date.now());
  if (Object.keys(tokens).length <= MAX_TOKENS_WITH_GRACE) return tokens;
  throw new AdminError(
    `The key ${idOf(record)} has ${MAX_TOKENS_WITH_GRACE} valid tokens, including rotated ones within their grace period. ` +
      `Wait until one expires, revoke one, or replace one that was never shown: npm run admin -- keys show ${idOf(record)}`,
  );
}

/** Finds a key that the admin command has created. @throws AdminError */
async function findIssued(target: Target, key: string): Promise<KeyRecord> {
  const record = await findKey(target, key);
  if (isIssued(record.recordId)) return record;
  throw new AdminError(
    `The key ${idOf(record)} was created in API Gateway directly. Its value is its only token, which cannot be changed. ` +
      'Create a key with npm run admin -- keys create, and revoke this one once its client uses the new key.',
  );
}

/** @throws AdminError if the key is blocked or expired */
function checkOpen(record: KeyRecord): void {
  const { enabled, suspendedUntil, expiresAtMs = NO_EXPIRY } = record;
  if (expiresAtMs <= Date.now()) throw new AdminError(`The key ${idOf(record)} has expired. Create a new one.`);
  if (!enabled || suspendedUntil >= UNTIL_RESUMED)
    throw new AdminError(`The key ${idOf(record)} is suspended. Resume it first.`);
}

/** Adds a token to a key, under the key's limits. Until it was shown, the same command replaces it. */
export async function addToken(
  target: Target,
  key: string,
  order: AddTokenParams & Pick<TokenRecord, 'label' | 'access'>,
): Promise<NewToken> {
  const known = await findIssued(target, key);
  const token = generateToken(known.recordId);
  const { label } = order;
  const record = await changeRecord(target, known, (now) => {
    checkOpen(now);
    const { current, pending } = tokensLabeled(now, label, Date.now());
    if (current)
      throw new AdminError(
        `The key ${idOf(now)} already has a token ${label}. Choose another label, or rotate that token.`,
      );
    if (!pending && !mayAddToken(now, Date.now()))
      throw new AdminError(`The key ${idOf(now)} has ${MAX_TOKENS} tokens, the maximum. Revoke one first.`);
    return { tokens: withPending(now, token, order) };
  });
  await waitForRefusalCacheExpiry(target);
  return newToken(target, token, reportUnapplied(target, record));
}

type RotateKeyParams = Readonly<{ label: string; graceMs: number }>;

/**
 * Replaces a token; the old one stays valid until the grace period ends. One conditional write adds the new token,
 * marked as pending; after it was shown, another removes the mark and sets the old one's expiration. If the command is
 * interrupted, the old token stays valid, and the next rotation replaces the pending one.
 *
 * @returns the token, with the names of those that the grace period ends (with 0 s, also those within an earlier one)
 *   as `replaces`, and as `graceEnds` the expiration of the old one, ISO 8601
 */
export async function rotateKey(target: Target, key: string, order: RotateKeyParams) {
  const { graceMs } = order;
  const { recordId } = await findIssued(target, key);
  const token = generateToken(recordId);
  const { record, current, replaces } = await untilDone(async () => {
    const now = await readRecord(target, recordId);
    const { tokens, ...replaced } = rotated(now, token, order);
    const written = await target.keyTable.revise(now, { tokens });
    return written && { record: written, ...replaced };
  });
  await waitForRefusalCacheExpiry(target);
  const graceEnds = new Date(Math.min(Date.now() + (current ? graceMs : 0), current?.until ?? NO_EXPIRY)).toISOString();
  const made = newToken(target, token, reportUnapplied(target, record), (now, hash) => withOldEnded(now, hash, order));
  return { ...made, replaces, graceEnds };
}

/** The tokens with the new one, and those that it replaces. @throws AdminError if the token cannot be rotated */
function rotated(now: KeyRecord, token: string, { label, graceMs }: RotateKeyParams) {
  checkOpen(now);
  const id = idOf(now);
  const { current, inGrace, pending } = tokensLabeled(now, label, Date.now());
  if (!current && !pending)
    throw new AdminError(
      `The key ${id} has no valid token ${label}. To list its tokens: npm run admin -- keys show ${id}`,
    );
  const [old] = inGrace;
  if (old && graceMs > 0)
    throw new AdminError(
      `The token ${label} of the key ${id} was already rotated, and the old one, ${tokenName(old)}, is valid until ${formatTime(new Date(old.until).toISOString())}. ` +
        'Rotate it after that, or with --grace 0s, which revokes both immediately.',
    );
  const { access = 'full', until = NO_EXPIRY, since = 0 } = current ?? pending ?? {};
  // Without a grace period, earlier grace periods end too, which frees their tokens' places.
  const hashes = inGrace.map(({ hash }) => hash);
  const rest = { ...now, tokens: withEnd(now.tokens, hashes, IMMEDIATELY) };
  // The newest token has the label, whatever the clock of another admin's machine.
  const tokens = withPending(rest, token, { access, until, label }, Math.max(Date.now(), since + 1));
  return { tokens, current, replaces: [...inGrace, ...(current ? [current] : [])].map(tokenName) };
}

/** The last write: confirms the new token and sets the expiration of the old one. */
function withOldEnded(now: KeyRecord, hash: string, { label, graceMs }: RotateKeyParams): KeyChange {
  // Already written: the response was lost.
  if (!now.tokens[hash]?.pending) return {};
  const { current } = tokensLabeled(now, label, Date.now());
  const end = graceMs === 0 ? IMMEDIATELY : Date.now() + graceMs;
  return { tokens: withShown(withEnd(now.tokens, current ? [current.hash] : [], end), hash) };
}

/** Revokes a token of a key immediately. The other tokens stay valid. @param name see {@link tokenName} */
export async function endToken(target: Target, key: string, name: string): Promise<KeyRecord> {
  const ended = await changeRecord(target, await findIssued(target, key), (now) => {
    const working = workingTokens(now, Date.now());
    const ending = working.find((token) => tokenName(token) === name);
    if (!ending) {
      // Already revoked.
      if (Object.values(now.tokens).some((token) => tokenName(token) === name)) return {};
      const names = working.map(tokenName).join(', ');
      throw new AdminError(`The key ${idOf(now)} has no valid token ${name}. Its tokens: ${names}`);
    }
    // No client has a token that was never shown.
    const hasOthers = working.some((token) => token !== ending && !token.pending);
    if (hasOthers) return { tokens: withEnd(now.tokens, [ending.hash], IMMEDIATELY) };
    throw new AdminError(
      `${name} is the only token of the key ${idOf(now)}. To revoke the key: npm run admin -- keys revoke ${idOf(now)}`,
    );
  });
  return reportUnapplied(target, ended);
}

// Changes of the tokens, as pure functions of their record.

/** Max tokens of a key, without rotated ones within their grace. */
export const MAX_TOKENS = 4;

export interface NamedToken extends TokenRecord {
  readonly hash: string;
}

/** The valid tokens, oldest first. */
export function workingTokens({ tokens }: Pick<KeyRecord, 'tokens'>, now: number): NamedToken[] {
  return Object.entries(tokens)
    .filter(([, { until }]) => until > now)
    .map(([hash, token]) => Object.assign({ hash }, token))
    .toSorted((one, other) => one.since - other.since);
}

/** The tokens with a label: the current one, replaced ones within their grace, one never shown. */
export function tokensLabeled(record: Pick<KeyRecord, 'tokens'>, label: string, now: number) {
  const labeled = workingTokens(record, now).filter((token) => token.label === label);
  const shown = labeled.filter(({ pending }) => !pending);
  return { current: shown.at(-1), inGrace: shown.slice(0, -1), pending: labeled.find((token) => token.pending) };
}

/** Whether a key may have another token with a new label. */
export function mayAddToken(record: Pick<KeyRecord, 'tokens'>, now: number): boolean {
  const labels = new Set(workingTokens(record, now).map(({ label }) => label));
  return labels.size < MAX_TOKENS;
}

/** The tokens with a new one, without those that have ended or were never shown. */
export function withToken(record: Pick<KeyRecord, 'tokens'>, entry: Tokens, now: number): Tokens {
  const [label] = Object.values(entry).map((token) => token.label);
  const kept = Object.entries(record.tokens).filter(
    ([, token]) => token.until > now && !(token.pending && token.label === label),
  );
  return { ...Object.fromEntries(kept), ...entry };
}

export function withShown(tokens: Tokens, hash: string): Tokens {
  const token = tokens[hash];
  if (!token) return tokens;
  const { pending: _, ...shown } = token;
  return { ...tokens, [hash]: shown };
}

/** A past end by every clock, including an admin's that is ahead. */
export const IMMEDIATELY = 0;

/** The tokens with earlier ends for some; none is extended. */
export function withEnd(tokens: Tokens, hashes: readonly string[], end: number): Tokens {
  const ended = Object.entries(tokens).map(([hash, token]) => {
    const until = hashes.includes(hash) ? Math.min(token.until, end) : token.until;
    return [hash, { ...token, until }] as const;
  });
  return Object.fromEntries(ended);
}
