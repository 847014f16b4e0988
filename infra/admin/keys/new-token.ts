import type { KeyChange } from '../../../shared/key-registry/key-table.ts';
import {
  hasRemainingQuota,
  MAX_TOKENS,
  MAX_TOKENS_WITH_GRACE,
  tokenEntry,
  type AddTokenParams,
  tokensLabeled,
  withShown,
  withToken,
} from '../../../shared/key-registry/key-tokens.ts';
import { idOf, type KeyRecord, NEVER, type TokenRecord } from '../../../shared/keys/key-record.ts';
import { generateToken, hashToken, isIssued } from '../../../shared/keys/token.ts';
import { workingToken } from '../../../shared/keys/verdict.ts';
import { AdminError } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { changeRecord, reportUnapplied, waitForRefusalCacheExpiry } from './change-record.ts';
import { findKey } from './find-key.ts';

/** A token that was just made, with its key. It is shown once: neither API Gateway nor the keys table has it. */
export type NewToken = Readonly<ReturnType<typeof newToken>>;

/**
 * @param key the token: to clients, their API key
 * @param record that has the token
 * @param confirmShown to be called once it has been shown: until then the token is marked as pending
 */
export function newToken(key: string, record: KeyRecord, confirmShown: () => Promise<KeyRecord>) {
  const { name, plan, perMinute, perDay, expiresAtMs = NEVER, unappliedSince } = record;
  const { label = '', access = 'read', until = 0 } = record.tokens[hashToken(key)] ?? {};
  const end = Math.min(expiresAtMs, until);
  const expires = end < NEVER ? new Date(end).toISOString() : null;
  const applied = unappliedSince === undefined;
  return { id: idOf(record), key, name, label, access, plan, perMinute, perDay, expires, applied, confirmShown };
}

/** One write of a token that was shown, which has no part in API Gateway. @param change from the key as it is then */
export function confirmation(
  target: Target,
  record: KeyRecord,
  token: string,
  change = (now: KeyRecord, hash: string): KeyChange => ({ tokens: withShown(now.tokens, hash) }),
): () => Promise<KeyRecord> {
  const hash = hashToken(token);
  return () =>
    changeRecord(target, record, (now) => {
      if (workingToken(now, hash, Date.now())) return change(now, hash);
      throw new AdminError(
        `Another command has replaced or ended this token of the key ${idOf(now)} meanwhile: it does not work.`,
      );
    });
}

/** The change that adds a pending token. @throws AdminError where tokens that work on after a rotation leave no room */
export function addition(record: KeyRecord, token: string, order: AddTokenParams, since = Date.now()): KeyChange {
  const tokens = withToken(record, tokenEntry(token, { ...order, pending: true }, since), Date.now());
  if (Object.keys(tokens).length <= MAX_TOKENS_WITH_GRACE) return { tokens };
  throw new AdminError(
    `The key ${idOf(record)} has ${MAX_TOKENS_WITH_GRACE} tokens that work, with those that were rotated and are in their grace. ` +
      `Wait until one has ended, end one, or make again what was never shown: npm run admin -- keys show ${idOf(record)}`,
  );
}

/**
 * The key whose tokens are to be changed.
 *
 * @param change what is done with its token, in words
 * @throws AdminError, too, where the key was not made by the admin command
 */
export async function findIssued(target: Target, key: string, change: string): Promise<KeyRecord> {
  const record = await findKey(target, key);
  if (isIssued(record.recordId)) return record;
  throw new AdminError(
    `The key ${idOf(record)} was made in API Gateway itself, by its console, the AWS CLI or another program: its value is its only token, so it cannot be ${change}. ` +
      'Create one with npm run admin -- keys create, and revoke this one when its client has the new one.',
  );
}

/** @throws AdminError where a key is closed */
export function checkOpen(record: KeyRecord): void {
  const { enabled, suspendedUntil, expiresAtMs = NEVER } = record;
  if (expiresAtMs <= Date.now()) throw new AdminError(`The key ${idOf(record)} has expired. Create a new one.`);
  if (!enabled || suspendedUntil >= NEVER)
    throw new AdminError(`The key ${idOf(record)} is suspended. Resume it first.`);
}

export type TokenAddition = AddTokenParams & Pick<TokenRecord, 'label' | 'access'>;

/** Adds a token to a key, under the key's one exact limit. Until it has been shown, the same command replaces it. */
export async function addToken(target: Target, key: string, order: TokenAddition): Promise<NewToken> {
  const known = await findIssued(target, key, 'given another');
  const token = generateToken(known.recordId);
  const { label } = order;
  const record = await changeRecord(target, known, (now) => {
    checkOpen(now);
    const { current, pending } = tokensLabeled(now, label, Date.now());
    if (current)
      throw new AdminError(
        `The key ${idOf(now)} has a token ${label} already. Choose another label, or rotate that one.`,
      );
    if (!pending && !hasRemainingQuota(now, Date.now()))
      throw new AdminError(`The key ${idOf(now)} has ${MAX_TOKENS} tokens, and can have no more. End one first.`);
    return addition(now, token, order);
  });
  await waitForRefusalCacheExpiry(target);
  return newToken(token, reportUnapplied(target, record), confirmation(target, record, token));
}
