import {
  type ApiKey,
  type APIGatewayClient,
  GetApiKeyCommand,
  paginateGetApiKeys,
  paginateGetUsagePlanKeys,
} from '@aws-sdk/client-api-gateway';
import type { KeyRecord } from '../keys/key-record.ts';
import { type Limits, MOST_PER_MINUTE, planIds } from '../keys/plans.ts';
import { isIssued, parseToken } from '../keys/token.ts';
import { type CustomerPlan, customerPlans } from './customer-plan.ts';
import { type ApiStage, PAGE_SIZE, ignoreNotFound } from './gateway-client.ts';
import { gatewayTags, isoTime } from './gateway-tags.ts';
import type { GatewayFields } from './key-table.ts';
import { MAX_NAME_BYTES } from './key-tokens.ts';
import { outerGuard } from './outer-guard.ts';

/** A key as API Gateway has it. */
export interface LiveKey {
  readonly keyId: string;
  readonly value: string;
  /** The partition key of its record, by its value; undefined where that can be no key's. */
  readonly recordId: string | undefined;
  readonly name: string;
  readonly enabled: boolean;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly tags: Readonly<Record<string, string>>;
  /** Of the customers' usage plan of the stage that it is on: one at most, says API Gateway. */
  readonly usagePlanId: string | undefined;
  /** What a record has of it; undefined where it is on no such plan. */
  readonly reading: Reading | undefined;
}

/** `problem`: why plan or tags cannot be read; undefined where the problems of its usage plan say that. */
export type Reading = { readonly fields: GatewayFields } | { readonly problem: string | undefined };

/** What API Gateway says about the keys of a stage at one time. */
export interface GatewayState {
  /** All keys of the account in the region, of all stages and services. No two have one value. */
  readonly keys: readonly LiveKey[];
  /** Whether each plan of the catalogue has its usage plan. If not, keys may be on none without any act of an admin. */
  readonly hasAllPlans: boolean;
  /** What an admin should put right, in words. */
  readonly problems: readonly string[];
}

/** A usage plan that a key is on; without `readable`, one with a tag that cannot be read. */
interface Placement {
  readonly usagePlanId: string;
  readonly readable?: CustomerPlan;
}

/**
 * Reads all keys and customers' usage plans: a call per 500 keys, and one per usage plan. The lists may be minutes old.
 *
 * @throws where the answers are not complete: a key that is not listed must not be taken for one that is gone
 */
export async function readGatewayState(client: APIGatewayClient, stage: ApiStage): Promise<GatewayState> {
  const { plans, unreadable, problems } = await customerPlans(client, stage);
  const missing = planIds.filter((id) => !plans.some(({ plan }) => plan === id));
  const places: Placement[] = [
    ...plans.map((readable) => ({ usagePlanId: readable.usagePlanId, readable })),
    ...unreadable.map((usagePlanId) => ({ usagePlanId })),
  ];
  const placeOf = new Map<string, Placement>();
  for (const place of places) for (const id of await keyIdsOn(client, place.usagePlanId)) placeOf.set(id, place);
  const pages = await Array.fromAsync(paginateGetApiKeys({ client, pageSize: PAGE_SIZE }, { includeValues: true }));
  const listed = new Map(pages.flatMap(({ items = [] }) => items.map((each) => [each.id ?? '', each])));
  const keys = [...listed].map(([keyId, apiKey]) => liveKey(apiKey, placeOf.get(keyId)));
  return {
    keys,
    hasAllPlans: missing.length === 0,
    problems: [
      ...problems,
      ...missing.map((id) => `The stage has no usage plan tagged ${gatewayTags.plan}=${id}.`),
      ...keys.flatMap((key) => throttled(key, placeOf.get(key.keyId)?.readable)),
      ...shortOfKeys(keys.length),
    ],
  };
}

/** The ids of the keys on a usage plan; none where it was deleted meanwhile. */
async function keyIdsOn(client: APIGatewayClient, usagePlanId: string): Promise<string[]> {
  const pages = Array.fromAsync(paginateGetUsagePlanKeys({ client, pageSize: PAGE_SIZE }, { usagePlanId }));
  const found = (await ignoreNotFound(pages)) ?? [];
  return found.flatMap(({ items = [] }) => items.map(({ id = '' }) => id));
}

/** One key, as it is now; undefined where there is none. */
export async function readLiveKey(
  client: APIGatewayClient,
  stage: ApiStage,
  keyId: string,
): Promise<LiveKey | undefined> {
  const apiKey = await ignoreNotFound(client.send(new GetApiKeyCommand({ apiKey: keyId, includeValue: true })));
  if (!apiKey) return undefined;
  const { plans, unreadable } = await customerPlans(client, stage, { keyId });
  const [readable] = plans;
  const usagePlanId = readable?.usagePlanId ?? unreadable[0];
  return liveKey(apiKey, usagePlanId === undefined ? undefined : { usagePlanId, ...(readable && { readable }) });
}

/** The id of the key with a value, by the name that it was given; undefined where there is none. */
export async function keyIdOfRecord(
  client: APIGatewayClient,
  { name, recordId }: Pick<KeyRecord, 'name' | 'recordId'>,
): Promise<string | undefined> {
  const query = { nameQuery: name, includeValues: true };
  const pages = await Array.fromAsync(paginateGetApiKeys({ client, pageSize: PAGE_SIZE }, query));
  return pages.flatMap(({ items = [] }) => items).find(({ value = '' }) => recordIdOf(value) === recordId)?.id;
}

/** A key with agreed limits that its usage plan does not admit. The guards of the other plans are checked as such. */
function throttled({ keyId, reading }: LiveKey, plan: CustomerPlan | undefined): string[] {
  if (plan?.limits !== 'agreed' || !reading || 'problem' in reading) return [];
  const { rateLimit: needed } = outerGuard(reading.fields);
  const { rateLimit = needed } = plan;
  if (rateLimit >= needed) return [];
  return [
    `The key ${keyId} has agreed ${needed} requests a second, and its usage plan lets ${rateLimit} through: agree on less, or raise the throttle of the stage.`,
  ];
}

/** API keys that an account may have in a region: fixed by AWS. */
export const MAX_API_KEYS = 10_000;

/** Reported early: to make room, customers have to go elsewhere. */
export function shortOfKeys(count: number): string[] {
  if (count < 0.9 * MAX_API_KEYS) return [];
  return [`The account has ${count} of the ${MAX_API_KEYS} API keys that it may have in the region.`];
}

/** The partition key of a key's record, by its value in API Gateway; undefined where no token can belong to that. */
export function recordIdOf(value: string): string | undefined {
  if (isIssued(value)) return value;
  return value.startsWith('psk_') ? undefined : parseToken(value)?.recordId;
}

/** @param apiKey with its value @param place undefined where it is on no customers' usage plan of the stage */
export function liveKey(
  { id: keyId = '', name = '', value, enabled = false, createdDate, tags = {} }: ApiKey,
  place: Placement | undefined,
): LiveKey {
  if (!value) throw new Error(`API Gateway did not send the value of the key ${keyId}`);
  const createdAt = createdDate?.getTime() ?? 0;
  const key = { keyId, value, recordId: recordIdOf(value), name: shortened(name), enabled, createdAt, tags };
  return { ...key, usagePlanId: place?.usagePlanId, reading: place && read(key, place.readable) };
}

function read(
  { keyId, recordId, name, enabled, tags }: Omit<LiveKey, 'usagePlanId' | 'reading'>,
  customerPlan: CustomerPlan | undefined,
): Reading {
  if (!customerPlan) return { problem: undefined };
  if (recordId === undefined)
    return { problem: 'has a value that no key can have: delete it, and create one with npm run admin -- keys create' };
  const { plan, limits: limitsOfPlan } = customerPlan;
  const limits = limitsOfPlan === 'agreed' ? agreedLimits(tags) : limitsOfPlan;
  if (typeof limits === 'string') return { problem: limits };
  const expires = tags[gatewayTags.expires];
  const expiresAt = expires === undefined ? undefined : isoTime(expires);
  if (Number.isNaN(expiresAt)) return { problem: `has a tag ${gatewayTags.expires} that is no ISO 8601 date` };
  return { fields: { keyId, name, plan, ...limits, enabled, expiresAt } };
}

/** The limits in the tags of a key, or what is wrong with them. */
function agreedLimits(tags: LiveKey['tags']): Limits | string {
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
