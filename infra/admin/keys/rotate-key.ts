import { IMMEDIATELY, tokensLabeled, withEnd, withShown } from '../../../shared/key-registry/key-tokens.ts';
import { idOf, type KeyRecord, NEVER, tokenName } from '../../../shared/keys/key-record.ts';
import { generateToken } from '../../../shared/keys/token.ts';
import { AdminError } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { formatTime } from '../text-format.ts';
import { changeRecord, reportUnapplied, waitForRefusalCacheExpiry } from './change-record.ts';
import { addition, checkOpen, confirmation, findIssued, type NewToken, newToken } from './new-token.ts';

export interface RotateKeyParams {
  readonly label: string;
  /** Milliseconds for which the old token works on. */
  readonly graceMs: number;
}

export interface Rotation extends NewToken {
  /** The names of the old tokens, which end with the grace: without one, also of those that are in an earlier grace. */
  readonly replaces: readonly string[];
  /** When the old token stops working, ISO 8601. */
  readonly graceEnds: string;
}

/**
 * Replaces a token by a new one; the old one works until the grace ends. One conditional write adds the new token,
 * marked as pending; once it has been shown, another removes the mark and ends the old one. Cut off anywhere, the old
 * token works, and the next rotation replaces what is pending.
 */
export async function rotateKey(target: Target, key: string, order: RotateKeyParams): Promise<Rotation> {
  const { label, graceMs } = order;
  const known = await findIssued(target, key, 'rotated');
  const token = generateToken(known.recordId);
  let replaces: string[] = [];
  const record = await changeRecord(target, known, (now) => {
    checkRotatable(now, order);
    const { current, inGrace, pending } = tokensLabeled(now, label, Date.now());
    const { access = 'full', until = NEVER, since = 0 } = current ?? pending ?? {};
    replaces = [...inGrace, ...(current ? [current] : [])].map(tokenName);
    // With no grace, what is in its grace has no more of it. That makes room, too.
    const hashes = inGrace.map(({ hash }) => hash);
    const rest = { ...now, tokens: withEnd(now.tokens, hashes, IMMEDIATELY) };
    // The newest has the label, whatever the clock of another admin says.
    return addition(rest, token, { access, until, label }, Math.max(Date.now(), since + 1));
  });
  await waitForRefusalCacheExpiry(target);
  const { current } = tokensLabeled(record, label, Date.now());
  const graceEnds = new Date(Math.min(Date.now() + (current ? graceMs : 0), current?.until ?? NEVER)).toISOString();
  const confirmShown = confirmation(target, record, token, (now, hash) => withOldEnded(now, hash, graceMs));
  return { ...newToken(token, reportUnapplied(target, record), confirmShown), replaces, graceEnds };
}

/** The last write: the new token has been shown, and the old one gets its end. */
function withOldEnded(now: KeyRecord, hash: string, graceMs: number) {
  const { pending, label = '' } = now.tokens[hash] ?? {};
  // Done already: its answer was lost.
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
    throw new AdminError(`The key ${id} has no token ${label} that works. See npm run admin -- keys show ${id}`);
  const [old] = inGrace;
  if (!old || graceMs === 0) return;
  throw new AdminError(
    `The token ${label} of the key ${id} was rotated already, and the old one, ${tokenName(old)}, works until ${formatTime(new Date(old.until).toISOString())}. ` +
      'Rotate it again once that one has ended, or with --grace 0s, which ends both at once.',
  );
}
