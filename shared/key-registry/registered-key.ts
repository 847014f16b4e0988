import type { ApiKey } from '@aws-sdk/client-api-gateway';
import { hashApiKey, isKeyHash, isPlausibleApiKey } from '../keys/api-key.ts';
import type { KeyIdentity } from '../keys/key-record.ts';
import { agreedLimits, type CustomerPlan } from './customer-plan.ts';
import { gatewayTags, isoTime } from './gateway-tags.ts';

/** Longer names are cut short in the keys table, so that an item stays within one write unit. */
const MAX_NAME_LENGTH = 100;

/** What API Gateway says about a key: who it is, or why that cannot be told. */
export type Registered = { readonly identity: Omit<KeyIdentity, 'lineage'> } | { readonly problem: string };

/** The item of the keys table that a key is found by, and what API Gateway knows it by. */
export function valueOf(value: string): Pick<KeyIdentity, 'keyHash' | 'usageIdentifier'> {
  return isKeyHash(value)
    ? { keyHash: value, usageIdentifier: 'hash' }
    : { keyHash: hashApiKey(value), usageIdentifier: 'token' };
}

/**
 * Reads an API key of API Gateway, value included.
 *
 * @param customerPlan the usage plan it is on
 * @param hashOf the hash of another key by its id, for the successor of a rotated one
 */
export function readApiKey(
  { id = '', name = '', value = '', enabled = false, createdDate, tags = {} }: ApiKey,
  customerPlan: CustomerPlan,
  hashOf: (keyId: string) => string | undefined,
): Registered {
  if (!isKeyHash(value) && !isPlausibleApiKey(value)) return { problem: 'has a value that no bearer token can have' };
  const onKey = agreedLimits(tags);
  const limits = customerPlan.limits ?? onKey.limits;
  if (!limits)
    return { problem: onKey.problem ?? 'is on the Enterprise plan without agreed limits: tag it, or its plan' };

  const expires = tags[gatewayTags.expires];
  const expiresAt = expires === undefined ? undefined : isoTime(expires);
  if (Number.isNaN(expiresAt)) return { problem: `has a tag ${gatewayTags.expires} that is no ISO 8601 date` };
  const successor = tags[gatewayTags.replacedBy];
  if (successor === id) return { problem: 'was replaced by itself, says its tag' };
  const replacedBy = successor === undefined ? undefined : hashOf(successor);
  if (successor !== undefined && replacedBy === undefined)
    return { problem: `was replaced by ${successor}, which is gone` };
  return {
    identity: {
      ...valueOf(value),
      keyId: id,
      name: shortened(name),
      plan: customerPlan.plan,
      ...limits,
      enabled,
      createdAt: createdDate?.getTime() ?? 0,
      expiresAt,
      replacedBy,
    },
  };
}

function shortened(name: string): string {
  if (name.length <= MAX_NAME_LENGTH) return name;
  const cut = name.slice(0, MAX_NAME_LENGTH - 1);
  // Half of a character that takes two code units is none.
  return `${cut.isWellFormed() ? cut : cut.slice(0, -1)}…`;
}
