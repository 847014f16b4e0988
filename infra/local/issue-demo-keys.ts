import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { gatewayTags } from '../../shared/key-registry/gateway-tags.ts';
import { KeyTable } from '../../shared/key-registry/key-table.ts';
import { newRecord, tokenEntry } from '../../shared/key-registry/record-changes.ts';
import { type PlanId, planIds, plans } from '../../shared/keys/plans.ts';
import { parseToken } from '../../shared/keys/token.ts';
import { demoKey, limitsOfDemoKey } from '../demo-keys.ts';
import type { GatewayRecords, UsagePlan } from './control-plane/gateway-records.ts';
import { LocalServerError } from './local-server-error.ts';

/** The template's usage plan for a plan of the catalog. */
export function templatePlanOf(records: GatewayRecords, plan: PlanId): UsagePlan | undefined {
  return records.usagePlans.find(({ tags }) => tags[gatewayTags.plan] === plan);
}

/** Issues the demo keys once: a key that an admin has changed or deleted stays so. */
export async function issueDemoKeys(
  client: DynamoDBDocumentClient,
  keysTable: string,
  records: GatewayRecords,
): Promise<void> {
  const table = new KeyTable(client, keysTable);
  const missing = planIds.filter((plan) => !records.issuedDemoKeys.has(plan));
  await Promise.all(missing.map((plan) => issue(table, records, plan)));
}

/** Existing key records stay. The item that it is issued comes last: the next start repairs one that was killed. */
async function issue(table: KeyTable, records: GatewayRecords, plan: PlanId): Promise<void> {
  const usagePlan = templatePlanOf(records, plan);
  if (!usagePlan) throw new LocalServerError(`The template has no usage plan ${plans[plan].title}`);
  const recordId = parseToken(demoKey(plan))?.recordId ?? '';
  const keyId = `demo-${plan}`;
  // In whole seconds, as in API Gateway.
  const createdAt = Math.floor(Date.now() / 1_000) * 1_000;
  const identity = { name: `Demo ${plans[plan].title}`, enabled: true, createdAt };
  const limits = limitsOfDemoKey(plan);
  const tokens = tokenEntry(demoKey(plan), {}, createdAt);
  await table.add(newRecord({ ...identity, ...limits, recordId, keyId, plan, tokens }));
  const { perMinute, perDay } = limits;
  const agreed = { [gatewayTags.perMinute]: String(perMinute), [gatewayTags.perDay]: String(perDay) };
  const tags = plans[plan].limits === 'agreed' ? agreed : {};
  await records.saveApiKey({ ...identity, id: keyId, value: recordId, tags, planId: usagePlan.id });
  await records.saveIssuedDemoKey(plan);
}
