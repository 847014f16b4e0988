import { IMMEDIATELY, withEnd, workingTokens } from '../../../shared/key-registry/key-tokens.ts';
import { idOf, type KeyRecord, tokenName } from '../../../shared/keys/key-record.ts';
import { AdminError } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { changeRecord, reportUnapplied } from './change-record.ts';
import { findIssued } from './new-token.ts';

/** Ends a token of a key at once. The key goes on with its others. @param name see {@link tokenName} */
export async function endToken(target: Target, key: string, name: string): Promise<KeyRecord> {
  const ended = await changeRecord(target, await findIssued(target, key, 'ended alone'), (now) => {
    const working = workingTokens(now, Date.now());
    const ending = working.find((token) => tokenName(token) === name);
    if (!ending) {
      // Ended already.
      if (Object.values(now.tokens).some((token) => tokenName(token) === name)) return {};
      const names = working.map(tokenName).join(', ');
      throw new AdminError(`The key ${idOf(now)} has no token ${name} that works. Name one of these: ${names}`);
    }
    // A token that was never shown has no user.
    const hasOthers = working.some((token) => token !== ending && !token.pending);
    if (hasOthers) return { tokens: withEnd(now.tokens, [ending.hash], IMMEDIATELY) };
    throw new AdminError(
      `${name} is the only token of the key ${idOf(now)}. To end the key: npm run admin -- keys revoke ${idOf(now)}`,
    );
  });
  return reportUnapplied(target, ended);
}
