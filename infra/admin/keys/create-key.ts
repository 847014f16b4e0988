import {
  type ApiKey,
  CreateApiKeyCommand,
  DeleteApiKeyCommand,
  NotFoundException,
  paginateGetApiKeys,
} from '@aws-sdk/client-api-gateway';
import { type CustomerPlan, customerPlans } from '../../../shared/key-registry/customer-plan.ts';
import { PAGE_SIZE } from '../../../shared/key-registry/gateway-client.ts';
import { gatewayTags, isStale } from '../../../shared/key-registry/gateway-tags.ts';
import { generateApiKey, hashApiKey } from '../../../shared/keys/api-key.ts';
import { unusedCounters } from '../../../shared/keys/key-record.ts';
import { type Limits, type PlanId, plans } from '../../../shared/keys/plans.ts';
import { AdminError } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { INTERIM_MS } from './change-record.ts';
import { usagePlanOf } from './find-key.ts';
import { cataloguePlan, clearOwnPlans, createOwnPlan, markObsolete } from './own-plan.ts';
import { putOnPlan } from './plan-membership.ts';
import { finish } from './tagging.ts';

export interface KeyOrder {
  readonly name: string;
  readonly plan: PlanId;
  /** Given for Enterprise, and for no other plan. */
  readonly limits: Limits | undefined;
  /** Unix milliseconds. */
  readonly expiresAt: number | undefined;
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

/**
 * Issues a key. Until its last step it is marked as unfinished, and nobody knows it. What a try that was cut off has
 * left is cleared away by a later one with the same name, once it is surely not under way any more.
 */
export async function createKey(target: Target, order: KeyOrder): Promise<NewKey> {
  const { name, plan, expiresAt } = order;
  const catalogued = plans[plan].limits;
  const limits = catalogued === 'agreed' ? order.limits : catalogued;
  if (!limits) throw new AdminError('The Enterprise plan needs its agreed limits: --per-minute N --per-day N.');
  const { plans: usagePlans } = await customerPlans(target.gateway, target.apiStage);
  await clearLeftovers(target, usagePlans, name);

  const isAgreed = catalogued === 'agreed';
  const usagePlanId = isAgreed
    ? await createOwnPlan(target, usagePlans, name, limits)
    : cataloguePlan(usagePlans, plan).usagePlanId;
  const key = generateApiKey();
  const keyHash = hashApiKey(key);
  const { id, createdAt } = await createUnfinished(target, { name, keyHash, usagePlanId, expiresAt });
  await target.keyTable.put({
    keyHash,
    keyId: id,
    lineage: id,
    name,
    plan,
    ...limits,
    enabled: true,
    createdAt,
    expiresAt,
    usageIdentifier: 'hash',
    ...unusedCounters,
    interimUntil: Date.now() + INTERIM_MS,
    revoked: false,
  });
  if (isAgreed) await finish(target, 'usageplans', usagePlanId);
  await finish(target, 'apikeys', id);
  return {
    id,
    key,
    name,
    plan,
    ...limits,
    expires: expiresAt === undefined ? null : new Date(expiresAt).toISOString(),
  };
}

/** Makes an API key on a usage plan, marked as unfinished. */
export async function createUnfinished(
  target: Target,
  order: { name: string; keyHash: string; usagePlanId: string; expiresAt: number | undefined; tags?: ApiKey['tags'] },
): Promise<{ id: string; createdAt: number }> {
  const now = new Date();
  const { id = '', createdDate = now } = await target.gateway.send(
    new CreateApiKeyCommand({
      name: order.name,
      value: order.keyHash,
      enabled: true,
      tags: {
        ...order.tags,
        ...(order.expiresAt !== undefined && { [gatewayTags.expires]: new Date(order.expiresAt).toISOString() }),
        [gatewayTags.unfinished]: now.toISOString(),
      },
    }),
  );
  await putOnPlan(target, id, order.usagePlanId);
  return { id, createdAt: createdDate.getTime() };
}

/** Deletes a key that nobody knows, from API Gateway and from the keys table. */
export async function discard({ gateway, keyTable }: Target, { id, value }: ApiKey): Promise<void> {
  try {
    await gateway.send(new DeleteApiKeyCommand({ apiKey: id }));
  } catch (error) {
    if (!(error instanceof NotFoundException)) throw error;
  }
  if (value) await keyTable.delete(value);
}

/** Clears away what commands that were cut off some time ago have left of a key of this name. */
async function clearLeftovers(target: Target, usagePlans: readonly CustomerPlan[], name: string): Promise<void> {
  const pages = paginateGetApiKeys(
    { client: target.gateway, pageSize: PAGE_SIZE },
    { nameQuery: name, includeValues: true },
  );
  for await (const { items = [] } of pages) {
    for (const key of items) {
      const { [gatewayTags.unfinished]: unfinished, [gatewayTags.replaces]: replaces } = key.tags ?? {};
      // One that others may have been handed over to is for `keys rotate` to take up.
      const isLeftover = key.name === name && unfinished !== undefined && replaces === undefined;
      if (!isLeftover || !isStale(unfinished, Date.now())) continue;
      const usagePlan = await usagePlanOf(target, key.id ?? '', usagePlans);
      if (usagePlan) await markObsolete(target, usagePlan);
      await discard(target, key);
    }
  }
  await clearOwnPlans(target);
}
