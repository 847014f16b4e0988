import { type ApiKey, ConflictException, CreateApiKeyCommand } from '@aws-sdk/client-api-gateway';
import { customerPlans } from '../../../shared/key-registry/customer-plan.ts';
import { gatewayTags, isStale } from '../../../shared/key-registry/gateway-tags.ts';
import { tokenEntry, workingTokens } from '../../../shared/key-registry/key-tokens.ts';
import { type Access, type KeyRecord, unusedCounters } from '../../../shared/keys/key-record.ts';
import { type Limits, type PlanId, plans } from '../../../shared/keys/plans.ts';
import { generateToken, parseToken } from '../../../shared/keys/token.ts';
import { AdminError } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { closeForGood, INTERIM_MS, isSuspendedForGood, readRecord } from './change-record.ts';
import { apiKeysNamed, deleteApiKey, limitTags, putOnPlan, untag } from './gateway-calls.ts';
import { disclosure, type NewToken, newToken } from './new-token.ts';

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
  const { name, plan, limits, access = 'full', expiresAt } = order;
  const usagePlanId = await cataloguePlanId(target, plan);
  await clearLeftovers(target, name);
  const text = generateToken();
  const recordId = parseToken(text)?.recordId ?? '';
  const { keyId, createdAt } = await createUnfinished(target, recordId, order);
  try {
    await putOnPlan(target, keyId, usagePlanId);
  } catch (error) {
    if (error instanceof AdminError) await discard(target, { keyId, recordId, name });
    throw error;
  }
  const interimUntil = Date.now() + INTERIM_MS;
  const isAdded = await target.keyTable.add({
    recordId,
    keyId,
    name,
    plan,
    ...limits,
    enabled: true,
    createdAt,
    revoked: false,
    interimUntil,
    ...(expiresAt !== undefined && { expiresAt }),
    ...unusedCounters,
    tokens: tokenEntry(text, { access, pending: true }, Date.now()),
  });
  if (!isAdded) await readRecord(target, recordId);
  await untag(target, keyId, gatewayTags.unfinished);
  const record = await readRecord(target, recordId);
  if (isAdded && !isSuspendedForGood(record)) return newToken(text, record, disclosure(target, record, text));
  await discard(target, record);
  throw new AdminError(`The key ${keyId} was closed before it was complete, and is revoked now. Create another.`);
}

/** The id of the usage plan of a plan. @throws AdminError where there is none */
export async function cataloguePlanId({ gateway, apiStage }: Target, plan: PlanId): Promise<string> {
  const found = (await customerPlans(gateway, apiStage)).plans.find((usagePlan) => usagePlan.plan === plan);
  if (found) return found.usagePlanId;
  throw new AdminError(`API Gateway has no usage plan for ${plans[plan].title}. Deploy the stack again: it makes one.`);
}

/** Makes an API key that is marked as unfinished. Where the answer to that was lost, it is found by its value. */
async function createUnfinished(
  target: Target,
  value: string,
  { name, plan, limits, expiresAt }: KeyOrder,
): Promise<Pick<KeyRecord, 'keyId' | 'createdAt'>> {
  const now = new Date();
  const tags = {
    ...(plans[plan].limits === 'agreed' && limitTags(limits)),
    ...(expiresAt !== undefined && { [gatewayTags.expires]: new Date(expiresAt).toISOString() }),
    [gatewayTags.unfinished]: now.toISOString(),
  };
  const created: ApiKey | undefined = await target.gateway
    .send(new CreateApiKeyCommand({ name, value, enabled: true, tags }))
    .catch(async (error: unknown) => {
      if (!(error instanceof ConflictException)) throw error;
      return (await apiKeysNamed(target, name)).find((apiKey) => apiKey.value === value);
    });
  const { id: keyId, createdDate = now } = created ?? {};
  if (keyId === undefined) throw new AdminError('API Gateway could not make the key. Run the command again.');
  return { keyId, createdAt: createdDate.getTime() };
}

/** Closes a key that was never shown, and deletes it. A command that is still making it fails then. */
async function discard(target: Target, key: Parameters<typeof closeForGood>[1]): Promise<void> {
  await closeForGood(target, key);
  await deleteApiKey(target, key.keyId);
}

/** Clears away what commands that were cut off some time ago have left of a key of this name. */
async function clearLeftovers(target: Target, name: string): Promise<void> {
  for (const { id: keyId = '', value: recordId = '', tags = {} } of await apiKeysNamed(target, name)) {
    const unfinished = tags[gatewayTags.unfinished];
    const isLeftover =
      unfinished === undefined ? await wasNeverShown(target, recordId) : isStale(unfinished, Date.now());
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
