import {
  type KeyChange,
  MAX_TOKENS_WITH_GRACE,
  tokenEntry,
  type AddTokenParams,
} from '../../../shared/key-registry/record-changes.ts';
import { mayAddToken, MAX_TOKENS, tokensLabeled, withShown, withToken } from './token-changes.ts';
import { idOf, type KeyRecord, type TokenRecord, NO_EXPIRY, UNTIL_RESUMED } from '../../../shared/keys/key-record.ts';
import { generateToken, hashToken, isIssued } from '../../../shared/keys/token.ts';
import { validToken } from '../../../shared/keys/verdict.ts';
import { AdminError } from '../service/failures.ts';
import type { Target } from '../service/target.ts';
import { changeRecord, reportUnapplied, waitForRefusalCacheExpiry } from './change-record.ts';
import { findKey } from './find-key.ts';

/** A new token with its key. It is shown once: neither API Gateway nor the keys table stores it. */
export type NewToken = Readonly<ReturnType<typeof newToken>>;

/**
 * @param key the token, which clients use as their API key
 * @param record of the key
 * @param confirmShown call it once the token was shown: until then the token is pending
 */
export function newToken(key: string, record: KeyRecord, confirmShown: () => Promise<KeyRecord>) {
  const { name, plan, perMinute, perDay, expiresAtMs = NO_EXPIRY, unappliedSince } = record;
  const { label = '', access = 'read', until = 0 } = record.tokens[hashToken(key)] ?? {};
  const end = Math.min(expiresAtMs, until);
  const expires = end < NO_EXPIRY ? new Date(end).toISOString() : null;
  const applied = unappliedSince === undefined;
  return { id: idOf(record), key, name, label, access, plan, perMinute, perDay, expires, applied, confirmShown };
}

/** Writes that a token was shown; API Gateway is not involved. @param change computes the fields from the key */
export function confirmation(
  target: Target,
  record: KeyRecord,
  token: string,
  change = (now: KeyRecord, hash: string): KeyChange => ({ tokens: withShown(now.tokens, hash) }),
): () => Promise<KeyRecord> {
  const hash = hashToken(token);
  return () =>
    changeRecord(target, record, (now) => {
      if (validToken(now, hash, Date.now())) return change(now, hash);
      throw new AdminError(
        `Another command has replaced or revoked this token of the key ${idOf(now)}: it is not valid.`,
      );
    });
}

/** The change that adds a pending token. @throws AdminError if the key has the maximum number of tokens */
export function addition(record: KeyRecord, token: string, order: AddTokenParams, since = Date.now()): KeyChange {
  const tokens = withToken(record, tokenEntry(token, { ...order, pending: true }, since), Date.now());
  if (Object.keys(tokens).length <= MAX_TOKENS_WITH_GRACE) return { tokens };
  throw new AdminError(
    `The key ${idOf(record)} has ${MAX_TOKENS_WITH_GRACE} valid tokens, including rotated ones within their grace period. ` +
      `Wait until one expires, revoke one, or replace one that was never shown: npm run admin -- keys show ${idOf(record)}`,
  );
}

/**
 * Finds the key of a token command.
 *
 * @param change past participle for the message
 * @throws AdminError also if the key was not created by the admin command
 */
export async function findIssued(target: Target, key: string, change: string): Promise<KeyRecord> {
  const record = await findKey(target, key);
  if (isIssued(record.recordId)) return record;
  throw new AdminError(
    `The key ${idOf(record)} was created in API Gateway directly. Its value is its only token, so it cannot be ${change}. ` +
      'Create a key with npm run admin -- keys create, and revoke this one once its client uses the new key.',
  );
}

/** @throws AdminError if the key is blocked or expired */
export function checkOpen(record: KeyRecord): void {
  const { enabled, suspendedUntil, expiresAtMs = NO_EXPIRY } = record;
  if (expiresAtMs <= Date.now()) throw new AdminError(`The key ${idOf(record)} has expired. Create a new one.`);
  if (!enabled || suspendedUntil >= UNTIL_RESUMED)
    throw new AdminError(`The key ${idOf(record)} is suspended. Resume it first.`);
}

export type TokenAddition = AddTokenParams & Pick<TokenRecord, 'label' | 'access'>;

/** Adds a token to a key, under the key's limits. Until it was shown, the same command replaces it. */
export async function addToken(target: Target, key: string, order: TokenAddition): Promise<NewToken> {
  const known = await findIssued(target, key, 'extended');
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
    return addition(now, token, order);
  });
  await waitForRefusalCacheExpiry(target);
  return newToken(token, reportUnapplied(target, record), confirmation(target, record, token));
}
