import type { ApiKey } from '@aws-sdk/client-api-gateway';
import { type KeyIdentity, MAX_NAME_BYTES } from '../keys/key-record.ts';
import type { Limits } from '../keys/plans.ts';
import { isIssued, parseToken } from '../keys/token.ts';
import type { CustomerPlan } from './customer-plan.ts';
import { gatewayTags, isoTime } from './gateway-tags.ts';

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
