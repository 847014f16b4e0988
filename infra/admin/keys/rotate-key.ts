import { gatewayTags } from '../../../shared/key-registry/gateway-tags.ts';
import { generateApiKey, hashApiKey } from '../../../shared/keys/api-key.ts';
import { type KeyRecord, MAX_SUCCESSORS } from '../../../shared/keys/key-record.ts';
import { AdminError } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { changedMeanwhile, isSuspendedForGood, outlastMemory, revokedError } from './change-record.ts';
import { createUnfinished, discard, type NewKey, newKey, type UnusedRecord } from './create-key.ts';
import {
  allRecords,
  findKey,
  type FoundKey,
  generationsBefore,
  successorOf,
  undisclosedSuccessor,
} from './find-key.ts';
import { apiKeysNamed, finish, tag } from './gateway-calls.ts';
import { clearOwnPlans } from './own-plan.ts';

export interface Rotation extends NewKey {
  readonly replaces: string;
  /** When the old key stops working, ISO 8601. */
  readonly graceEnds: string;
}

/** A request may count between the reading of the counters and the handing over, which is then tried again. */
const MAX_HAND_OVERS = 500;

/**
 * Makes a new key in place of an old one, which works until the grace ends. Both count as one: in one transaction the
 * old key's record points to the new one's, which starts with its counters. A rotation that was cut off leaves the old
 * key working, and the next one takes it up.
 */
export async function rotateKey(target: Target, id: string, graceMs: number): Promise<Rotation> {
  const found = await findKey(target, id);
  const { record: old } = found;
  // The new key of an earlier rotation that was cut off between the hand-over and its last step.
  const undisclosed = await undisclosedSuccessor(target, old);
  await checkRotatable(target, found, undisclosed);

  const apiKey = generateApiKey();
  const successor = await createSuccessor(target, found, undisclosed ?? old, hashApiKey(apiKey));
  const graceEnd = Math.min(
    Date.now() + graceMs,
    successor.expiresAt ?? Infinity,
    // The grace that the rotation before has set is not made longer.
    undisclosed ? (old.expiresAt ?? Infinity) : Infinity,
  );
  try {
    await handOver(target, old, undisclosed, successor, graceEnd);
  } catch (error) {
    if (error instanceof AdminError) {
      await discard(target, successor);
      if (found.usagePlan?.isOwn) await clearOwnPlans(target);
    }
    throw error;
  }
  await tagRotated(target, old.keyHash);
  const record = await complete(target, id, successor);
  if (undisclosed) await discard(target, undisclosed);
  await discardLeftovers(target, id, record);
  await outlastMemory(target, graceMs);
  return { ...newKey(apiKey, record), replaces: id, graceEnds: new Date(graceEnd).toISOString() };
}

async function checkRotatable(target: Target, found: FoundKey, undisclosed: KeyRecord | undefined): Promise<void> {
  const { id, record, apiKey, usagePlan } = found;
  const tags = apiKey.tags ?? {};
  if (tags[gatewayTags.unfinished] !== undefined)
    throw new AdminError(`The key ${id} is not complete yet: another command is making it, or was cut off.`);
  if (!record.enabled || !apiKey.enabled || isSuspendedForGood(record))
    throw new AdminError(`The key ${id} is suspended. Resume it first.`);
  if (record.replacedBy !== undefined && !undisclosed) {
    const successor = await successorOf(target, record);
    if (!successor || successor.revoked)
      throw new AdminError(`The key ${id} was rotated to a key that is gone. Create a new one.`);
    throw new AdminError(`The key ${id} was rotated to ${successor.keyId} already. Rotate that one.`);
  }
  // After a rotation that was cut off, the old key may have expired at the end of its grace.
  const hasExpired = (record.expiresAt ?? Infinity) <= Date.now();
  if (hasExpired && !undisclosed) throw new AdminError(`The key ${id} has expired. Create a new one.`);
  if (!usagePlan) throw new AdminError(`The key ${id} is on no usage plan. Move it to one first.`);
  const isMoved =
    tags[gatewayTags.moving] === undefined &&
    usagePlan.plan === record.plan &&
    (usagePlan.limits?.perMinute ?? record.perMinute) === record.perMinute &&
    (usagePlan.limits?.perDay ?? record.perDay) === record.perDay;
  if (!isMoved)
    throw new AdminError(`The key ${id} is being moved. Once that is done (or keys sync has run), rotate it again.`);
  await checkChain(target, record);
}

/** Requests with a key are followed through so many rotations, and no more. */
async function checkChain(target: Target, record: KeyRecord): Promise<void> {
  const now = Date.now();
  const working = (await allRecords(target)).filter(({ expiresAt = Infinity, revoked }) => expiresAt > now && !revoked);
  const generations = generationsBefore(record, working);
  if (generations.length < MAX_SUCCESSORS) return;
  const ids = generations.at(-1)?.map(({ keyId }) => keyId) ?? [];
  throw new AdminError(
    `The key ${record.keyId} is the last of ${generations.length + 1} that were rotated one to the other and still work: one more ` +
      `would end the first. Revoke it (${ids.join(', ')}), or wait until its grace ends.`,
  );
}

function createSuccessor(
  target: Target,
  { id, apiKey, usagePlan }: FoundKey,
  { expiresAt, name, plan, perMinute, perDay, lineage }: KeyRecord,
  keyHash: string,
): Promise<UnusedRecord> {
  const limitTags = Object.entries(apiKey.tags ?? {}).filter(
    ([tagName]) => tagName === gatewayTags.perMinute || tagName === gatewayTags.perDay,
  );
  const identity = { keyHash, lineage, name, plan, perMinute, perDay, expiresAt };
  const tags = { ...Object.fromEntries(limitTags), [gatewayTags.replaces]: id };
  return createUnfinished(target, identity, apiKey.name ?? name, usagePlan?.usagePlanId ?? '', tags);
}

/**
 * Lets the successor count on from where the key is at one moment, and the old key point to it from that moment.
 *
 * @param undisclosed the key that counts for the old one until now, where an earlier rotation was not completed
 */
async function handOver(
  { keyTable }: Target,
  old: KeyRecord,
  undisclosed: KeyRecord | undefined,
  successor: UnusedRecord,
  expiresAt: number,
): Promise<void> {
  const change = { replacedBy: successor.keyHash };
  for (let attempt = 1; attempt <= MAX_HAND_OVERS; attempt++) {
    const repointed = { key: await unchanged(old, old.keyId, keyTable), change: { ...change, expiresAt } };
    const isDone = undisclosed
      ? await keyTable.handOver(
          { key: await unchanged(undisclosed, old.keyId, keyTable), change },
          successor,
          repointed,
        )
      : await keyTable.handOver(repointed, successor);
    if (isDone) return;
  }
  throw new AdminError('The key is too busy to hand its counters over. Run the command again when it is quieter.');
}

/** The key with its counters of this moment. @throws AdminError where anything but those has changed */
async function unchanged(known: KeyRecord, id: string, keyTable: Target['keyTable']): Promise<KeyRecord> {
  const now = await keyTable.get(known.keyHash);
  if (now?.revision === known.revision) return now;
  if (now?.revoked) throw revokedError(id);
  if (now && now.replacedBy !== known.replacedBy) throw rotatedMeanwhile(id);
  if (now && isSuspendedForGood(now))
    throw new AdminError(`The key ${id} was suspended meanwhile. It was not rotated.`);
  throw changedMeanwhile(id);
}

const rotatedMeanwhile = (id: string): AdminError =>
  new AdminError(`Somebody else rotated the key ${id} at the same time. See npm run admin -- keys list`);

/** Writes to the old key's tags what the table says, until no other rotation changes it meanwhile. */
async function tagRotated(target: Target, keyHash: string): Promise<void> {
  for (let done: string | undefined; ;) {
    const old = await target.keyTable.get(keyHash);
    const successor = old && (await successorOf(target, old));
    if (!old || !successor || successor.keyId === done) return;
    await tag(target, 'apikeys', old.keyId, {
      [gatewayTags.replacedBy]: successor.keyId,
      ...(old.expiresAt !== undefined && { [gatewayTags.expires]: new Date(old.expiresAt).toISOString() }),
    });
    done = successor.keyId;
  }
}

/** @returns the record of the new key, which may be shown. @throws AdminError where another admin has closed it by then */
async function complete(target: Target, oldId: string, { keyHash, keyId }: UnusedRecord): Promise<KeyRecord> {
  await finish(target, 'apikeys', keyId);
  const record = await target.keyTable.get(keyHash);
  if (!record || record.revoked) throw record?.replacedBy === undefined ? revokedError(oldId) : rotatedMeanwhile(oldId);
  if (!isSuspendedForGood(record)) return record;
  // The next rotation takes it up.
  await tag(target, 'apikeys', keyId, { [gatewayTags.unfinished]: new Date().toISOString() });
  throw new AdminError(
    `The key ${oldId} was suspended meanwhile. Its new key is not shown: resume it and rotate it again.`,
  );
}

/** Ends the new keys of earlier rotations that were cut off before the hand-over. */
async function discardLeftovers(target: Target, oldId: string, { keyId: newId, name }: KeyRecord): Promise<void> {
  for (const { id: keyId = '', value: keyHash = '', tags = {} } of await apiKeysNamed(target, name)) {
    const isLeftover = tags[gatewayTags.replaces] === oldId && tags[gatewayTags.unfinished] !== undefined;
    if (isLeftover && keyId !== newId) await discard(target, { keyId, keyHash, name });
  }
}
