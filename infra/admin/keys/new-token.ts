import type { KeyChange } from '../../../shared/key-registry/key-table.ts';
import {
  hasRoom,
  MAX_TOKENS,
  MAX_TOKENS_WITH_GRACE,
  tokenEntry,
  type TokenOrder,
  tokensLabelled,
  withShown,
  withToken,
  workingTokens,
} from '../../../shared/key-registry/key-tokens.ts';
import { type KeyRecord, type TokenRecord } from '../../../shared/keys/key-record.ts';
import { NEVER, workingToken } from '../../../shared/keys/verdict.ts';
import { generateToken, hashToken } from '../../../shared/keys/token.ts';
import { AdminError } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { changeRecord, isSuspendedForGood, waitOutMemory } from './change-record.ts';
import { changeTokens, endingNow } from './end-token.ts';
import { findTokens, restoredError } from './find-key.ts';

/** A token that was just made, with its key. It is shown once: neither API Gateway nor the keys table has it. */
export type NewToken = Readonly<ReturnType<typeof newToken>>;

/**
 * @param key the token: to clients, their API key
 * @param record that has the token
 * @param confirmShown to be called once it has been shown: until then the token is marked as pending
 */
export function newToken(key: string, record: KeyRecord, confirmShown: () => Promise<KeyRecord>) {
  const { keyId: id, name, plan, perMinute, perDay, expiresAt = NEVER } = record;
  const { label = '', access = 'read', until = 0 } = record.tokens[hashToken(key)] ?? {};
  const end = Math.min(expiresAt, until);
  const expires = end < NEVER ? new Date(end).toISOString() : null;
  return { id, key, name, label, access, plan, perMinute, perDay, expires, confirmShown };
}

/** Removes the mark of a token that has been shown. */
export function confirmation(target: Target, { recordId }: KeyRecord, token: string): () => Promise<KeyRecord> {
  const hash = hashToken(token);
  return () =>
    changeRecord(target, recordId, (now) => {
      checkNotEnded(now, hash);
      return { tokens: withShown(now.tokens, hash) };
    });
}

/** @throws AdminError where a token does not work any more */
export function checkNotEnded(record: KeyRecord, hash: string): void {
  if (workingToken(record, hash, Date.now())) return;
  throw new AdminError(
    `Another command has replaced or ended this token of the key ${record.keyId} meanwhile: it does not work.`,
  );
}

/** The change that adds a pending token. @throws AdminError where tokens that work on after a rotation leave no room */
export function addition(record: KeyRecord, token: string, order: TokenOrder, since = Date.now()): KeyChange {
  const tokens = withToken(record, tokenEntry(token, { ...order, pending: true }, since), Date.now());
  // One that was never shown, and is replaced, may have been seen all the same.
  const isEnding = workingTokens(record, Date.now()).some(({ hash }) => !(hash in tokens));
  if (Object.keys(tokens).length <= MAX_TOKENS_WITH_GRACE) return { ...(isEnding && endingNow(record)), tokens };
  throw new AdminError(
    `The key ${record.keyId} has ${MAX_TOKENS_WITH_GRACE} tokens that work, with those that were rotated and are in their grace. ` +
      `Wait until one has ended, end one, or make again what was never shown: npm run admin -- keys show ${record.keyId}`,
  );
}

/** @throws AdminError where a key is closed */
export function checkOpen(record: KeyRecord): void {
  const { keyId, enabled, expiresAt = NEVER, restored } = record;
  if (expiresAt <= Date.now()) throw new AdminError(`The key ${keyId} has expired. Create a new one.`);
  if (restored) throw restoredError(keyId);
  if (!enabled || isSuspendedForGood(record)) throw new AdminError(`The key ${keyId} is suspended. Resume it first.`);
}

export type TokenAddition = TokenOrder & Pick<TokenRecord, 'label' | 'access'>;

/** Adds a token to a key, under the key's one exact limit. Until it has been shown, the same command replaces it. */
export async function addToken(target: Target, id: string, order: TokenAddition): Promise<NewToken> {
  const known = await findTokens(target, id, 'given another');
  const token = generateToken(known.recordId);
  const record = await changeTokens(target, known, (now) => {
    checkOpen(now);
    const { label } = order;
    const { current, pending } = tokensLabelled(now, label, Date.now());
    if (current)
      throw new AdminError(`The key ${id} has a token ${label} already. Choose another label, or rotate that one.`);
    if (!pending && !hasRoom(now, Date.now()))
      throw new AdminError(`The key ${id} has ${MAX_TOKENS} tokens, and can have no more. End one first.`);
    return addition(now, token, order);
  });
  await waitOutMemory(target);
  return newToken(token, record, confirmation(target, record, token));
}
