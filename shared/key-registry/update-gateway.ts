import {
  CreateApiKeyCommand,
  CreateUsagePlanKeyCommand,
  DeleteApiKeyCommand,
  DeleteUsagePlanKeyCommand,
  type PatchOperation,
  TagResourceCommand,
  UntagResourceCommand,
  UpdateApiKeyCommand,
} from '@aws-sdk/client-api-gateway';
import { partition } from '@aws-sdk/core/client';
import type { KeyRecord } from '../keys/key-record.ts';
import { type PlanId, plans } from '../keys/plans.ts';
import { customerPlans, type ApiStage, type GatewayClients, ignoreNotFound } from './gateway.ts';
import { gatewayTags } from './gateway-tags.ts';
import type { KeyTable } from './key-table.ts';
import { liveKey, type LiveKey, readLiveKey } from './live-key.ts';
import { MAX_COMMAND_MS } from './reconcile.ts';

/** The two stores of keys: API Gateway and the keys table of a stage. */
export interface Registry extends GatewayClients {
  readonly keyTable: KeyTable;
  readonly apiStage: ApiStage;
}

/** Timeout of a call, in milliseconds. */
const MAX_CALL_MS = 20_000;

/** A change took too long, or API Gateway has no usage plan for it. A later sync completes it. */
export class NotAppliedError extends Error {
  override readonly name = 'NotAppliedError';
}

/** The current key in API Gateway; undefined if it does not exist there, or its record has no id yet. */
export const readLive = async (
  { gateway, apiStage }: Registry,
  { keyId }: Pick<KeyRecord, 'keyId'>,
): Promise<LiveKey | undefined> => (keyId === undefined ? undefined : readLiveKey(gateway, apiStage, keyId));

/**
 * Updates API Gateway to match a record. Each call is idempotent, has one attempt, and begins within a minute of
 * `unappliedSince`: a later one could undo a later command.
 *
 * @param live the key, read after the record
 * @returns the id of the key; a blocked one that is missing stays so until it is resumed
 * @throws NotAppliedError, or the SDK's error of the first call that fails or times out
 */
export async function updateGateway(
  registry: Registry,
  record: KeyRecord,
  live: LiveKey | undefined,
): Promise<string | undefined> {
  const key = live ?? (record.enabled ? await create(registry, record) : undefined);
  if (!key) return record.keyId;
  await update(registry, record, key);
  await tag(registry, record, key);
  await putOnPlan(registry, record, key);
  return key.keyId;
}

/** Deletes a key, if it exists. */
export async function deleteLiveKey({ gatewayOnce }: GatewayClients, keyId: string): Promise<void> {
  const abortSignal = AbortSignal.timeout(MAX_CALL_MS);
  await ignoreNotFound(gatewayOnce.send(new DeleteApiKeyCommand({ apiKey: keyId }), { abortSignal }));
}

/** Creates the key. API Gateway refuses a duplicate value: a sync finds the existing key in its lists. */
async function create({ gatewayOnce }: Registry, record: KeyRecord): Promise<LiveKey> {
  const { recordId: value, name, enabled } = record;
  const call = new CreateApiKeyCommand({ name, value, enabled, tags: tagsOf(record) });
  return liveKey({ ...(await gatewayOnce.send(call, inTime(record))), value }, undefined);
}

async function update({ gatewayOnce }: Registry, record: KeyRecord, live: LiveKey): Promise<void> {
  const { name, enabled } = record;
  const patchOperations: PatchOperation[] = [];
  if (name !== live.name) patchOperations.push({ op: 'replace', path: '/name', value: name });
  if (enabled !== live.enabled) patchOperations.push({ op: 'replace', path: '/enabled', value: String(enabled) });
  if (patchOperations.length === 0) return;
  await gatewayOnce.send(new UpdateApiKeyCommand({ apiKey: live.keyId, patchOperations }), inTime(record));
}

async function tag({ gateway, gatewayOnce }: Registry, record: KeyRecord, live: LiveKey): Promise<void> {
  const wanted = tagsOf(record);
  const tags = Object.fromEntries(Object.entries(wanted).filter(([name, text]) => live.tags[name] !== text));
  const tagKeys = OWN_TAGS.filter((name) => name in live.tags && !(name in wanted));
  const resourceArn = apiKeyArn(await gateway.config.region(), live.keyId);
  if (Object.keys(tags).length > 0)
    await gatewayOnce.send(new TagResourceCommand({ resourceArn, tags }), inTime(record));
  if (tagKeys.length > 0) await gatewayOnce.send(new UntagResourceCommand({ resourceArn, tagKeys }), inTime(record));
}

export const apiKeyArn = (region: string, keyId: string): string =>
  `arn:${partition(region).name}:apigateway:${region}::/apikeys/${keyId}`;

/** Puts the key on its plan. API Gateway refuses a key that is on another of the same stage. */
async function putOnPlan(registry: Registry, record: KeyRecord, live: LiveKey): Promise<void> {
  const { keyId, usagePlanId: current, fields } = live;
  if (fields?.plan === record.plan) return;
  const usagePlanId = await usagePlanIdOf(registry, record.plan);
  if (usagePlanId === current) return;
  if (current !== undefined) {
    const takeOff = new DeleteUsagePlanKeyCommand({ usagePlanId: current, keyId });
    await ignoreNotFound(registry.gatewayOnce.send(takeOff, inTime(record)));
  }
  const put = new CreateUsagePlanKeyCommand({ usagePlanId, keyId, keyType: 'API_KEY' });
  await registry.gatewayOnce.send(put, inTime(record));
}

/** @throws NotAppliedError once the minute has passed */
function inTime({ unappliedSince = 0 }: KeyRecord): { readonly abortSignal: AbortSignal } {
  const left = unappliedSince + MAX_COMMAND_MS - Date.now();
  if (left <= 0) throw new NotAppliedError('It took more than a minute');
  return { abortSignal: AbortSignal.timeout(Math.min(left, MAX_CALL_MS)) };
}

const OWN_TAGS = [gatewayTags.perMinute, gatewayTags.perDay, gatewayTags.expires];

function tagsOf({ plan, perMinute, perDay, expiresAtMs }: KeyRecord): Record<string, string> {
  const limits = { [gatewayTags.perMinute]: String(perMinute), [gatewayTags.perDay]: String(perDay) };
  return {
    ...(plans[plan].limits === 'agreed' && limits),
    ...(expiresAtMs !== undefined && { [gatewayTags.expires]: new Date(expiresAtMs).toISOString() }),
  };
}

/** The id of the usage plan of a plan. @throws NotAppliedError if there is none */
export async function usagePlanIdOf({ gateway, apiStage }: Registry, plan: PlanId): Promise<string> {
  const found = (await customerPlans(gateway, apiStage)).find((usagePlan) => usagePlan.plan === plan);
  if (found) return found.usagePlanId;
  throw new NotAppliedError(
    `API Gateway has no usage plan for ${plans[plan].title}. Deploy the stack again to create it.`,
  );
}
