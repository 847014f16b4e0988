import {
  type ApiKey,
  type APIGatewayClient,
  GetApiKeyCommand,
  NotFoundException,
  paginateGetApiKeys,
  paginateGetUsagePlanKeys,
} from '@aws-sdk/client-api-gateway';
import { planIds } from '../keys/plans.ts';
import { type CustomerPlan, customerPlans } from './customer-plan.ts';
import { type ApiStage, PAGE_SIZE } from './gateway-client.ts';
import { gatewayTags, isStale } from './gateway-tags.ts';
import { readApiKey, type Registered, valueOf } from './registered-key.ts';

/** A key as API Gateway has it. */
export interface GatewayKey {
  readonly keyId: string;
  readonly keyHash: string;
  readonly apiKey: ApiKey;
  /** Who it is; undefined where it is on no customer's usage plan of the stage. */
  readonly registered: Registered | undefined;
  /**
   * A sync may only close it: the admin command is at work on it (it is being made, moved or rotated), or its usage plan
   * cannot be read.
   */
  readonly isLeftAlone: boolean;
}

/** What API Gateway says about the keys of a stage at one time. */
export interface GatewayState {
  /** All keys of the account, by their hash: of two with one hash both. */
  readonly keys: ReadonlyMap<string, readonly GatewayKey[]>;
  readonly keysInAccount: number;
  /** The keys that were rotated to another, by the id of that other; under undefined those that were not rotated. */
  readonly predecessors: ReadonlyMap<string | undefined, readonly GatewayKey[]>;
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
  const missing = planIds.filter((id) => !plans.some(({ plan, isOwn }) => plan === id && !isOwn));
  const missingPlans = missing.map((id) => `The stage has no usage plan tagged ${gatewayTags.plan}=${id}.`);
  const planOfKey = new Map<string, CustomerPlan>();
  for (const plan of plans) for (const id of await keyIdsOn(client, plan.usagePlanId)) planOfKey.set(id, plan);
  const onUnreadable = new Set<string>();
  for (const usagePlanId of unreadable) for (const id of await keyIdsOn(client, usagePlanId)) onUnreadable.add(id);

  const apiKeys = new Map<string, ApiKey>();
  for await (const { items = [] } of paginateGetApiKeys({ client, pageSize: PAGE_SIZE }, { includeValues: true })) {
    for (const apiKey of items) apiKeys.set(apiKey.id ?? '', apiKey);
  }
  const underWay = keysUnderWay(apiKeys);
  const hashes = new Map([...apiKeys].map(([id, apiKey]) => [id, hashOf(apiKey)]));
  const keys = [...apiKeys].map(([keyId, apiKey]): GatewayKey => {
    const plan = planOfKey.get(keyId);
    const registered = plan && readApiKey(apiKey, plan, (id) => hashes.get(id));
    const isLeftAlone = underWay.has(keyId) || onUnreadable.has(keyId);
    return { keyId, keyHash: hashOf(apiKey), apiKey, registered, isLeftAlone };
  });
  return {
    keys: Map.groupBy(keys, ({ keyHash }) => keyHash),
    keysInAccount: apiKeys.size,
    predecessors: Map.groupBy(keys, ({ apiKey }) => apiKey.tags?.[gatewayTags.replacedBy]),
    hasAllPlans: missing.length === 0,
    problems: [...problems, ...missingPlans, ...leftUnfinished(underWay), ...shortOfKeys(apiKeys.size)],
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

/** Asks once more whether a key is on no customer's usage plan of the stage, not even on one that cannot be read. */
export async function isOnNoPlan(client: APIGatewayClient, stage: ApiStage, keyId: string): Promise<boolean> {
  const { plans, unreadable } = await customerPlans(client, stage, { keyId });
  return plans.length === 0 && unreadable.length === 0;
}

function hashOf({ id = '', value }: ApiKey): string {
  if (!value) throw new Error(`API Gateway did not tell the value of the key ${id}`);
  return valueOf(value).keyHash;
}

/** The keys that the admin command is at work on, with the time since when. */
function keysUnderWay(apiKeys: ReadonlyMap<string, ApiKey>): Map<string, string> {
  const found = new Map<string, string>();
  for (const [keyId, { tags = {} }] of apiKeys) {
    const {
      [gatewayTags.unfinished]: unfinished,
      [gatewayTags.moving]: moving,
      [gatewayTags.replaces]: replaced,
    } = tags;
    const since = unfinished ?? moving;
    if (since !== undefined) found.set(keyId, since);
    // The key that it is made in place of points to it in the table already, or will at any moment.
    if (unfinished !== undefined && replaced !== undefined && apiKeys.has(replaced)) found.set(replaced, unfinished);
  }
  return found;
}

function leftUnfinished(underWay: ReadonlyMap<string, string>): string[] {
  return [...underWay]
    .filter(([, since]) => isStale(since, Date.now()))
    .map(([id, since]) => `The key ${id} was left unfinished at ${since}: run the command again that was cut off.`);
}

/** API keys that an account may have in a region: fixed by AWS. */
export const MAX_API_KEYS = 10_000;

/** Said early: to make room, customers have to go elsewhere. */
export function shortOfKeys(count: number): string[] {
  if (count < 0.9 * MAX_API_KEYS) return [];
  return [`The account has ${count} of the ${MAX_API_KEYS} API keys that it may have in the region.`];
}
