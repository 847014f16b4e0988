import { createHash } from 'node:crypto';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { apiKeyFrom, hashApiKey } from '../../shared/keys/api-key.ts';
import { type KeyIdentity, unusedCounters } from '../../shared/keys/key-record.ts';
import { type Limits, type PlanId, planIds, plans } from '../../shared/keys/plans.ts';
import type { UsagePlans } from './gateway/usage-plans.ts';
import { HostError } from './host-error.ts';

/** What the demo customer of the Enterprise plan has agreed. */
const ENTERPRISE_DEMO_LIMITS: Limits = { perMinute: 60_000, perDay: 10_000_000 };

/**
 * The demo key of a plan: the same on every machine, so that an example in the docs works as it stands, and no file
 * has to hold a key. It opens nothing but local hosts.
 */
export function demoKey(plan: PlanId): string {
  const digest = createHash('sha256').update(`demo key of the ${plan} plan`).digest('hex');
  return apiKeyFrom(`Demo${plan}`.padEnd(40, digest));
}

export const limitsOfDemoKey = (plan: PlanId): Limits => {
  const { limits } = plans[plan];
  return limits === 'agreed' ? ENTERPRISE_DEMO_LIMITS : limits;
};

/** Issues the demo keys that are not there yet. A key that an admin has changed stays as it is. */
export async function issueDemoKeys(
  client: DynamoDBDocumentClient,
  keysTable: string,
  usagePlans: UsagePlans,
): Promise<Record<PlanId, string>> {
  for (const plan of planIds) {
    const keyHash = hashApiKey(demoKey(plan));
    const identity: KeyIdentity = {
      keyHash,
      keyId: `demo-${plan}`,
      name: `Demo ${plans[plan].title}`,
      plan,
      ...limitsOfDemoKey(plan),
      enabled: true,
      createdAt: Date.now(),
      usageIdentifier: 'hash',
    };
    const usagePlan = usagePlans.planTitled(plans[plan].title);
    if (!usagePlan) throw new HostError(`The template has no usage plan ${plans[plan].title}`);
    usagePlans.addKey({ id: identity.keyId, value: keyHash, enabled: true }, usagePlan.id);
    await putIfAbsent(client, keysTable, identity);
  }
  return {
    free: demoKey('free'),
    pro: demoKey('pro'),
    business: demoKey('business'),
    enterprise: demoKey('enterprise'),
  };
}

async function putIfAbsent(client: DynamoDBDocumentClient, TableName: string, identity: KeyIdentity): Promise<void> {
  try {
    await client.send(
      new PutCommand({
        TableName,
        Item: { ...identity, ...unusedCounters },
        ConditionExpression: 'attribute_not_exists(keyHash)',
      }),
    );
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  }
}
