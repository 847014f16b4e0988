import { createHash } from 'node:crypto';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { gatewayTags } from '../../shared/key-registry/gateway-tags.ts';
import { apiKeyFrom, hashApiKey } from '../../shared/keys/api-key.ts';
import { type KeyIdentity, unusedCounters } from '../../shared/keys/key-record.ts';
import { type Limits, type PlanId, planIds, plans } from '../../shared/keys/plans.ts';
import type { GatewayRecords } from './gateway-records/gateway-records.ts';
import { templatePlans } from './gateway-records/template-records.ts';
import type { UsagePlan } from './gateway-records/usage-plan.ts';
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

/** The template's usage plan for a plan of the catalogue: by its tag, or by the title that its name ends with. */
export function usagePlanOf(records: GatewayRecords, plan: PlanId): UsagePlan | undefined {
  const candidates = templatePlans(records);
  return (
    candidates.find(({ tags }) => tags[gatewayTags.plan] === plan) ??
    candidates.find(({ tags, name }) => !(gatewayTags.plan in tags) && name.endsWith(` ${plans[plan].title}`))
  );
}

/**
 * Issues the demo keys, once per data folder: a key that an admin has changed or deleted stays so. Gateway records and
 * keys table can be of different ages, with another engine or a folder that was half deleted. So a key that the gateway
 * has not had yet gets what it lacks in either, and a table without any key gets back the demo keys that are left.
 */
export async function issueDemoKeys(
  client: DynamoDBDocumentClient,
  keysTable: string,
  records: GatewayRecords,
): Promise<Record<PlanId, string>> {
  const isTableEmpty = await hasNoItems(client, keysTable);
  for (const plan of planIds) {
    const identity = identityOf(plan);
    const isIssued = records.note(noteOf(plan)) !== undefined;
    const usagePlan = isIssued ? undefined : findUsagePlan(records, plan);
    const remaining = records.apiKey(identity.keyId);
    if (!isIssued) await putIfAbsent(client, keysTable, identity);
    else if (isTableEmpty && remaining)
      await putIfAbsent(client, keysTable, { ...identity, enabled: remaining.enabled });
    // The gateway comes last: should the host be killed in between, the next start does it all again.
    if (usagePlan) putInGateway(records, identity, usagePlan);
  }
  return {
    free: demoKey('free'),
    pro: demoKey('pro'),
    business: demoKey('business'),
    enterprise: demoKey('enterprise'),
  };
}

const noteOf = (plan: PlanId): string => `demoKeyIssued/${plan}`;

function identityOf(plan: PlanId): KeyIdentity {
  return {
    keyHash: hashApiKey(demoKey(plan)),
    keyId: `demo-${plan}`,
    lineage: `demo-${plan}`,
    name: `Demo ${plans[plan].title}`,
    plan,
    ...limitsOfDemoKey(plan),
    enabled: true,
    // In whole seconds, as API Gateway tells it.
    createdAt: Math.floor(Date.now() / 1_000) * 1_000,
    usageIdentifier: 'hash',
  };
}

function findUsagePlan(records: GatewayRecords, plan: PlanId): UsagePlan {
  const usagePlan = usagePlanOf(records, plan);
  if (!usagePlan) throw new HostError(`The template has no usage plan ${plans[plan].title}`);
  return usagePlan;
}

function putInGateway(records: GatewayRecords, identity: KeyIdentity, usagePlan: UsagePlan): void {
  const { keyId, keyHash, name, plan, perMinute, perDay, createdAt } = identity;
  const agreed = { [gatewayTags.perMinute]: String(perMinute), [gatewayTags.perDay]: String(perDay) };
  records.putApiKey({
    id: keyId,
    value: keyHash,
    name,
    enabled: true,
    createdAt,
    updatedAt: createdAt,
    tags: plans[plan].limits === 'agreed' ? agreed : {},
  });
  records.putOnPlan(usagePlan.id, keyId);
  records.setNote(noteOf(plan), new Date(createdAt).toISOString());
}

async function hasNoItems(client: DynamoDBDocumentClient, TableName: string): Promise<boolean> {
  const { Count } = await client.send(new ScanCommand({ TableName, Limit: 1, ConsistentRead: true }));
  return Count === 0;
}

async function putIfAbsent(client: DynamoDBDocumentClient, TableName: string, identity: KeyIdentity): Promise<void> {
  try {
    await client.send(
      new PutCommand({
        TableName,
        Item: { ...identity, ...unusedCounters, interimUntil: 0, revision: 1, revoked: false },
        ConditionExpression: 'attribute_not_exists(keyHash)',
      }),
    );
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  }
}
