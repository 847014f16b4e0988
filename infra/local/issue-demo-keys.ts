import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { gatewayTags } from '../../shared/key-registry/gateway-tags.ts';
import { KeyTable } from '../../shared/key-registry/key-table.ts';
import { newRecord, tokenEntry } from '../../shared/key-registry/record-changes.ts';
import { type PlanId, planIds, plans } from '../../shared/keys/plans.ts';
import { parseToken } from '../../shared/keys/token.ts';
import { nextStep } from '../../shared/keys/verdict.ts';
import { demoKey, limitsOfDemoKey } from '../demo-keys.ts';
import type { GatewayRecords, UsagePlan } from './control-plane/gateway-records.ts';
import { HostError } from './host-error.ts';

/** The template's usage plan for a plan of the catalog. */
export function templatePlanOf(records: GatewayRecords, plan: PlanId): UsagePlan | undefined {
  return records.usagePlans.find(({ tags }) => tags[gatewayTags.plan] === plan);
}

/**
 * Issues the demo keys once for the tables and the gateway's state: a key that an admin has changed or deleted stays
 * so.
 *
 * @returns the plans whose demo key is valid here
 */
export async function issueDemoKeys(
  client: DynamoDBDocumentClient,
  keysTable: string,
  records: GatewayRecords,
): Promise<Set<PlanId>> {
  const table = new KeyTable(client, keysTable);
  const opens = await Promise.all(
    planIds.map(async (plan) => {
      const note = `demoKeyIssued/${plan}`;
      if (!records.notes.has(note)) await issue(table, records, plan);
      records.notes.set(note, '');
      return isOpen(table, records, plan);
    }),
  );
  return new Set(planIds.filter((_, at) => opens[at]));
}

/**
 * Existing items stay. The gateway comes last: if the server is killed in between, the next start does it all
 * again.
 */
async function issue(table: KeyTable, records: GatewayRecords, plan: PlanId): Promise<void> {
  const usagePlan = templatePlanOf(records, plan);
  if (!usagePlan) throw new HostError(`The template has no usage plan ${plans[plan].title}`);
  const recordId = recordIdOf(plan);
  // In whole seconds, as in API Gateway.
  const createdAt = Math.floor(Date.now() / 1_000) * 1_000;
  const gatewayKey = { id: idOf(plan), name: `Demo ${plans[plan].title}`, enabled: true, createdAt };
  const { id: keyId, ...identity } = gatewayKey;
  const limits = limitsOfDemoKey(plan);
  const tokens = tokenEntry(demoKey(plan), {}, createdAt);
  await table.add(newRecord({ ...identity, ...limits, recordId, keyId, plan, tokens }));
  const { perMinute, perDay } = limits;
  const agreed = { [gatewayTags.perMinute]: String(perMinute), [gatewayTags.perDay]: String(perDay) };
  records.putApiKey({ ...gatewayKey, value: recordId, tags: plans[plan].limits === 'agreed' ? agreed : {} });
  records.putOnPlan(usagePlan.id, keyId);
}

/** Whether requests with a demo key are admitted, or refused only for an exhausted limit. */
async function isOpen(table: KeyTable, records: GatewayRecords, plan: PlanId): Promise<boolean> {
  // The table may not have followed the gateway yet.
  if (!records.apiKey(idOf(plan))?.enabled) return false;
  const record = await table.get(recordIdOf(plan));
  return 'window' in nextStep(record, parseToken(demoKey(plan))?.hash ?? '', Date.now());
}

const idOf = (plan: PlanId): string => `demo-${plan}`;

const recordIdOf = (plan: PlanId): string => parseToken(demoKey(plan))?.recordId ?? '';
