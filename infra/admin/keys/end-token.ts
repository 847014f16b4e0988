import { gatewayTags } from '../../../shared/key-registry/gateway-tags.ts';
import type { KeyChange } from '../../../shared/key-registry/key-table.ts';
import { AT_ONCE, tokenName, withEnd, workingTokens } from '../../../shared/key-registry/key-tokens.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { AdminError, reasonOf } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { changeRecord } from './change-record.ts';
import { findTokens } from './find-key.ts';
import { tag } from './gateway-calls.ts';

/** Ends a token of a key at once. The key goes on with its others. @param name see {@link tokenName} */
export async function endToken(target: Target, id: string, name: string): Promise<KeyRecord> {
  const known = await findTokens(target, id, 'ended alone');
  return changeTokens(target, known, (now) => {
    const working = workingTokens(now, Date.now());
    const ending = working.find((token) => tokenName(token) === name);
    if (!ending) {
      // An earlier command may have been cut off before it wrote the tag.
      if (Object.values(now.tokens).some((token) => tokenName(token) === name)) return endingNow(now);
      throw new AdminError(
        `The key ${id} has no token ${name} that works. Name one of these: ${working.map(tokenName).join(', ')}`,
      );
    }
    // A token that was never shown has no user.
    const hasOthers = working.some((token) => token !== ending && !token.pending);
    if (hasOthers) return { ...endingNow(now), tokens: withEnd(now.tokens, [ending.hash], AT_ONCE) };
    throw new AdminError(
      `${name} is the only token of the key ${id}. To end the key: npm run admin -- keys revoke ${id}`,
    );
  });
}

/** Changes the tokens of a key by one write. Where that ends one, its time is written to the tag, too. @returns the key as it is then */
export async function changeTokens(
  target: Target,
  known: KeyRecord,
  change: (record: KeyRecord) => KeyChange,
): Promise<KeyRecord> {
  const record = await changeRecord(target, known.recordId, change);
  if (record.tokensEndedAt !== known.tokensEndedAt) await tagEnding(target, record);
  return record;
}

/**
 * The time of an ending, for the record. It never goes back, or a backup could pass for newer than it is.
 *
 * @param tagged what the tag of a key that was restored has
 */
export const endingNow = ({ tokensEndedAt = 0 }: KeyRecord, tagged = 0): KeyChange => ({
  tokensEndedAt: Math.max(Date.now(), tokensEndedAt + 1, tagged + 1),
});

/**
 * The same time for API Gateway, by which a record from a backup is known. The ending is done by then: where the tag cannot
 * be written, an admin is asked for it, and what follows goes on.
 */
export async function tagEnding(
  target: Target,
  { keyId, tokensEndedAt }: Pick<KeyRecord, 'keyId' | 'tokensEndedAt'>,
): Promise<void> {
  if (tokensEndedAt === undefined) return;
  try {
    await tag(target, keyId, { [gatewayTags.tokensEnded]: new Date(tokensEndedAt).toISOString() });
  } catch (error) {
    target.notices.incomplete(
      `Done, but for the tag ${gatewayTags.tokensEnded} of the key ${keyId} (${reasonOf(error)}): without it, a backup could bring ` +
        'the ended token back. Run npm run admin -- keys sync',
    );
  }
}
