import { IMMEDIATELY, tokensLabeled, withEnd, withShown } from './token-changes.ts';
import { idOf, type KeyRecord, tokenName, NO_EXPIRY } from '../../../shared/keys/key-record.ts';
import { generateToken } from '../../../shared/keys/token.ts';
import { AdminError } from '../service/failures.ts';
import type { Target } from '../service/target.ts';
import { formatTime } from '../service/text.ts';
import { changeRecord, reportUnapplied, waitForRefusalCacheExpiry } from './change-record.ts';
import { addition, checkOpen, confirmation, findIssued, type NewToken, newToken } from './new-token.ts';

export interface RotateKeyParams {
  readonly label: string;
  /** Milliseconds for which the old token stays valid. */
  readonly graceMs: number;
}

export interface Rotation extends NewToken {
  /** Names of the old tokens that the grace period ends; with 0 s, also those within an earlier grace period. */
  readonly replaces: readonly string[];
  /** Expiration of the old token, ISO 8601. */
  readonly graceEnds: string;
}

/**
 * Replaces a token; the old one stays valid until the grace period ends. One conditional write adds the new token,
 * marked as pending; after it was shown, another removes the mark and sets the old one's expiration. If the command is
 * interrupted, the old token stays valid, and the next rotation replaces the pending one.
 */
export async function rotateKey(target: Target, key: string, order: RotateKeyParams): Promise<Rotation> {
  const { label, graceMs } = order;
  const known = await findIssued(target, key, 'rotated');
  const token = generateToken(known.recordId);
  let replaces: string[] = [];
  const record = await changeRecord(target, known, (now) => {
    checkRotatable(now, order);
    const { current, inGrace, pending } = tokensLabeled(now, label, Date.now());
    const { access = 'full', until = NO_EXPIRY, since = 0 } = current ?? pending ?? {};
    replaces = [...inGrace, ...(current ? [current] : [])].map(tokenName);
    // Without a grace period, earlier grace periods end too, which frees their tokens' places.
    const hashes = inGrace.map(({ hash }) => hash);
    const rest = { ...now, tokens: withEnd(now.tokens, hashes, IMMEDIATELY) };
    // The newest token has the label, whatever the clock of another admin's machine.
    return addition(rest, token, { access, until, label }, Math.max(Date.now(), since + 1));
  });
  await waitForRefusalCacheExpiry(target);
  const { current } = tokensLabeled(record, label, Date.now());
  const graceEnds = new Date(Math.min(Date.now() + (current ? graceMs : 0), current?.until ?? NO_EXPIRY)).toISOString();
  const confirmShown = confirmation(target, record, token, (now, hash) => withOldEnded(now, hash, graceMs));
  return { ...newToken(token, reportUnapplied(target, record), confirmShown), replaces, graceEnds };
}

/** The last write: confirms the new token and sets the expiration of the old one. */
function withOldEnded(now: KeyRecord, hash: string, graceMs: number) {
  const { pending, label = '' } = now.tokens[hash] ?? {};
  // Already written: the response was lost.
  if (!pending) return {};
  const { current } = tokensLabeled(now, label, Date.now());
  const end = graceMs === 0 ? IMMEDIATELY : Date.now() + graceMs;
  return { tokens: withShown(withEnd(now.tokens, current ? [current.hash] : [], end), hash) };
}

function checkRotatable(record: KeyRecord, { label, graceMs }: RotateKeyParams): void {
  checkOpen(record);
  const { current, inGrace, pending } = tokensLabeled(record, label, Date.now());
  const id = idOf(record);
  if (!current && !pending)
    throw new AdminError(
      `The key ${id} has no valid token ${label}. To list its tokens: npm run admin -- keys show ${id}`,
    );
  const [old] = inGrace;
  if (!old || graceMs === 0) return;
  throw new AdminError(
    `The token ${label} of the key ${id} was already rotated, and the old one, ${tokenName(old)}, is valid until ${formatTime(new Date(old.until).toISOString())}. ` +
      'Rotate it after that, or with --grace 0s, which revokes both immediately.',
  );
}
