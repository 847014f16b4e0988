import type { KeyChange } from '../../../shared/key-registry/key-table.ts';
import { type Tokens, withShown, withToken, workingTokens } from '../../../shared/key-registry/key-tokens.ts';
import { type Access, type KeyRecord, MAX_TOKENS_WITH_GRACE } from '../../../shared/keys/key-record.ts';
import { NEVER, workingToken } from '../../../shared/keys/working-token.ts';
import type { PlanId } from '../../../shared/keys/plans.ts';
import { hashToken } from '../../../shared/keys/token.ts';
import { AdminError } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { changeRecord } from './change-record.ts';
import { endingNow } from './ending.ts';

/** A token that was just made, with its key. It is shown once: neither API Gateway nor the keys table has it. */
export interface NewToken {
  readonly id: string;
  /** The token: to clients, their API key. */
  readonly key: string;
  readonly name: string;
  readonly label: string;
  readonly access: Access;
  readonly plan: PlanId;
  readonly perMinute: number;
  readonly perDay: number;
  readonly expires: string | null;
  /** To be called once it has been shown: until then the token is marked as pending. @returns the record as it is then */
  readonly confirmShown: () => Promise<KeyRecord>;
}

/** @param record that has the token */
export function newToken(text: string, record: KeyRecord, confirmShown: NewToken['confirmShown']): NewToken {
  const { keyId: id, name, plan, perMinute, perDay, expiresAt = Infinity } = record;
  const { label = '', access = 'read', until = 0 } = record.tokens[hashToken(text)] ?? {};
  const end = Math.min(expiresAt, until);
  const expires = end < NEVER ? new Date(end).toISOString() : null;
  return { id, key: text, name, label, access, plan, perMinute, perDay, expires, confirmShown };
}

/** The change that adds a token. @throws AdminError where tokens that work on after a rotation leave no room for it */
export function addition(record: KeyRecord, entry: Tokens): KeyChange {
  const tokens = withToken(record, entry, Date.now());
  // One that was never shown, and is replaced, may have been seen all the same.
  const isEnding = workingTokens(record, Date.now()).some(({ hash }) => !(hash in tokens));
  if (Object.keys(tokens).length <= MAX_TOKENS_WITH_GRACE) return { ...(isEnding && endingNow(record)), tokens };
  throw new AdminError(
    `The key ${record.keyId} has ${MAX_TOKENS_WITH_GRACE} tokens that work, with those that were rotated and are in their grace. ` +
      `Wait until one has ended, end one, or make again what was never shown: npm run admin -- keys show ${record.keyId}`,
  );
}

/** Takes the mark of a token away that has been shown. */
export const disclosure =
  (target: Target, { recordId }: Pick<KeyRecord, 'recordId'>, text: string): NewToken['confirmShown'] =>
  () =>
    changeRecord(target, recordId, (record) => {
      const hash = hashToken(text);
      if (!workingToken(record, hash, Date.now())) throw endedMeanwhile(record.keyId);
      return { tokens: withShown(record.tokens, hash) };
    });

export const endedMeanwhile = (id: string): AdminError =>
  new AdminError(`Another command has replaced or ended this token of the key ${id} meanwhile: it does not work.`);
