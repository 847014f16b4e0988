import type { ApiKey } from '@aws-sdk/client-api-gateway';
import { type KeyIdentity, MAX_NAME_BYTES } from '../keys/key-record.ts';
import { isIssued, parseToken } from '../keys/token.ts';
import { agreedLimits, type CustomerPlan } from './customer-plan.ts';
import { gatewayTags, isoTime } from './gateway-tags.ts';

/** What API Gateway says about a key: who it is, or why that cannot be read. */
export type Registered = { readonly identity: KeyIdentity } | { readonly problem: string };

/** The partition key of a key's record, by its value in API Gateway; undefined where no token can belong to that. */
export const recordIdOf = (value: string): string | undefined =>
  isIssued(value) ? value : value.startsWith('psk_') ? undefined : parseToken(value)?.recordId;

/**
 * Reads an API key of API Gateway, value included.
 *
 * @param customerPlan the usage plan it is on
 */
export function readApiKey(
  { id = '', name = '', value = '', enabled = false, createdDate, tags = {} }: ApiKey,
  customerPlan: CustomerPlan,
): Registered {
  const recordId = recordIdOf(value);
  if (recordId === undefined)
    return { problem: 'has a value that no key can have: delete it, and create one with npm run admin -- keys create' };
  const agreed = agreedLimits(tags);
  const limits = customerPlan.limits === 'agreed' ? agreed.limits : customerPlan.limits;
  if (!limits) return { problem: agreed.problem ?? 'is on the Enterprise plan without agreed limits: tag it' };
  const expires = tags[gatewayTags.expires];
  const expiresAt = expires === undefined ? undefined : isoTime(expires);
  if (Number.isNaN(expiresAt)) return { problem: `has a tag ${gatewayTags.expires} that is no ISO 8601 date` };
  return {
    identity: {
      recordId,
      keyId: id,
      name: shortened(name),
      plan: customerPlan.plan,
      ...limits,
      enabled,
      createdAt: createdDate?.getTime() ?? 0,
      expiresAt,
    },
  };
}

/** Longer names are cut short, so that an item stays within one write unit. */
function shortened(name: string): string {
  if (Buffer.byteLength(name) <= MAX_NAME_BYTES) return name;
  const cut = Buffer.from(name).subarray(0, MAX_NAME_BYTES - Buffer.byteLength('…'));
  // The last character may have lost some of its bytes.
  return `${cut.toString('utf8').replace(/\ufffd$/, '')}…`;
}
