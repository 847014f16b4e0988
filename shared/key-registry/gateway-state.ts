import {
  type ApiKey,
  type APIGatewayClient,
  GetApiKeyCommand,
  NotFoundException,
  paginateGetApiKeys,
  paginateGetUsagePlanKeys,
} from '@aws-sdk/client-api-gateway';
import { outerGuard, planIds } from '../keys/plans.ts';
import { type CustomerPlan, customerPlans } from './customer-plan.ts';
import { type ApiStage, PAGE_SIZE } from './gateway-client.ts';
import { gatewayTags, isStale } from './gateway-tags.ts';
import { readApiKey, recordIdOf, type Registered } from './registered-key.ts';

/** A key as API Gateway has it. */
export interface GatewayKey {
  readonly keyId: string;
  /** Undefined where its value can be no key's. */
  readonly recordId: string | undefined;
  readonly apiKey: ApiKey;
  /** Who it is; undefined where it is on no customer's usage plan of the stage. */
  readonly registered: Registered | undefined;
  /** The usage plan that it is on, as it was read. */
  readonly usagePlanId: string | undefined;
  /** A sync may only close it: it is being made, or its usage plan cannot be read. */
  readonly closeOnly: boolean;
}

/** What API Gateway says about the keys of a stage at one time. */
export interface GatewayState {
  /** All keys of the account in the region, of all stages and services. No two have the same value, so none the same record. */
  readonly keys: readonly GatewayKey[];
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
  const { plans, unreadable, problems } = await customerPlans(client, stage);
  const missing = planIds.filter((id) => !plans.some(({ plan }) => plan === id));
  const missingPlans = missing.map((id) => `The stage has no usage plan tagged ${gatewayTags.plan}=${id}.`);
  const planOfKey = new Map<string, CustomerPlan>();
  for (const plan of plans) for (const id of await keyIdsOn(client, plan.usagePlanId)) planOfKey.set(id, plan);
  const onUnreadable = new Set<string>();
  for (const usagePlanId of unreadable) for (const id of await keyIdsOn(client, usagePlanId)) onUnreadable.add(id);

  const apiKeys = new Map<string, ApiKey>();
  for await (const { items = [] } of paginateGetApiKeys({ client, pageSize: PAGE_SIZE }, { includeValues: true })) {
    for (const apiKey of items) apiKeys.set(apiKey.id ?? '', apiKey);
  }
  const keys = [...apiKeys].map(([keyId, apiKey]): GatewayKey => {
    const plan = planOfKey.get(keyId);
    const registered = plan && readApiKey(apiKey, plan);
    const closeOnly = apiKey.tags?.[gatewayTags.unfinished] !== undefined || onUnreadable.has(keyId);
    const recordId = recordIdOf(valueOf(apiKey));
    return { keyId, recordId, apiKey, registered, usagePlanId: plan?.usagePlanId, closeOnly };
  });
  return {
    keys,
    hasAllPlans: missing.length === 0,
    problems: [
      ...problems,
      ...missingPlans,
      ...keys.flatMap((key) => throttled(key, planOfKey.get(key.keyId))),
      ...leftUnfinished(apiKeys),
      ...shortOfKeys(apiKeys.size),
    ],
  };
}

/** The ids of the keys on a usage plan; none where it was deleted meanwhile. */
async function keyIdsOn(client: APIGatewayClient, usagePlanId: string): Promise<string[]> {
  const pages = Array.fromAsync(paginateGetUsagePlanKeys({ client, pageSize: PAGE_SIZE }, { usagePlanId }));
  const found = (await unlessGone(pages)) ?? [];
  return found.flatMap(({ items = [] }) => items.map(({ id = '' }) => id));
}

/** Asks once more for a key: lists may lag behind. @returns undefined where it is gone */
export const readKeyAgain = (client: APIGatewayClient, apiKey: string): Promise<ApiKey | undefined> =>
  unlessGone(client.send(new GetApiKeyCommand({ apiKey })));

/** The answer to a call; undefined where API Gateway does not have what it is about. */
const unlessGone = <Answer>(call: Promise<Answer>): Promise<Answer | undefined> =>
  call.catch((error: unknown) => {
    if (error instanceof NotFoundException) return undefined;
    throw error;
  });

/** Asks once more for the usage plan of the stage that a key is on, be it one that cannot be read; undefined for none. */
export async function planIdOf(client: APIGatewayClient, stage: ApiStage, keyId: string): Promise<string | undefined> {
  const { plans, unreadable } = await customerPlans(client, stage, { keyId });
  return plans[0]?.usagePlanId ?? unreadable[0];
}

function valueOf({ id = '', value }: ApiKey): string {
  if (!value) throw new Error(`API Gateway did not send the value of the key ${id}`);
  return value;
}

/** A key that has agreed more than its usage plan lets through. The usage plans of the others are checked as such. */
function throttled({ keyId, registered }: GatewayKey, plan: CustomerPlan | undefined): string[] {
  if (plan?.limits !== 'agreed' || !registered || 'problem' in registered) return [];
  const { rateLimit: needed } = outerGuard(registered.identity);
  const { rateLimit = needed } = plan;
  if (rateLimit >= needed) return [];
  return [
    `The key ${keyId} has agreed ${needed} requests a second, and its usage plan lets ${rateLimit} through: agree on less, or raise the throttle of the stage.`,
  ];
}

function leftUnfinished(apiKeys: ReadonlyMap<string, ApiKey>): string[] {
  return [...apiKeys].flatMap(([id, { tags = {} }]) => {
    const since = tags[gatewayTags.unfinished];
    if (since === undefined || !isStale(since, Date.now())) return [];
    return `The key ${id} was left unfinished at ${since}: create it again, which clears it away, or delete it there.`;
  });
}

/** API keys that an account may have in a region: fixed by AWS. */
export const MAX_API_KEYS = 10_000;

/** Said early: to make room, customers have to go elsewhere. */
export function shortOfKeys(count: number): string[] {
  if (count < 0.9 * MAX_API_KEYS) return [];
  return [`The account has ${count} of the ${MAX_API_KEYS} API keys that it may have in the region.`];
}
