import { AT_ONCE, tokenEntry, tokensLabelled, withEnd, withShown } from '../../../shared/key-registry/key-tokens.ts';
import { tokensEndedTag } from '../../../shared/key-registry/mirror.ts';
import { type KeyRecord, unusedCounters } from '../../../shared/keys/key-record.ts';
import { NEVER, workingToken } from '../../../shared/keys/working-token.ts';
import { generateToken, hashToken, isIssued } from '../../../shared/keys/token.ts';
import { AdminError } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { time } from '../text-format.ts';
import {
  changedMeanwhile,
  changeRecord,
  INTERIM_MS,
  isSuspendedForGood,
  outlastMemory,
  readRecord,
} from './change-record.ts';
import { endingNow, tagEnding } from './ending.ts';
import { findSyncedKey, findUnrecorded, restoredError } from './find-key.ts';
import { getApiKey } from './gateway-calls.ts';
import { addition, disclosure, endedMeanwhile, type NewToken, newToken } from './new-token.ts';

export interface RotationOrder {
  readonly label: string;
  /** Milliseconds for which the old token works on. */
  readonly graceMs: number;
}

export interface Rotation extends NewToken {
  /** When the old token stops working, ISO 8601. */
  readonly graceEnds: string;
}

/**
 * Puts a new token in the place of an old one, which works until the grace ends. One conditional write adds the new token,
 * marked as pending; once it has been shown, another takes the mark away and ends the old one. Cut off anywhere, the old
 * token works, and the next rotation replaces what is pending.
 */
export async function rotateKey(target: Target, id: string, { label, graceMs }: RotationOrder): Promise<Rotation> {
  const known = await recordToRotate(target, id);
  if (!known) return rotateUnrecorded(target, id, label);
  const text = generateToken(known.recordId);
  const record = await changeRecord(target, known.recordId, (now) => {
    checkRotatable(now, label, graceMs);
    const { current, inGrace, pending } = tokensLabelled(now, label, Date.now());
    const { access = 'full', until = NEVER, since = 0 } = current ?? pending ?? {};
    // The newest has the label, whatever the clock of another admin says.
    const entry = tokenEntry(text, { access, until, label, pending: true }, Math.max(Date.now(), since + 1));
    if (inGrace.length === 0) return addition(now, entry);
    // With no grace, what is in its grace has no more of it. That makes room, too.
    const hashes = inGrace.map(({ hash }) => hash);
    return { ...endingNow(now), ...addition({ ...now, tokens: withEnd(now.tokens, hashes, AT_ONCE) }, entry) };
  });
  await outlastMemory(target);
  const { current } = tokensLabelled(record, label, Date.now());
  const grace = record.restored || !current ? 0 : graceMs;
  const graceEnds = new Date(Math.min(Date.now() + grace, current?.until ?? NEVER)).toISOString();
  return { ...newToken(text, record, () => endOld(target, record, hashToken(text), graceMs)), graceEnds };
}

/** The last write: the new token has been shown, and the old one gets its end. */
async function endOld(target: Target, known: KeyRecord, hash: string, graceMs: number): Promise<KeyRecord> {
  const apiKey = known.restored && (await getApiKey(target, known.keyId));
  const { enabled = false, tags } = apiKey || {};
  const record = await changeRecord(target, known.recordId, (now) => {
    const added = workingToken(now, hash, Date.now());
    if (!added) throw endedMeanwhile(now.keyId);
    // Done already: its answer was lost.
    if (!added.pending) return {};
    const { current } = tokensLabelled(now, added.label, Date.now());
    const others = now.restored
      ? Object.keys(now.tokens).filter((other) => other !== hash)
      : current
        ? [current.hash]
        : [];
    const end = now.restored || graceMs === 0 ? AT_ONCE : Date.now() + graceMs;
    return {
      ...endingNow(now, tokensEndedTag(tags)),
      tokens: withShown(withEnd(now.tokens, others, end), hash),
      // It may have been disabled since the backup.
      ...(now.restored && {
        restored: undefined,
        enabled: enabled && !isSuspendedForGood(now),
        interimUntil: Date.now() + INTERIM_MS,
      }),
    };
  });
  await tagEnding(target, record);
  await outlastMemory(target, known.restored ? 0 : graceMs);
  return record;
}

/** The record of a key that may be rotated; undefined where API Gateway alone has it. */
async function recordToRotate(target: Target, id: string): Promise<KeyRecord | undefined> {
  if (await findUnrecorded(target, id)) return undefined;
  const { record } = await findSyncedKey(target, id);
  if (!isIssued(record.recordId)) throw consoleMade(id, 'rotated');
  return record;
}

/** A key from the AWS console is its own only token. */
export const consoleMade = (id: string, what: string): AdminError =>
  new AdminError(
    `The key ${id} was made in the AWS console: its value is its only token, so it cannot be ${what}. ` +
      'Create one with npm run admin -- keys create, and revoke this one when its client has the new one.',
  );

/** @throws AdminError */
export function checkOpen(record: KeyRecord): void {
  const { keyId, enabled, expiresAt = NEVER, restored } = record;
  if (expiresAt <= Date.now()) throw new AdminError(`The key ${keyId} has expired. Create a new one.`);
  if (restored) throw restoredError(keyId);
  if (!enabled || isSuspendedForGood(record)) throw new AdminError(`The key ${keyId} is suspended. Resume it first.`);
}

function checkRotatable(record: KeyRecord, label: string, graceMs: number): void {
  if (!record.restored) checkOpen(record);
  const { keyId } = record;
  const { current, inGrace, pending } = tokensLabelled(record, label, Date.now());
  if (!current && !pending && !record.restored)
    throw new AdminError(`The key ${keyId} has no token ${label} that works. See npm run admin -- keys show ${keyId}`);
  const [old] = inGrace;
  if (!old || graceMs === 0 || record.restored) return;
  throw new AdminError(
    `The token ${label} of the key ${keyId} was rotated already, and the old one works until ${time(new Date(old.until).toISOString())}. ` +
      'Rotate it again after that, or with --grace 0s, which ends both at once.',
  );
}

/** Makes the record of a key anew that API Gateway alone has: with one token, of the same handle. None before it works. */
async function rotateUnrecorded(target: Target, id: string, label: string): Promise<Rotation> {
  const identity = await findUnrecorded(target, id);
  if (!identity) throw changedMeanwhile(id);
  const text = generateToken(identity.recordId);
  const now = Date.now();
  const tokens = tokenEntry(text, { label, pending: true }, now);
  const state = { ...unusedCounters, tokens, tokensEndedAt: now, interimUntil: now + INTERIM_MS, revoked: false };
  const { expiresAt, ...rest } = identity;
  if (!(await target.keyTable.add({ ...rest, ...(expiresAt !== undefined && { expiresAt }), ...state })))
    throw changedMeanwhile(id);
  const record = await readRecord(target, identity.recordId);
  await tagEnding(target, record);
  await outlastMemory(target);
  return {
    ...newToken(text, record, disclosure(target, record, text)),
    graceEnds: new Date(now).toISOString(),
  };
}
