import { AT_ONCE, tokensLabelled, withEnd, workingTokens } from '../../../shared/key-registry/key-tokens.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { isIssued } from '../../../shared/keys/token.ts';
import { AdminError } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { changeRecord, outlastMemory } from './change-record.ts';
import { endingNow, tagEnding } from './ending.ts';
import { findSyncedKey } from './find-key.ts';
import { consoleMade } from './rotate-key.ts';

/** Ends a token of a key at once, and those that it had replaced. The key goes on with its others. */
export async function endToken(target: Target, id: string, label: string): Promise<KeyRecord> {
  const { record: known } = await findSyncedKey(target, id);
  if (!isIssued(known.recordId)) throw consoleMade(id, 'ended alone');
  const record = await changeRecord(target, known.recordId, (now) => {
    const { current, inGrace, pending } = tokensLabelled(now, label, Date.now());
    const ending = [current, pending, ...inGrace].flatMap((token) => token?.hash ?? []);
    // An earlier command may have been cut off before it wrote the tag.
    if (ending.length === 0 && Object.values(now.tokens).some((token) => token.label === label)) return {};
    if (ending.length === 0)
      throw new AdminError(`The key ${id} has no token ${label} that works: it has ended, or was never made.`);
    // One that was never shown is nobody's.
    const others = workingTokens(now, Date.now()).filter((token) => !token.pending && !ending.includes(token.hash));
    if (others.length === 0)
      throw new AdminError(
        `${label} is the only token of the key ${id}. To end the key: npm run admin -- keys revoke ${id}`,
      );
    return { ...endingNow(now), tokens: withEnd(now.tokens, ending, AT_ONCE) };
  });
  await tagEnding(target, record);
  await outlastMemory(target);
  return record;
}
