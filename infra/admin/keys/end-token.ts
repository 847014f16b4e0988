import { IMMEDIATELY, withEnd, workingTokens } from './token-changes.ts';
import { idOf, type KeyRecord, tokenName } from '../../../shared/keys/key-record.ts';
import { AdminError } from '../service/failures.ts';
import type { Target } from '../service/target.ts';
import { changeRecord, reportUnapplied } from './change-record.ts';
import { findIssued } from './new-token.ts';

/** Revokes a token of a key immediately. The other tokens stay valid. @param name see {@link tokenName} */
export async function endToken(target: Target, key: string, name: string): Promise<KeyRecord> {
  const ended = await changeRecord(target, await findIssued(target, key, 'revoked alone'), (now) => {
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
