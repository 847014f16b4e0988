import { createHash } from 'node:crypto';
import { HostError } from '../host-error.ts';
import type { ServedStack, Resource } from '../template/stack.ts';
import type { GatewayRecords } from './gateway-records.ts';
import type { UsagePlan } from './records.ts';

/** Prefix of the notes that hold the digest of a usage plan or an API key in the template that its record was made from. */
const NOTE = 'template/';

/**
 * Makes the records of the template's usage plans and API keys, and puts its keys on its plans. A usage plan that an
 * admin has changed or deleted since the last start stays so, unless the template has changed it since. The
 * template's keys are no customer's: they are as the template has them at every start. What the template no longer has
 * is removed.
 *
 * @throws HostError on a reference to another stack, or on a key whose value another key has
 */
export function applyTemplate(records: GatewayRecords, stack: ServedStack): void {
  const plans = stack.resources('AWS::ApiGateway::UsagePlan');
  const keys = stack.resources('AWS::ApiGateway::ApiKey');
  const ids = new Set([...plans, ...keys].map(({ ref }) => ref));
  for (const note of [...records.notes.keys()].filter((name) => name.startsWith(NOTE))) {
    const id = note.slice(NOTE.length);
    if (ids.has(id)) continue;
    records.deleteUsagePlan(id);
    records.deleteApiKey(id);
    records.notes.delete(note);
  }
  for (const { ref, properties } of plans) {
    const digest = createHash('sha256').update(JSON.stringify(properties)).digest('hex');
    if (records.notes.get(NOTE + ref) !== digest) records.putUsagePlan(planOf(ref, properties));
    records.notes.set(NOTE + ref, digest);
  }
  for (const key of keys) {
    putKey(records, key);
    records.notes.set(NOTE + key.ref, '');
  }
  for (const { logicalId, properties } of stack.resources('AWS::ApiGateway::UsagePlanKey')) {
    const { KeyId, UsagePlanId } = properties;
    const unknown = [KeyId, UsagePlanId].find((id) => !ids.has(id));
    if (unknown !== undefined) throw new HostError(`Resource ${logicalId}: the template has no ${unknown}`);
    for (const other of records.plansOfKey(KeyId)) records.removeFromPlan(other.id, KeyId);
    if (records.usagePlan(UsagePlanId)) records.putOnPlan(UsagePlanId, KeyId);
  }
}

/** The usage plans of the template that are there, in its order. */
export function templatePlans(records: GatewayRecords): UsagePlan[] {
  return records.usagePlans.filter(({ id }) => records.notes.has(NOTE + id));
}

function planOf(id: string, properties: Resource<'AWS::ApiGateway::UsagePlan'>['properties']): UsagePlan {
  const { UsagePlanName, ApiStages, Throttle, Quota, Tags } = properties;
  return {
    id,
    name: UsagePlanName,
    apiStages: ApiStages.map(({ ApiId, Stage }) => ({ apiId: ApiId, stage: Stage })),
    throttle: Throttle && { rateLimit: Throttle.RateLimit, burstLimit: Throttle.BurstLimit },
    quota: Quota && { limit: Quota.Limit },
    tags: Tags,
  };
}

function putKey(records: GatewayRecords, { logicalId, ref, properties }: Resource<'AWS::ApiGateway::ApiKey'>): void {
  const { Value: value, Enabled: enabled, Description: description, Tags: tags } = properties;
  const holder = records.apiKeyWithValue(value);
  if (holder && holder.id !== ref) {
    throw new HostError(`Resource ${logicalId}: the API key ${holder.id} in the data folder has the same value`);
  }
  const now = Date.now();
  const createdAt = records.apiKey(ref)?.createdAt ?? now;
  records.putApiKey({ id: ref, value, enabled, description, createdAt, updatedAt: now, tags });
}
