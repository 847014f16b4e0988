import { getGatewayKey } from '../../../shared/key-registry/gateway-client.ts';
import { type KeyChange, newRecord } from '../../../shared/key-registry/key-table.ts';
import {
  AT_ONCE,
  tokenName,
  tokensLabelled,
  withEnd,
  withShown,
  workingTokens,
} from '../../../shared/key-registry/key-tokens.ts';
import { tokensEndedTag } from '../../../shared/key-registry/mirror.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { NEVER } from '../../../shared/keys/verdict.ts';
import { generateToken, hashToken } from '../../../shared/keys/token.ts';
import { AdminError } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { time } from '../text-format.ts';
import { changedMeanwhile, INTERIM_MS, isSuspendedForGood, waitOutMemory } from './change-record.ts';
import { changeTokens, endingNow } from './end-token.ts';
import { findTokens, findUnrecorded } from './find-key.ts';
import { addition, checkNotEnded, checkOpen, type NewToken, newToken } from './new-token.ts';

export interface RotationOrder {
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
 * Puts a new token in the place of an old one, which works until the grace ends. One conditional write adds the new token,
 * marked as pending; once it has been shown, another removes the mark and ends the old one. Cut off anywhere, the old
 * token works, and the next rotation replaces what is pending.
 */
export async function rotateKey(target: Target, id: string, order: RotationOrder): Promise<Rotation> {
  const { label, graceMs } = order;
  await recordAgain(target, id);
  const known = await findTokens(target, id, 'rotated');
  const token = generateToken(known.recordId);
  let replaces: string[] = [];
  const record = await changeTokens(target, known, (now) => {
    checkRotatable(now, order);
    const { current, inGrace, pending } = tokensLabelled(now, label, Date.now());
    const { access = 'full', until = NEVER, since = 0 } = current ?? pending ?? {};
    const ended = now.restored ? workingTokens(now, Date.now()) : [...inGrace, ...(current ? [current] : [])];
    replaces = ended.map(tokenName);
    // With no grace, what is in its grace has no more of it. That makes room, too.
    const hashes = inGrace.map(({ hash }) => hash);
    const rest = { ...now, tokens: withEnd(now.tokens, hashes, AT_ONCE) };
    // The newest has the label, whatever the clock of another admin says.
    const added = addition(rest, token, { access, until, label }, Math.max(Date.now(), since + 1));
    return { ...(hashes.length > 0 && endingNow(now)), ...added };
  });
  await waitOutMemory(target);
  const { current } = tokensLabelled(record, label, Date.now());
  const grace = record.restored || !current ? 0 : graceMs;
  const graceEnds = new Date(Math.min(Date.now() + grace, current?.until ?? NEVER)).toISOString();
  return { ...newToken(token, record, () => endOld(target, record, hashToken(token), graceMs)), replaces, graceEnds };
}

/** The last write: the new token has been shown, and the old one gets its end; all others do on a restored key. */
async function endOld(target: Target, known: KeyRecord, hash: string, graceMs: number): Promise<KeyRecord> {
  const gatewayKey = known.restored ? await getGatewayKey(target.gateway, known.keyId) : undefined;
  const change = (now: KeyRecord): KeyChange => {
    checkNotEnded(now, hash);
    const { pending, label = '' } = now.tokens[hash] ?? {};
    // Done already: its answer was lost.
    if (!pending) return {};
    const ending = endingNow(now, tokensEndedTag(gatewayKey?.tags));
    if (now.restored) {
      const others = Object.keys(now.tokens).filter((other) => other !== hash);
      const tokens = withShown(withEnd(now.tokens, others, AT_ONCE), hash);
      // It may have been disabled since the backup.
      const isOpen = gatewayKey?.enabled === true && !isSuspendedForGood(now);
      return { ...ending, tokens, restored: undefined, enabled: isOpen, interimUntil: Date.now() + INTERIM_MS };
    }
    const { current } = tokensLabelled(now, label, Date.now());
    const end = graceMs === 0 ? AT_ONCE : Date.now() + graceMs;
    return { ...ending, tokens: withShown(withEnd(now.tokens, current ? [current.hash] : [], end), hash) };
  };
  const changed = await changeTokens(target, known, change);
  if (known.restored) await waitOutMemory(target);
  return changed;
}

/** Makes the record of a key anew that API Gateway alone has: as one that was restored, without a token. */
async function recordAgain(target: Target, id: string): Promise<void> {
  const identity = await findUnrecorded(target, id);
  if (!identity) return;
  const state = { tokens: {}, tokensEndedAt: Date.now(), restored: true, enabled: false } as const;
  if (!(await target.keyTable.add(newRecord(identity, state)))) throw changedMeanwhile(id);
}

function checkRotatable(record: KeyRecord, { label, graceMs }: RotationOrder): void {
  if (record.restored) return;
  checkOpen(record);
  const { keyId } = record;
  const { current, inGrace, pending } = tokensLabelled(record, label, Date.now());
  if (!current && !pending)
    throw new AdminError(`The key ${keyId} has no token ${label} that works. See npm run admin -- keys show ${keyId}`);
  const [old] = inGrace;
  if (!old || graceMs === 0) return;
  throw new AdminError(
    `The token ${label} of the key ${keyId} was rotated already, and the old one, ${tokenName(old)}, works until ${time(new Date(old.until).toISOString())}. ` +
      'Rotate it again once that one has ended, or with --grace 0s, which ends both at once.',
  );
}
