import {
  type ApiKey,
  type APIGatewayClient,
  paginateGetApiKeys,
  paginateGetUsagePlanKeys,
} from '@aws-sdk/client-api-gateway';
import { type CustomerPlan, customerPlans } from './customer-plan.ts';
import { type ApiStage, PAGE_SIZE } from './gateway-client.ts';
import { gatewayTags } from './gateway-tags.ts';
import { readApiKey, type Registered, valueOf } from './registered-key.ts';

/** A key on a customer's usage plan. */
export interface PlannedKey {
  readonly keyId: string;
  readonly keyHash: string;
  readonly enabled: boolean;
  /** The admin command is at work on it: it is being made, or handed over to one that is. */
  readonly isUnderWay: boolean;
  /** Who it is, or why it cannot be let in. */
  readonly registered: Registered;
}

/** What API Gateway says about the keys of a stage at one time. */
export interface GatewayState {
  /** Keys on a customer's usage plan. */
  readonly planned: readonly PlannedKey[];
  /** Hashes of the keys on no plan of the stage that are to be left alone. */
  readonly underWay: ReadonlySet<string>;
  /** Hashes of all keys of the account. */
  readonly existing: ReadonlySet<string>;
  /** What is wrong with usage plans, in words for an admin. */
  readonly problems: readonly string[];
}

/** Reads all keys and customers' usage plans: a call per 500 keys, and one per usage plan. */
export async function readGatewayState(client: APIGatewayClient, stage: ApiStage): Promise<GatewayState> {
  const { plans, problems } = await customerPlans(client, stage);
  const planOfKey = new Map<string, CustomerPlan>();
  for (const plan of plans) {
    const pages = paginateGetUsagePlanKeys({ client, pageSize: PAGE_SIZE }, { usagePlanId: plan.usagePlanId });
    for await (const { items = [] } of pages) for (const { id = '' } of items) planOfKey.set(id, plan);
  }
  const keys = new Map<string, ApiKey>();
  for await (const { items = [] } of paginateGetApiKeys({ client, pageSize: PAGE_SIZE }, { includeValues: true })) {
    for (const key of items) if (key.value) keys.set(key.id ?? '', key);
  }
  return { ...sort(keys, planOfKey), problems };
}

function sort(
  keys: ReadonlyMap<string, ApiKey>,
  planOfKey: ReadonlyMap<string, CustomerPlan>,
): Omit<GatewayState, 'problems'> {
  const planned: PlannedKey[] = [];
  const underWay = new Set<string>();
  const existing = new Set<string>();
  const hashOf = (keyId: string): string | undefined => {
    const value = keys.get(keyId)?.value;
    return value === undefined ? undefined : valueOf(value).keyHash;
  };
  for (const [keyId, apiKey] of keys) {
    const { keyHash } = valueOf(apiKey.value ?? '');
    existing.add(keyHash);
    const successor = keys.get(apiKey.tags?.[gatewayTags.replacedBy] ?? '');
    const isUnderWay = isUnfinished(apiKey) || (successor !== undefined && isUnfinished(successor));
    const plan = planOfKey.get(keyId);
    const enabled = apiKey.enabled ?? false;
    if (plan) planned.push({ keyId, keyHash, enabled, isUnderWay, registered: readApiKey(apiKey, plan, hashOf) });
    else if (isUnderWay) underWay.add(keyHash);
  }
  return { planned, underWay, existing };
}

function isUnfinished({ tags }: ApiKey): boolean {
  return tags?.[gatewayTags.unfinished] !== undefined;
}
