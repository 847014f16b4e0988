import {
  type ApiKey,
  type APIGatewayClient,
  GetApiKeyCommand,
  NotFoundException,
  paginateGetApiKeys,
  paginateGetUsagePlanKeys,
  paginateGetUsagePlans,
} from '@aws-sdk/client-api-gateway';
import { planIds } from '../keys/plans.ts';
import { type CustomerPlan, customerPlans, isCustomerPlan } from './customer-plan.ts';
import { type ApiStage, PAGE_SIZE } from './gateway-client.ts';
import { gatewayTags, isStale } from './gateway-tags.ts';
import { readApiKey, type Registered, valueOf } from './registered-key.ts';

/** A key on a customer's usage plan. */
export interface PlannedKey {
  readonly keyId: string;
  readonly keyHash: string;
  readonly enabled: boolean;
  /** The admin command is at work on it: it is being made, moved, or handed over to one that is being made. */
  readonly isUnderWay: boolean;
  /** Who it is, or why it cannot be let in. */
  readonly registered: Registered;
}

/** What API Gateway says about the keys of a stage at one time. */
export interface GatewayState {
  /** Keys on a customer's usage plan. */
  readonly planned: readonly PlannedKey[];
  /** Hashes of the enabled keys on no plan of the stage that are to be left alone. */
  readonly underWay: ReadonlySet<string>;
  /** Hashes of all keys of the account. */
  readonly existing: ReadonlySet<string>;
  /** Whether each plan of the catalogue has its usage plan. If not, keys may be on none through no doing of an admin. */
  readonly hasAllPlans: boolean;
  /** What an admin should put right, in words. */
  readonly problems: readonly string[];
}

/**
 * Reads all keys and customers' usage plans: a call per 500 keys, and one per usage plan.
 *
 * @throws where the answers are not complete: a key that is only not seen must not be taken for one that is gone
 */
export async function readGatewayState(client: APIGatewayClient, stage: ApiStage): Promise<GatewayState> {
  const { plans, problems } = await customerPlans(client, stage);
  const missing = planIds.filter((id) => !plans.some(({ plan, isOwn }) => plan === id && !isOwn));
  const planOfKey = new Map<string, CustomerPlan>();
  for (const plan of plans) for (const id of await keyIdsOn(client, plan)) planOfKey.set(id, plan);
  const keys = new Map<string, ApiKey>();
  for await (const { items = [] } of paginateGetApiKeys({ client, pageSize: PAGE_SIZE }, { includeValues: true })) {
    for (const key of items) {
      if (!key.value) throw new Error(`API Gateway did not tell the value of the key ${key.id ?? ''}`);
      keys.set(key.id ?? '', key);
    }
  }
  const missingPlans = missing.map((id) => `The stage has no usage plan tagged ${gatewayTags.plan}=${id}.`);
  const sorted = sort(keys, planOfKey);
  return { ...sorted, hasAllPlans: missing.length === 0, problems: [...problems, ...missingPlans, ...sorted.problems] };
}

async function keyIdsOn(client: APIGatewayClient, { usagePlanId }: CustomerPlan): Promise<string[]> {
  const ids: string[] = [];
  try {
    for await (const { items = [] } of paginateGetUsagePlanKeys({ client, pageSize: PAGE_SIZE }, { usagePlanId })) {
      ids.push(...items.map(({ id = '' }) => id));
    }
    return ids;
  } catch (error) {
    // The plan was deleted meanwhile.
    if (error instanceof NotFoundException) return [];
    throw error;
  }
}

/** Asks once more whether a key is gone: lists may lag behind. */
export async function isGone(client: APIGatewayClient, apiKey: string): Promise<boolean> {
  try {
    await client.send(new GetApiKeyCommand({ apiKey }));
    return false;
  } catch (error) {
    if (error instanceof NotFoundException) return true;
    throw error;
  }
}

/** Asks once more whether a key is on no customer's usage plan of the stage. */
export async function isOnNoPlan(client: APIGatewayClient, stage: ApiStage, keyId: string): Promise<boolean> {
  for await (const { items = [] } of paginateGetUsagePlans({ client, pageSize: PAGE_SIZE }, { keyId })) {
    if (items.some((plan) => isCustomerPlan(plan, stage))) return false;
  }
  return true;
}

function sort(
  keys: ReadonlyMap<string, ApiKey>,
  planOfKey: ReadonlyMap<string, CustomerPlan>,
): Omit<GatewayState, 'hasAllPlans'> {
  const problems: string[] = [];
  const planned: PlannedKey[] = [];
  const underWay = new Set<string>();
  const existing = new Set<string>();
  const hashOf = (keyId: string): string | undefined => {
    const value = keys.get(keyId)?.value;
    return value === undefined ? undefined : valueOf(value).keyHash;
  };
  for (const [keyId, apiKey] of keys) {
    const { keyHash } = valueOf(apiKey.value ?? '');
    if (existing.has(keyHash))
      problems.push(`The key ${keyId} is the same as another: one has the other's hash as its value.`);
    existing.add(keyHash);
    const successor = keys.get(apiKey.tags?.[gatewayTags.replacedBy] ?? '');
    const since = underWaySince(apiKey) ?? (successor && underWaySince(successor));
    const isUnderWay = since !== undefined;
    if (isUnderWay && isStale(since, Date.now())) {
      problems.push(`The key ${keyId} was left unfinished at ${since}: run the command again that was cut off.`);
    }
    const plan = planOfKey.get(keyId);
    const enabled = apiKey.enabled ?? false;
    if (plan) planned.push({ keyId, keyHash, enabled, isUnderWay, registered: readApiKey(apiKey, plan, hashOf) });
    // Nobody's work may keep a key open that was closed.
    else if (isUnderWay && enabled) underWay.add(keyHash);
  }
  return { planned, underWay, existing, problems };
}

function underWaySince({ tags }: ApiKey): string | undefined {
  return tags?.[gatewayTags.unfinished] ?? tags?.[gatewayTags.moving];
}
