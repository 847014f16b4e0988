import {
  type ApiKey,
  type APIGatewayClient,
  paginateGetApiKeys,
  paginateGetUsagePlanKeys,
} from '@aws-sdk/client-api-gateway';
import type { KeyIdentity } from './key-table.ts';
import { MAX_NAME_BYTES } from './key-tokens.ts';
import { type Limits, MOST_PER_MINUTE, planIds } from '../keys/plans.ts';
import { outerGuard } from './outer-guard.ts';
import { isIssued, parseToken } from '../keys/token.ts';
import { type CustomerPlan, customerPlans } from './customer-plan.ts';
import { type ApiStage, PAGE_SIZE, unlessGone } from './gateway-client.ts';
import { gatewayTags, isoTime, isStale } from './gateway-tags.ts';

/** A key as API Gateway lists it. */
export interface ListedKey {
  readonly keyId: string;
  /** Undefined where its value can be no key's. */
  readonly recordId: string | undefined;
  readonly gatewayKey: ApiKey;
  /** Undefined where it is on no customers' usage plan of the stage. */
  readonly registered: Registered | undefined;
  readonly usagePlanId: string | undefined;
  /** A sync may only close it: it is being made, or its usage plan cannot be read. */
  readonly closeOnly: boolean;
}

/** What API Gateway says about the keys of a stage at one time. */
export interface GatewayState {
  /** All keys of the account in the region, of all stages and services. No two have one value, so none one record. */
  readonly keys: readonly ListedKey[];
  /** Whether each plan of the catalogue has its usage plan. If not, keys may be on none without any act of an admin. */
  readonly hasAllPlans: boolean;
  /** What an admin should put right, in words. */
  readonly problems: readonly string[];
}

/**
 * Reads all keys and customers' usage plans: a call per 500 keys, and one per usage plan.
 *
 * @throws where the answers are not complete: a key that is not listed must not be taken for one that is gone
 */
export async function readGatewayState(client: APIGatewayClient, stage: ApiStage): Promise<GatewayState> {
  const { plans, unreadable, problems } = await customerPlans(client, stage);
  const missing = planIds.filter((id) => !plans.some(({ plan }) => plan === id));
  const planOfKey = new Map<string, CustomerPlan>();
  for (const plan of plans) for (const id of await keyIdsOn(client, plan.usagePlanId)) planOfKey.set(id, plan);
  const onUnreadable = new Set<string>();
  for (const usagePlanId of unreadable) for (const id of await keyIdsOn(client, usagePlanId)) onUnreadable.add(id);

  const pages = await Array.fromAsync(paginateGetApiKeys({ client, pageSize: PAGE_SIZE }, { includeValues: true }));
  const gatewayKeys = new Map(pages.flatMap(({ items = [] }) => items.map((each) => [each.id ?? '', each])));
  const keys = [...gatewayKeys].map(([keyId, gatewayKey]): ListedKey => {
    const { value, tags } = gatewayKey;
    if (!value) throw new Error(`API Gateway did not send the value of the key ${keyId}`);
    const plan = planOfKey.get(keyId);
    return {
      keyId,
      recordId: recordIdOf(value),
      gatewayKey,
      registered: plan && readGatewayKey(gatewayKey, plan),
      usagePlanId: plan?.usagePlanId,
      closeOnly: tags?.[gatewayTags.unfinished] !== undefined || onUnreadable.has(keyId),
    };
  });
  return {
    keys,
    hasAllPlans: missing.length === 0,
    problems: [
      ...problems,
      ...missing.map((id) => `The stage has no usage plan tagged ${gatewayTags.plan}=${id}.`),
      ...keys.flatMap((key) => [...throttled(key, planOfKey.get(key.keyId)), ...leftUnfinished(key)]),
      ...shortOfKeys(keys.length),
    ],
  };
}

/** The ids of the keys on a usage plan; none where it was deleted meanwhile. */
async function keyIdsOn(client: APIGatewayClient, usagePlanId: string): Promise<string[]> {
  const pages = Array.fromAsync(paginateGetUsagePlanKeys({ client, pageSize: PAGE_SIZE }, { usagePlanId }));
  const found = (await unlessGone(pages)) ?? [];
  return found.flatMap(({ items = [] }) => items.map(({ id = '' }) => id));
}

/** A key with agreed limits that its usage plan does not admit. The guards of the other plans are checked as such. */
function throttled({ keyId, registered }: ListedKey, plan: CustomerPlan | undefined): string[] {
  if (plan?.limits !== 'agreed' || !registered || 'problem' in registered) return [];
  const { rateLimit: needed } = outerGuard(registered.identity);
  const { rateLimit = needed } = plan;
  if (rateLimit >= needed) return [];
  return [
    `The key ${keyId} has agreed ${needed} requests a second, and its usage plan lets ${rateLimit} through: agree on less, or raise the throttle of the stage.`,
  ];
}

function leftUnfinished({ keyId, gatewayKey: { tags } }: ListedKey): string[] {
  const since = tags?.[gatewayTags.unfinished];
  if (since === undefined || !isStale(since, Date.now())) return [];
  return [
    `The key ${keyId} was left unfinished at ${since}: create it again, which clears it away, or delete it there.`,
  ];
}

/** API keys that an account may have in a region: fixed by AWS. */
export const MAX_API_KEYS = 10_000;

/** Reported early: to make room, customers have to go elsewhere. */
export function shortOfKeys(count: number): string[] {
  if (count < 0.9 * MAX_API_KEYS) return [];
  return [`The account has ${count} of the ${MAX_API_KEYS} API keys that it may have in the region.`];
}

/** What API Gateway says about a key: its identity, or why that cannot be read. */
export type Registered = { readonly identity: KeyIdentity } | { readonly problem: string };

/** The partition key of a key's record, by its value in API Gateway; undefined where no token can belong to that. */
export function recordIdOf(value: string): string | undefined {
  if (isIssued(value)) return value;
  return value.startsWith('psk_') ? undefined : parseToken(value)?.recordId;
}

/**
 * Reads an API key of API Gateway, value included.
 *
 * @param customerPlan the usage plan it is on
 */
export function readGatewayKey(
  { id: keyId = '', name = '', value = '', enabled = false, createdDate, tags = {} }: ApiKey,
  { plan, limits: limitsOfPlan }: CustomerPlan,
): Registered {
  const recordId = recordIdOf(value);
  if (recordId === undefined)
    return { problem: 'has a value that no key can have: delete it, and create one with npm run admin -- keys create' };
  const limits = limitsOfPlan === 'agreed' ? agreedLimits(tags) : limitsOfPlan;
  if (typeof limits === 'string') return { problem: limits };
  const expires = tags[gatewayTags.expires];
  const expiresAt = expires === undefined ? undefined : isoTime(expires);
  if (Number.isNaN(expiresAt)) return { problem: `has a tag ${gatewayTags.expires} that is no ISO 8601 date` };
  const createdAt = createdDate?.getTime() ?? 0;
  return { identity: { recordId, keyId, name: shortened(name), plan, ...limits, enabled, createdAt, expiresAt } };
}

/** The limits in the tags of a key, or what is wrong with them. */
function agreedLimits(tags: Readonly<Record<string, string>>): Limits | string {
  const texts = [tags[gatewayTags.perMinute], tags[gatewayTags.perDay]];
  if (texts.every((text) => text === undefined)) return 'is on the Enterprise plan without agreed limits: tag it';
  const [perMinute, perDay] = texts.map((text) => (/^[1-9]\d{0,11}$/.test(text ?? '') ? Number(text) : undefined));
  if (perMinute !== undefined && perMinute > MOST_PER_MINUTE)
    return `has a tag ${gatewayTags.perMinute} above ${MOST_PER_MINUTE}, which is the most that one key takes`;
  if (perMinute !== undefined && perDay !== undefined) return { perMinute, perDay };
  return `needs both tags ${gatewayTags.perMinute} and ${gatewayTags.perDay}, as numbers from 1`;
}

/** Longer names are cut short, so that an item stays within one write unit. */
function shortened(name: string): string {
  if (Buffer.byteLength(name) <= MAX_NAME_BYTES) return name;
  const cut = Buffer.from(name).subarray(0, MAX_NAME_BYTES - Buffer.byteLength('…'));
  // The last character may have lost some of its bytes.
  return `${cut.toString('utf8').replace(/\ufffd$/, '')}…`;
}
