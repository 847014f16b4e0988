import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { gatewayTags } from '../../shared/key-registry/gateway-tags.ts';
import { type KeyIdentity, KeyTable, newRecord } from '../../shared/key-registry/key-table.ts';
import { tokenEntry } from '../../shared/key-registry/key-tokens.ts';
import { type PlanId, planIds, plans } from '../../shared/keys/plans.ts';
import { parseToken } from '../../shared/keys/token.ts';
import { nextStep } from '../../shared/keys/verdict.ts';
import { demoKey, limitsOfDemoKey } from '../demo-keys.ts';
import type { GatewayRecords, UsagePlan } from './control-plane/gateway-records.ts';
import { HostError } from './host-error.ts';

/** The template's usage plan for a plan of the catalogue. */
export function templatePlanOf(records: GatewayRecords, plan: PlanId): UsagePlan | undefined {
  return records.usagePlans.find(({ tags }) => tags[gatewayTags.plan] === plan);
}

/**
 * Issues the demo keys, once per data folder: a key that an admin has changed or deleted stays so. A key that the
 * gateway has gets its record in the table where that is missing, as with another engine or a half deleted folder.
 *
 * @returns the plans whose demo key opens this host
 */
export async function issueDemoKeys(
  client: DynamoDBDocumentClient,
  keysTable: string,
  records: GatewayRecords,
): Promise<Set<PlanId>> {
  const table = new KeyTable(client, keysTable);
  for (const plan of planIds) {
    const identity = identityOf(plan);
    const note = `demoKeyIssued/${plan}`;
    const isIssued = records.notes.has(note);
    const gatewayKey = records.apiKey(identity.keyId);
    if (isIssued && !gatewayKey) continue;
    const usagePlan = templatePlanOf(records, plan);
    if (!isIssued && !usagePlan) throw new HostError(`The template has no usage plan ${plans[plan].title}`);
    const tokens = tokenEntry(demoKey(plan), {}, identity.createdAt);
    // What is there already stays.
    await table.add(newRecord({ ...identity, enabled: gatewayKey?.enabled ?? true }, { tokens }));
    if (isIssued || !usagePlan) continue;
    // The gateway comes last: should the host be killed in between, the next start does it all again.
    putInGateway(records, identity, usagePlan);
    records.notes.set(note, new Date(identity.createdAt).toISOString());
  }
  // The table may not have followed the gateway yet.
  const enabled = planIds.filter((plan) => records.apiKey(identityOf(plan).keyId)?.enabled);
  const opens = await Promise.all(enabled.map((plan) => isOpen(table, demoKey(plan))));
  return new Set(enabled.filter((_, at) => opens[at]));
}

type DemoKey = KeyIdentity & { readonly keyId: string };

/** Whether requests with a token are let in, or refused for no more than a used up limit. */
async function isOpen(table: KeyTable, text: string): Promise<boolean> {
  const token = parseToken(text);
  const now = Date.now();
  const record = token && (await table.get(token.recordId));
  return 'window' in nextStep(record, token?.hash ?? '', now);
}

function identityOf(plan: PlanId): DemoKey {
  return {
    recordId: parseToken(demoKey(plan))?.recordId ?? '',
    keyId: `demo-${plan}`,
    name: `Demo ${plans[plan].title}`,
    plan,
    ...limitsOfDemoKey(plan),
    enabled: true,
    // In whole seconds, as in API Gateway.
    createdAt: Math.floor(Date.now() / 1_000) * 1_000,
  };
}

function putInGateway(records: GatewayRecords, identity: DemoKey, usagePlan: UsagePlan): void {
  const { keyId, recordId, name, plan, perMinute, perDay, createdAt } = identity;
  const agreed = { [gatewayTags.perMinute]: String(perMinute), [gatewayTags.perDay]: String(perDay) };
  records.putApiKey({
    id: keyId,
    value: recordId,
    name,
    enabled: true,
    createdAt,
    tags: plans[plan].limits === 'agreed' ? agreed : {},
  });
  records.putOnPlan(usagePlan.id, keyId);
}
