import { customerPlans } from '../../../shared/key-registry/customer-plan.ts';
import { gatewayTags, isStale } from '../../../shared/key-registry/gateway-tags.ts';
import { type KeyIdentity, newRecord, unusedCounters } from '../../../shared/key-registry/key-table.ts';
import { tokenEntry, workingTokens } from '../../../shared/key-registry/key-tokens.ts';
import type { Access } from '../../../shared/keys/key-record.ts';
import { type Limits, type PlanId, plans } from '../../../shared/keys/plans.ts';
import { generateToken, parseToken } from '../../../shared/keys/token.ts';
import { AdminError } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { closeForGood, INTERIM_MS, isSuspendedForGood, type KeyNames, readRecord } from './change-record.ts';
import { createGatewayKey, deleteGatewayKey, gatewayKeysNamed, limitTags, putOnPlan, untag } from './gateway-calls.ts';
import { confirmation, type NewToken, newToken } from './new-token.ts';

export interface KeyOrder {
  readonly name: string;
  readonly plan: PlanId;
  readonly limits: Limits;
  /** Of its first token. */
  readonly access?: Access;
  /** Unix milliseconds. */
  readonly expiresAt?: number | undefined;
}

/**
 * Issues a key with one token. In API Gateway it is marked as unfinished until its record is there; in the record its token
 * is pending until it has been shown. What a try that was cut off has left is cleared away by a later one with the same
 * name, once it is surely not under way any more.
 */
export async function createKey(target: Target, order: KeyOrder): Promise<NewToken> {
  const usagePlanId = await cataloguePlanId(target, order.plan);
  await clearLeftovers(target, order.name);
  const token = generateToken();
  const identity = await createUnfinished(target, parseToken(token)?.recordId ?? '', order);
  const { keyId, recordId } = identity;
  try {
    await putOnPlan(target, keyId, usagePlanId);
  } catch (error) {
    if (error instanceof AdminError) await discard(target, identity);
    throw error;
  }
  const tokens = tokenEntry(token, { access: order.access, pending: true }, Date.now());
  const added = await target.keyTable.add(newRecord(identity, { tokens, interimUntil: Date.now() + INTERIM_MS }));
  if (!added) await readRecord(target, recordId);
  await untag(target, keyId, gatewayTags.unfinished);
  const record = await readRecord(target, recordId);
  if (added && !isSuspendedForGood(record)) return newToken(token, record, confirmation(target, record, token));
  await discard(target, record);
  throw new AdminError(`The key ${keyId} was closed before it was complete, and is revoked now. Create another.`);
}

/** The id of the usage plan of a plan. @throws AdminError where there is none */
export async function cataloguePlanId({ gateway, apiStage }: Target, plan: PlanId): Promise<string> {
  const found = (await customerPlans(gateway, apiStage)).plans.find((usagePlan) => usagePlan.plan === plan);
  if (found) return found.usagePlanId;
  throw new AdminError(`API Gateway has no usage plan for ${plans[plan].title}. Deploy the stack again: it makes one.`);
}

/** Makes an API key that is marked as unfinished. */
async function createUnfinished(
  target: Target,
  recordId: string,
  { name, plan, limits, expiresAt }: KeyOrder,
): Promise<KeyIdentity> {
  const now = new Date();
  const tags = {
    ...(plans[plan].limits === 'agreed' && limitTags(limits)),
    ...(expiresAt !== undefined && { [gatewayTags.expires]: new Date(expiresAt).toISOString() }),
    [gatewayTags.unfinished]: now.toISOString(),
  };
  const order = { name, value: recordId, enabled: true, tags };
  const { id: keyId, createdDate = now } = await createGatewayKey(target, order);
  return { recordId, keyId, name, plan, ...limits, enabled: true, createdAt: createdDate.getTime(), expiresAt };
}

/** Closes a key that was never shown, and deletes it. A command that is still making it fails then. */
async function discard(target: Target, key: KeyNames): Promise<void> {
  await closeForGood(target, key);
  await deleteGatewayKey(target, key.keyId);
}

/** Clears away what commands that were cut off some time ago have left of a key of this name. */
async function clearLeftovers(target: Target, name: string): Promise<void> {
  for (const { id: keyId = '', value: recordId = '', tags } of await gatewayKeysNamed(target, name)) {
    const since = tags?.[gatewayTags.unfinished];
    const isLeftover = since === undefined ? await wasNeverShown(target, recordId) : isStale(since, Date.now());
    if (isLeftover) await discard(target, { keyId, recordId, name });
  }
}

/** Whether all that a key has is a token that its command was cut off before showing. One that was used was shown. */
async function wasNeverShown({ keyTable }: Target, recordId: string): Promise<boolean> {
  const record = await keyTable.get(recordId);
  const tokens = record && !record.revoked ? workingTokens(record, Date.now()) : [];
  const isPending = tokens.every(({ pending, since }) => pending && isStale(new Date(since).toISOString(), Date.now()));
  // One that was made anew for a key that had lost its record is the key of a customer.
  const isNew = record?.currentMinute === unusedCounters.currentMinute && record.tokensEndedAt === undefined;
  return tokens.length > 0 && isPending && isNew;
}
