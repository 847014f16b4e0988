import { hasRoom, tokenEntry, tokensLabelled } from '../../../shared/key-registry/key-tokens.ts';
import { type Access, MAX_TOKENS } from '../../../shared/keys/key-record.ts';
import { NEVER } from '../../../shared/keys/working-token.ts';
import { generateToken, isIssued } from '../../../shared/keys/token.ts';
import { AdminError } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { changeRecord, outlastMemory } from './change-record.ts';
import { tagEnding } from './ending.ts';
import { findKey } from './find-key.ts';
import { addition, disclosure, type NewToken, newToken } from './new-token.ts';
import { checkOpen, consoleMade } from './rotate-key.ts';

export interface TokenAddition {
  readonly label: string;
  readonly access: Access;
  /** Unix milliseconds. */
  readonly until?: number | undefined;
}

/** Adds a token to a key, under the key's one exact limit. Until it has been shown, the same command replaces it. */
export async function addToken(target: Target, id: string, order: TokenAddition): Promise<NewToken> {
  const { label, access, until = NEVER } = order;
  const { record: known } = await findKey(target, id);
  if (!isIssued(known.recordId)) throw consoleMade(id, 'given another');
  const text = generateToken(known.recordId);
  const record = await changeRecord(target, known.recordId, (now) => {
    checkOpen(now);
    const { current, pending } = tokensLabelled(now, label, Date.now());
    if (current)
      throw new AdminError(`The key ${id} has a token ${label} already. Choose another label, or rotate that one.`);
    if (!pending && !hasRoom(now, Date.now()))
      throw new AdminError(`The key ${id} has ${MAX_TOKENS} tokens, and can have no more. End one first.`);
    return addition(now, tokenEntry(text, { label, access, until, pending: true }, Date.now()));
  });
  if (record.tokensEndedAt !== known.tokensEndedAt) await tagEnding(target, record);
  await outlastMemory(target);
  return newToken(text, record, disclosure(target, record, text));
}
