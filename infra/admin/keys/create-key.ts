import { type ApiKey, CreateApiKeyCommand } from '@aws-sdk/client-api-gateway';
import { customerPlans } from '../../../shared/key-registry/customer-plan.ts';
import { gatewayTags, isStale } from '../../../shared/key-registry/gateway-tags.ts';
import type { NewRecord } from '../../../shared/key-registry/key-table.ts';
import { generateApiKey, hashApiKey } from '../../../shared/keys/api-key.ts';
import { type KeyRecord, unusedCounters } from '../../../shared/keys/key-record.ts';
import { type Limits, type PlanId, plans } from '../../../shared/keys/plans.ts';
import { AdminError } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { changeRecord, closeForGood, INTERIM_MS, isSuspendedForGood, readRecord } from './change-record.ts';
import { usagePlanOf } from './find-key.ts';
import { apiKeysNamed, deleteApiKey, finish, putOnPlan } from './gateway-calls.ts';
import { cataloguePlan, clearOwnPlans, createOwnPlan, discardOwnPlan, markObsolete } from './own-plan.ts';

export interface KeyOrder {
  readonly name: string;
  readonly plan: PlanId;
  readonly limits: Limits;
  /** Unix milliseconds. */
  readonly expiresAt?: number | undefined;
}

/** A key that was just made. It is shown once: neither API Gateway nor the keys table has it. */
export interface NewKey {
  readonly id: string;
  readonly key: string;
  readonly name: string;
  readonly plan: PlanId;
  readonly perMinute: number;
  readonly perDay: number;
  readonly expires: string | null;
}

/** The record of a key that has just been made, before it counts anything. */
export type UnusedRecord = Omit<NewRecord, keyof typeof unusedCounters>;

/**
 * Issues a key. Until its last step it is marked as unfinished, and was shown to nobody. What a try that was cut off has
 * left is cleared away by a later one with the same name, once it is surely not under way any more.
 */
export async function createKey(target: Target, { name, plan, limits, expiresAt }: KeyOrder): Promise<NewKey> {
  const { plans: usagePlans } = await customerPlans(target.gateway, target.apiStage);
  await clearLeftovers(target, name);
  const isOwn = plans[plan].limits === 'agreed';
  const usagePlanId = isOwn
    ? await createOwnPlan(target, usagePlans, name, limits)
    : cataloguePlan(usagePlans, plan).usagePlanId;
  const apiKey = generateApiKey();
  const identity = { keyHash: hashApiKey(apiKey), name, plan, ...limits, expiresAt };
  try {
    const unused = await createUnfinished(target, identity, name, usagePlanId);
    const isAdded = await target.keyTable.add({ ...unused, ...unusedCounters });
    if (!isAdded) await changeRecord(target, unused.keyHash, () => ({ interimUntil: unused.interimUntil }));
    if (isOwn) await finish(target, 'usageplans', usagePlanId);
    await finish(target, 'apikeys', unused.keyId);
    const record = await readRecord(target, unused.keyHash);
    if (!isSuspendedForGood(record)) return newKey(apiKey, record);
    await discard(target, record);
    throw new AdminError(
      `The key ${record.keyId} was suspended before it was complete, and is revoked now. Create another.`,
    );
  } catch (error) {
    if (isOwn && error instanceof AdminError) await discardOwnPlan(target, usagePlanId);
    throw error;
  }
}

export function newKey(key: string, { keyId: id, name, plan, perMinute, perDay, expiresAt }: KeyRecord): NewKey {
  const expires = expiresAt === undefined ? null : new Date(expiresAt).toISOString();
  return { id, key, name, plan, perMinute, perDay, expires };
}

type Identity = Pick<KeyRecord, 'keyHash' | 'name' | 'plan' | 'perMinute' | 'perDay'> &
  Partial<Pick<KeyRecord, 'lineage'>> & { readonly expiresAt: number | undefined };

/**
 * Makes an API key on a usage plan, marked as unfinished.
 *
 * @param name what API Gateway is to call it
 * @returns its record, for the keys table
 */
export async function createUnfinished(
  target: Target,
  identity: Identity,
  name: string,
  usagePlanId: string,
  tags: ApiKey['tags'] = {},
): Promise<UnusedRecord> {
  const { keyHash, expiresAt } = identity;
  const now = new Date();
  const expiry = expiresAt !== undefined && { [gatewayTags.expires]: new Date(expiresAt).toISOString() };
  const { id: keyId = '', createdDate = now } = await target.gateway.send(
    new CreateApiKeyCommand({
      name,
      value: keyHash,
      enabled: true,
      tags: { ...tags, ...expiry, [gatewayTags.unfinished]: now.toISOString() },
    }),
  );
  try {
    await putOnPlan(target, keyId, usagePlanId);
  } catch (error) {
    if (error instanceof AdminError) await discard(target, { keyId, keyHash, name });
    throw error;
  }
  return {
    keyId,
    lineage: keyId,
    ...identity,
    createdAt: createdDate.getTime(),
    enabled: true,
    revoked: false,
    usageIdentifier: 'hash',
    interimUntil: Date.now() + INTERIM_MS,
  };
}

/** Closes a key that was never shown, and deletes it. A command that is still making it fails then. */
export async function discard(target: Target, key: Parameters<typeof closeForGood>[1]): Promise<void> {
  await closeForGood(target, key);
  await deleteApiKey(target, key.keyId);
}

/** Clears away what commands that were cut off some time ago have left of a key of this name. */
async function clearLeftovers(target: Target, name: string): Promise<void> {
  for (const { id: keyId = '', value: keyHash = '', tags = {} } of await apiKeysNamed(target, name)) {
    const { [gatewayTags.unfinished]: unfinished, [gatewayTags.replaces]: replaces } = tags;
    // One that others may have been handed over to is for `keys rotate` to take up.
    if (unfinished === undefined || replaces !== undefined || !isStale(unfinished, Date.now())) continue;
    const usagePlan = await usagePlanOf(target, keyId);
    if (usagePlan) await markObsolete(target, usagePlan);
    await discard(target, { keyId, keyHash, name });
  }
  await clearOwnPlans(target);
}
