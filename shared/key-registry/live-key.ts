import {
  type ApiKey,
  type APIGatewayClient,
  GetApiKeyCommand,
  GetUsagePlanKeyCommand,
  paginateGetApiKeys,
  paginateGetUsagePlanKeys,
} from '@aws-sdk/client-api-gateway';
import { type ExactLimits, MAX_PER_DAY, MAX_PER_MINUTE, planIds, plans } from '../keys/plans.ts';
import { isIssued, parseToken } from '../keys/token.ts';
import { type CustomerPlan, customerPlans, type ApiStage, PAGE_SIZE, ignoreNotFound } from './gateway.ts';
import { gatewayTags, isoTime } from './gateway-tags.ts';
import { type GatewayFields, MAX_NAME_BYTES } from './record-changes.ts';

/** A key in API Gateway. */
export interface LiveKey {
  readonly keyId: string;
  readonly value: string;
  /** The partition key of its record, by its value; undefined if no token can have that. */
  readonly recordId: string | undefined;
  readonly name: string;
  readonly enabled: boolean;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly tags: Readonly<Record<string, string>>;
  /** Its customers' usage plan of the stage; undefined: on no plan. API Gateway allows one at most. */
  readonly usagePlanId: string | undefined;
  /** Plan and tags as for a record; undefined if they are invalid. */
  readonly fields: GatewayFields | undefined;
  /** Why plan or tags are invalid, as text for an admin after the id of the key. */
  readonly problem: string | undefined;
}

/**
 * Reads all keys and customers' usage plans: a call per 500 keys, and one per usage plan. The lists may be minutes old.
 *
 * @throws if the responses are incomplete: an unlisted key must not be mistaken for a deleted one
 */
export async function readGatewayState(client: APIGatewayClient, stage: ApiStage) {
  const usagePlans = await customerPlans(client, stage);
  const missing = planIds.filter((id) => !usagePlans.some(({ plan }) => plan === id));
  const planOf = new Map<string, CustomerPlan>();
  for (const usagePlan of usagePlans) for (const id of await keyIdsOn(client, usagePlan)) planOf.set(id, usagePlan);
  const pages = await Array.fromAsync(paginateGetApiKeys({ client, pageSize: PAGE_SIZE }, { includeValues: true }));
  const listed = new Map(pages.flatMap(({ items = [] }) => items.map((each) => [each.id ?? '', each])));
  const keys = [...listed].map(([keyId, apiKey]) => liveKey(apiKey, planOf.get(keyId)));
  const withoutPlan = missing.map((id) => `The stage has no usage plan tagged ${gatewayTags.plan}=${id}.`);
  return {
    /** All keys of the account in the region, of all stages and services. Values are unique. */
    keys,
    /** Whether each plan of the catalog has a usage plan. If not, keys may be on none without an admin's edit. */
    hasAllPlans: missing.length === 0,
    /** Problems that an admin must fix, as text. */
    problems: [...withoutPlan, ...shortOfKeys(keys.length)],
  };
}

/** The ids of the keys on a usage plan; none if it was deleted meanwhile. */
async function keyIdsOn(client: APIGatewayClient, { usagePlanId }: CustomerPlan): Promise<string[]> {
  const pages = Array.fromAsync(paginateGetUsagePlanKeys({ client, pageSize: PAGE_SIZE }, { usagePlanId }));
  const found = (await ignoreNotFound(pages)) ?? [];
  return found.flatMap(({ items = [] }) => items.map(({ id = '' }) => id));
}

/** One current key, by single reads; undefined if there is none. */
export async function readLiveKey(
  client: APIGatewayClient,
  stage: ApiStage,
  keyId: string,
): Promise<LiveKey | undefined> {
  const apiKey = await ignoreNotFound(client.send(new GetApiKeyCommand({ apiKey: keyId, includeValue: true })));
  if (!apiKey) return undefined;
  // The lists may be stale, so check its listed plan first, and all plans before concluding that it has none.
  for (const query of [{ keyId }, {}]) {
    for (const usagePlan of await customerPlans(client, stage, query)) {
      const { usagePlanId } = usagePlan;
      const isOn = await ignoreNotFound(client.send(new GetUsagePlanKeyCommand({ usagePlanId, keyId })));
      if (isOn) return liveKey(apiKey, usagePlan);
    }
  }
  return liveKey(apiKey, undefined);
}

/** Max API keys of an account in a region: fixed by AWS. */
export const MAX_API_KEYS = 10_000;

/** Reported early: more keys require another account or region. */
export function shortOfKeys(count: number): string[] {
  if (count < 0.9 * MAX_API_KEYS) return [];
  return [`The account has ${count} of the ${MAX_API_KEYS} API keys allowed in the region.`];
}

/** The partition key of a key's record, by its value in API Gateway; undefined if no token can belong to it. */
export function recordIdOf(value: string): string | undefined {
  if (isIssued(value)) return value;
  return value.startsWith('psk_') ? undefined : parseToken(value)?.recordId;
}

/** @param apiKey with its value @param usagePlan undefined if it is on no customers' usage plan of the stage */
export function liveKey(
  { id: keyId = '', name = '', value, enabled = false, createdDate, tags = {} }: ApiKey,
  usagePlan: CustomerPlan | undefined,
): LiveKey {
  if (!value) throw new Error(`API Gateway did not return the value of the key ${keyId}`);
  const createdAt = createdDate?.getTime() ?? 0;
  const key = { keyId, value, recordId: recordIdOf(value), name: shortened(name), enabled, createdAt, tags };
  const read = usagePlan && readTags(key, usagePlan);
  const [fields, problem] = typeof read === 'string' ? [undefined, read] : [read, undefined];
  return { ...key, usagePlanId: usagePlan?.usagePlanId, fields, problem };
}

/** The fields as for a record, or their problem. */
function readTags(
  { keyId, recordId, name, enabled, tags }: Omit<LiveKey, 'usagePlanId' | 'fields' | 'problem'>,
  { plan, name: planName }: CustomerPlan,
): GatewayFields | string {
  if (recordId === undefined)
    return 'has an invalid value: delete it, and create one with npm run admin -- keys create';
  if (plan === undefined)
    return `is on the usage plan ${planName}, which is not of this service: tag that with ${gatewayTags.plan}, one of ${planIds.join(', ')}`;
  const limits = plans[plan].limits === 'agreed' ? agreedLimits(tags) : plans[plan].limits;
  if (typeof limits === 'string') return limits;
  const expires = tags[gatewayTags.expires];
  const expiresAtMs = expires === undefined ? undefined : isoTime(expires);
  if (Number.isNaN(expiresAtMs)) return `has a tag ${gatewayTags.expires} that is not an ISO 8601 date`;
  return { keyId, name, plan, ...limits, enabled, expiresAtMs };
}

/** The limits in the tags of a key, or their problem. */
function agreedLimits(tags: LiveKey['tags']): ExactLimits | string {
  const texts = [tags[gatewayTags.perMinute], tags[gatewayTags.perDay]];
  if (texts.every((text) => text === undefined)) return 'is on the Enterprise plan without agreed limits: tag it';
  const [perMinute, perDay] = texts.map((text) => (/^[1-9]\d{0,11}$/.test(text ?? '') ? Number(text) : undefined));
  if (perMinute === undefined || perDay === undefined)
    return `needs both tags ${gatewayTags.perMinute} and ${gatewayTags.perDay}, as numbers from 1`;
  if (perMinute <= MAX_PER_MINUTE && perDay <= MAX_PER_DAY) return { perMinute, perDay };
  return `has limits in its tags above ${MAX_PER_MINUTE} per minute or ${MAX_PER_DAY} per day, the maximum of a key`;
}

/** Longer names are truncated, so an item stays within one write unit. */
function shortened(name: string): string {
  if (Buffer.byteLength(name) <= MAX_NAME_BYTES) return name;
  const cut = Buffer.from(name).subarray(0, MAX_NAME_BYTES - Buffer.byteLength('…'));
  // In stream mode the decoder omits an incomplete last character.
  return `${new TextDecoder().decode(cut, { stream: true })}…`;
}
