import { createHash } from 'node:crypto';
import { HostError } from '../host-error.ts';
import type { LocalStack, Resource } from '../template/stack.ts';
import type { GatewayRecords } from './gateway-records.ts';
import { sharedStages, type UsagePlan } from './usage-plan.ts';

/** Notes of what the template set a resource to when its record was last made from it. */
const NOTE = 'template/';

/**
 * Makes the records of the usage plans and API keys in the template, and puts its keys on its plans. What an admin has
 * changed since the last start stays, unless the template now says something else of that resource than it did then.
 * What is no longer in the template goes.
 *
 * @throws HostError on a reference to another stack
 */
export function applyTemplate(records: GatewayRecords, stack: LocalStack): void {
  const plans = stack.resources('AWS::ApiGateway::UsagePlan');
  const keys = stack.resources('AWS::ApiGateway::ApiKey');
  const planKeys = stack.resources('AWS::ApiGateway::UsagePlanKey');
  const present = new Set([...plans, ...keys, ...planKeys].map(({ logicalId }) => logicalId));

  for (const name of records.notesBelow(NOTE)) {
    if (!present.has(name.slice(NOTE.length))) remove(records, name);
  }
  const absent = new Set([...plans, ...keys].flatMap(({ ref }) => (isThere(records, ref) ? [] : ref)));
  for (const plan of plans) {
    if (noteChange(records, plan, '')) records.putUsagePlan(planOf(plan));
  }
  for (const key of keys) {
    if (noteChange(records, key, '')) putKey(records, key);
  }
  for (const planKey of planKeys) putOnPlan(records, planKey, { plans, keys, absent });
}

function isThere(records: GatewayRecords, id: string): boolean {
  return records.usagePlan(id) !== undefined || records.apiKey(id) !== undefined;
}

/** The usage plans of the template that are there, in its order. */
export function templatePlans(records: GatewayRecords): UsagePlan[] {
  return records.usagePlans.filter(({ id }) => records.note(NOTE + id) !== undefined);
}

type TemplateResource = Resource<
  'AWS::ApiGateway::UsagePlan' | 'AWS::ApiGateway::ApiKey' | 'AWS::ApiGateway::UsagePlanKey'
>;

/** Whether the template says something new of a resource. @param kept what the note has to tell later */
function noteChange(records: GatewayRecords, { logicalId, properties }: TemplateResource, kept: string): boolean {
  const digest = createHash('sha256').update(JSON.stringify(properties)).digest('hex');
  const note = kept === '' ? digest : `${digest} ${kept}`;
  if (records.note(NOTE + logicalId) === note) return false;
  records.setNote(NOTE + logicalId, note);
  return true;
}

function planOf({ ref, properties }: Resource<'AWS::ApiGateway::UsagePlan'>): UsagePlan {
  const { UsagePlanName, ApiStages, Throttle, Quota, Tags } = properties;
  return {
    id: ref,
    name: UsagePlanName,
    apiStages: ApiStages.map(({ ApiId, Stage }) => ({ apiId: ApiId, stage: Stage })),
    throttle: Throttle && { rateLimit: Throttle.RateLimit, burstLimit: Throttle.BurstLimit },
    quota: Quota && { limit: Quota.Limit },
    tags: Tags,
  };
}

function putKey(records: GatewayRecords, { logicalId, ref, properties }: Resource<'AWS::ApiGateway::ApiKey'>): void {
  const { Value, Enabled, Description, Tags } = properties;
  const holder = records.apiKeyWithValue(Value);
  if (holder && holder.id !== ref) {
    throw new HostError(`Resource ${logicalId}: the API key ${holder.id} in the data folder has the same value`);
  }
  const now = Date.now();
  const createdAt = records.apiKey(ref)?.createdAt ?? now;
  records.putApiKey({
    id: ref,
    value: Value,
    enabled: Enabled,
    description: Description,
    createdAt,
    updatedAt: now,
    tags: Tags,
  });
}

interface InTemplate {
  readonly plans: readonly Resource<'AWS::ApiGateway::UsagePlan'>[];
  readonly keys: readonly Resource<'AWS::ApiGateway::ApiKey'>[];
  /** The plans and keys that were not there before. */
  readonly absent: ReadonlySet<string>;
}

function putOnPlan(
  records: GatewayRecords,
  planKey: Resource<'AWS::ApiGateway::UsagePlanKey'>,
  { plans, keys, absent }: InTemplate,
): void {
  const { logicalId, properties } = planKey;
  const { KeyId, UsagePlanId } = properties;
  if (!has(keys, KeyId)) throw new HostError(`Resource ${logicalId}: the template has no API key ${KeyId}`);
  if (!has(plans, UsagePlanId)) {
    throw new HostError(`Resource ${logicalId}: the template has no usage plan ${UsagePlanId}`);
  }
  const former = records.note(NOTE + logicalId);
  const isNew = noteChange(records, planKey, `${UsagePlanId}/${KeyId}`);
  if (isNew) leavePlan(records, former);
  // A plan or key that was deleted and is back would otherwise be without the other.
  const isBack = absent.has(KeyId) || absent.has(UsagePlanId);
  const plan = records.usagePlan(UsagePlanId);
  if (!plan || !records.apiKey(KeyId) || !(isNew || isBack)) return;
  for (const other of records.plansOfKey(KeyId)) {
    if (sharedStages(other, plan).length > 0) records.removeFromPlan(other.id, KeyId);
  }
  records.putOnPlan(UsagePlanId, KeyId);
}

function has(resources: readonly { readonly ref: string }[], id: string): boolean {
  return resources.some(({ ref }) => ref === id);
}

/** Removes the record that a note is about. */
function remove(records: GatewayRecords, noteName: string): void {
  const id = noteName.slice(NOTE.length);
  leavePlan(records, records.note(noteName));
  if (records.usagePlan(id)) records.deleteUsagePlan(id);
  if (records.apiKey(id)) records.deleteApiKey(id);
  records.setNote(noteName, undefined);
}

/** Takes the key off the plan that the note of a usage plan key names. */
function leavePlan(records: GatewayRecords, note: string | undefined): void {
  const [, planId, keyId] = /^\S+ (.+)\/(.+)$/.exec(note ?? '') ?? [];
  if (planId !== undefined && keyId !== undefined) records.removeFromPlan(planId, keyId);
}
