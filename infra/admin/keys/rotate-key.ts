import { type ApiKey, paginateGetApiKeys } from '@aws-sdk/client-api-gateway';
import { PAGE_SIZE } from '../../../shared/key-registry/gateway-client.ts';
import { gatewayTags } from '../../../shared/key-registry/gateway-tags.ts';
import { generateApiKey, hashApiKey } from '../../../shared/keys/api-key.ts';
import { type KeyRecord, unusedCounters } from '../../../shared/keys/key-record.ts';
import { AdminError } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { changeRecord, INTERIM_MS, outlastLeases } from './change-record.ts';
import { createUnfinished, discard, type NewKey } from './create-key.ts';
import { findKey, type FoundKey } from './find-key.ts';
import { finish, tag } from './tagging.ts';

export interface Rotation extends NewKey {
  readonly replaces: string;
  /** When the old key stops working, ISO 8601. */
  readonly graceEnds: string;
}

/** A request may count between the reading of the counters and the handing over, which is then tried again. */
const MAX_HAND_OVERS = 500;

const counterNames = ['currentMinute', 'minuteUsed', 'dayUsed', 'minuteRefused', 'suspendedUntil'] as const;

/**
 * Makes a new key in place of an old one, which works until the grace ends. Both count as one: the old key's record
 * points to the new one's, which starts with its counters. A rotation that was cut off leaves the old key working, and
 * the next one takes it up.
 */
export async function rotateKey(target: Target, id: string, graceMs: number): Promise<Rotation> {
  const found = await findKey(target, id);
  const { record: old } = found;
  const leftovers = await unfinishedSuccessors(target, found);
  checkRotatable(found, leftovers);
  const counting = await countingRecord(target, old, leftovers);

  const key = generateApiKey();
  const successor = await createSuccessor(target, found, counting, hashApiKey(key));
  const { keyId, keyHash, name, plan, perMinute, perDay, expiresAt } = successor;
  // First the tag: a sync leaves both alone from here on, until the new key is complete.
  await tag(target, 'apikeys', id, { [gatewayTags.replacedBy]: keyId });
  await handOver(target, found, counting, successor);
  // The customer's own end of the key is that of the counting record; the old key may have got the end of a grace.
  const graceEnd = Math.min(Date.now() + graceMs, expiresAt ?? Infinity);
  const graceEnds = new Date(graceEnd).toISOString();
  await changeRecord(target, old.keyHash, () => ({ replacedBy: keyHash, expiresAt: graceEnd }));
  await tag(target, 'apikeys', id, { [gatewayTags.expires]: graceEnds });
  if ((await target.keyTable.get(keyHash))?.replacedBy !== undefined) throw rotatedMeanwhile(id);
  await finish(target, 'apikeys', keyId);
  for (const leftover of leftovers) await discard(target, leftover);
  // The grace may be over by now, and the old key must be refused then.
  await outlastLeases(target, counting);

  const expires = expiresAt === undefined ? null : new Date(expiresAt).toISOString();
  return { id: keyId, key, name, plan, perMinute, perDay, expires, replaces: id, graceEnds };
}

function checkRotatable({ id, record, apiKey }: FoundKey, leftovers: readonly ApiKey[]): void {
  if (!record.enabled || !apiKey.enabled) throw new AdminError(`The key ${id} is suspended. Resume it first.`);
  // One that a rotation was cut off on may have got the end of its grace already.
  const hasExpired = (record.expiresAt ?? Infinity) <= Date.now();
  if (hasExpired && leftovers.length === 0) throw new AdminError(`The key ${id} has expired. Create a new one.`);
}

function rotatedMeanwhile(id: string): AdminError {
  return new AdminError(`Somebody else rotated the key ${id} at the same time. See npm run admin -- keys list`);
}

/** Keys that earlier rotations of this one have made and not completed. Nobody knows them. */
async function unfinishedSuccessors({ gateway: client }: Target, { id, apiKey }: FoundKey): Promise<ApiKey[]> {
  const found: ApiKey[] = [];
  const query = { nameQuery: apiKey.name, includeValues: true };
  for await (const { items = [] } of paginateGetApiKeys({ client, pageSize: PAGE_SIZE }, query)) {
    found.push(
      ...items.filter(
        ({ tags = {} }) => tags[gatewayTags.replaces] === id && tags[gatewayTags.unfinished] !== undefined,
      ),
    );
  }
  return found;
}

/** The record that has the counters: that of the key itself, or of the last unfinished one that it was handed over to. */
async function countingRecord(target: Target, old: KeyRecord, leftovers: readonly ApiKey[]): Promise<KeyRecord> {
  let record = old;
  while (record.replacedBy !== undefined) {
    const next = await target.keyTable.get(record.replacedBy);
    if (!next) throw new AdminError(`The key ${old.keyId} was rotated to a key that is gone. Create a new one.`);
    if (!leftovers.some(({ value }) => value === next.keyHash)) {
      throw new AdminError(`The key ${old.keyId} was rotated to ${next.keyId} already. Rotate that one.`);
    }
    record = next;
  }
  return record;
}

async function createSuccessor(
  target: Target,
  { id, apiKey, usagePlan }: FoundKey,
  { expiresAt, name, plan, perMinute, perDay, suspendedByAdmin, lineage }: KeyRecord,
  keyHash: string,
): Promise<Omit<KeyRecord, 'revision'>> {
  if (!usagePlan) throw new AdminError(`The key ${id} is on no usage plan. Move it to one first.`);
  const kept = Object.entries(apiKey.tags ?? {}).filter(
    ([tagName]) => tagName === gatewayTags.perMinute || tagName === gatewayTags.perDay,
  );
  const { id: keyId, createdAt } = await createUnfinished(target, {
    name: apiKey.name ?? name,
    keyHash,
    usagePlanId: usagePlan.usagePlanId,
    expiresAt,
    tags: { ...Object.fromEntries(kept), [gatewayTags.replaces]: id },
  });
  return {
    keyHash,
    keyId,
    lineage,
    name,
    plan,
    perMinute,
    perDay,
    enabled: true,
    createdAt,
    expiresAt,
    usageIdentifier: 'hash',
    ...unusedCounters,
    suspendedByAdmin,
    interimUntil: Date.now() + INTERIM_MS,
    revoked: false,
  };
}

/** Lets the successor count on from where the record is at one moment, and the record point to it from that moment. */
async function handOver(
  target: Target,
  { id, record: old }: FoundKey,
  counting: KeyRecord,
  successor: Omit<KeyRecord, 'revision'>,
): Promise<void> {
  const { keyTable } = target;
  for (let attempt = 1; attempt <= MAX_HAND_OVERS; attempt++) {
    const record = await keyTable.get(counting.keyHash);
    if (!record) throw new AdminError('The key was revoked meanwhile. Nothing else was changed.');
    if (record.replacedBy !== undefined) {
      const winner = await keyTable.get(record.replacedBy);
      if (winner) await tag(target, 'apikeys', id, { [gatewayTags.replacedBy]: winner.keyId });
      await discard(target, { id: successor.keyId, value: successor.keyHash });
      throw rotatedMeanwhile(old.keyId);
    }
    const counters = Object.fromEntries(counterNames.map((name) => [name, record[name]]));
    await keyTable.put({ ...successor, ...counters });
    if (await keyTable.revise(record, { replacedBy: successor.keyHash }, counterNames)) return;
  }
  throw new AdminError('The key is too busy to hand its counters over. Run the command again when it is quieter.');
}
