import {
  type APIGatewayClient,
  ConflictException,
  CreateApiKeyCommand,
  CreateUsagePlanKeyCommand,
  DeleteApiKeyCommand,
  DeleteUsagePlanKeyCommand,
  type PatchOperation,
  TagResourceCommand,
  UntagResourceCommand,
  UpdateApiKeyCommand,
} from '@aws-sdk/client-api-gateway';
import { idOf, type KeyRecord } from '../keys/key-record.ts';
import { type PlanId, plans } from '../keys/plans.ts';
import { isIssued } from '../keys/token.ts';
import { customerPlans } from './customer-plan.ts';
import { type ApiStage, type GatewayClients, ignoreNotFound } from './gateway-client.ts';
import { gatewayTags } from './gateway-tags.ts';
import type { KeyTable } from './key-table.ts';
import { keyIdOfRecord, liveKey, type LiveKey, readLiveKey } from './live-key.ts';
import { AT_WORK_MS } from './reconcile.ts';

/** Where keys are: API Gateway and the keys table of a stage. */
export interface Registry extends GatewayClients {
  readonly keyTable: KeyTable;
  readonly apiStage: ApiStage;
}

/** No answer is waited for longer, in milliseconds. */
const LONGEST_CALL_MS = 20_000;

/** A change took too long; or API Gateway has no usage plan for it. A later sync does the rest. */
export class NotAppliedError extends Error {
  override readonly name = 'NotAppliedError';
}

/** The key of a record as it is now in API Gateway; undefined where it is not there. */
export async function lookAt({ gateway, apiStage }: Registry, record: KeyRecord): Promise<LiveKey | undefined> {
  const known = record.keyId === undefined ? undefined : await readLiveKey(gateway, apiStage, record.keyId);
  if (known) return known;
  // It was not made yet, or was deleted and made again.
  const keyId = await keyIdOfRecord(gateway, record);
  return keyId === undefined ? undefined : readLiveKey(gateway, apiStage, keyId);
}

/**
 * Makes API Gateway say what a record says. Each call may be made again, is tried once, and begins within a minute of
 * `unappliedSince`: one that is later could undo what a later command has done.
 *
 * @param live the key as it was read after the record was
 * @returns the id of the key
 * @throws NotAppliedError, or what the SDK throws at the first call that fails or is not answered
 */
export async function apply(registry: Registry, record: KeyRecord, live: LiveKey | undefined): Promise<string> {
  const change = new Application(registry, record);
  const key = live ?? (await change.create());
  if (!key) throw new NotAppliedError(`API Gateway could not make the key ${idOf(record)}`);
  await change.update(key);
  await change.tag(key);
  await change.putOnPlan(key);
  return key.keyId;
}

/** Deletes a key, if it is there. */
export async function deleteLiveKey({ gatewayOnce }: GatewayClients, keyId: string): Promise<void> {
  const abortSignal = AbortSignal.timeout(LONGEST_CALL_MS);
  await ignoreNotFound(gatewayOnce.send(new DeleteApiKeyCommand({ apiKey: keyId }), { abortSignal }));
}

class Application {
  readonly #registry: Registry;
  readonly #record: KeyRecord;

  constructor(registry: Registry, record: KeyRecord) {
    this.#registry = registry;
    this.#record = record;
  }

  /** Makes the key; adopts the one that has its value. */
  async create(): Promise<LiveKey | undefined> {
    const { recordId: value, name, enabled } = this.#record;
    if (!isIssued(value)) throw new NotAppliedError('It was made by hand, and only that can make it again');
    const create = new CreateApiKeyCommand({ name, value, enabled, tags: tagsOf(this.#record) });
    try {
      const created = await this.#call((client, end) => client.send(create, end));
      return liveKey({ ...created, value }, undefined);
    } catch (error) {
      if (!(error instanceof ConflictException)) throw error;
      return lookAt(this.#registry, { ...this.#record, keyId: undefined });
    }
  }

  async update(live: LiveKey): Promise<void> {
    const { name, enabled } = this.#record;
    const patchOperations: PatchOperation[] = [];
    if (name !== live.name) patchOperations.push({ op: 'replace', path: '/name', value: name });
    if (enabled !== live.enabled) patchOperations.push({ op: 'replace', path: '/enabled', value: String(enabled) });
    if (patchOperations.length === 0) return;
    const update = new UpdateApiKeyCommand({ apiKey: live.keyId, patchOperations });
    await this.#call((client, end) => client.send(update, end));
  }

  async tag({ keyId, tags: live }: LiveKey): Promise<void> {
    const wanted = tagsOf(this.#record);
    const added = Object.entries(wanted).filter(([name, text]) => live[name] !== text);
    const tagKeys = OWN_TAGS.filter((name) => name in live && !(name in wanted));
    const resourceArn = `arn:aws:apigateway:${await this.#registry.gateway.config.region()}::/apikeys/${keyId}`;
    const tags = Object.fromEntries(added);
    if (added.length > 0)
      await this.#call((client, end) => client.send(new TagResourceCommand({ resourceArn, tags }), end));
    if (tagKeys.length > 0)
      await this.#call((client, end) => client.send(new UntagResourceCommand({ resourceArn, tagKeys }), end));
  }

  /** Puts the key on its plan. API Gateway refuses a key that is on another of the same stage. */
  async putOnPlan({ keyId, usagePlanId: current, reading }: LiveKey): Promise<void> {
    if (reading && 'fields' in reading && reading.fields.plan === this.#record.plan) return;
    const usagePlanId = await usagePlanIdOf(this.#registry, this.#record.plan);
    if (usagePlanId === current) return;
    if (current !== undefined) await this.#takeOff(current, keyId);
    const put = new CreateUsagePlanKeyCommand({ usagePlanId, keyId, keyType: 'API_KEY' });
    try {
      await this.#call((client, end) => client.send(put, end));
    } catch (error) {
      if (!(error instanceof ConflictException)) throw error;
      const { gateway, apiStage } = this.#registry;
      const now = (await readLiveKey(gateway, apiStage, keyId))?.usagePlanId;
      if (now === usagePlanId) return;
      // It was moved meanwhile, or API Gateway is at another call for it.
      if (now !== undefined) await this.#takeOff(now, keyId);
      await this.#call((client, end) => client.send(put, end));
    }
  }

  async #takeOff(usagePlanId: string, keyId: string): Promise<void> {
    const take = new DeleteUsagePlanKeyCommand({ usagePlanId, keyId });
    await ignoreNotFound(this.#call((client, end) => client.send(take, end)));
  }

  #call<Answer>(send: (client: APIGatewayClient, end: { readonly abortSignal: AbortSignal }) => Promise<Answer>) {
    const left = (this.#record.unappliedSince ?? 0) + AT_WORK_MS - Date.now();
    if (left <= 0) throw new NotAppliedError('It took more than a minute');
    const abortSignal = AbortSignal.timeout(Math.min(left, LONGEST_CALL_MS));
    return send(this.#registry.gatewayOnce, { abortSignal });
  }
}

const OWN_TAGS = [gatewayTags.perMinute, gatewayTags.perDay, gatewayTags.expires];

/** The tags that a key is to have. */
function tagsOf({ plan, perMinute, perDay, expiresAt }: KeyRecord): Record<string, string> {
  const limits = { [gatewayTags.perMinute]: String(perMinute), [gatewayTags.perDay]: String(perDay) };
  return {
    ...(plans[plan].limits === 'agreed' && limits),
    ...(expiresAt !== undefined && { [gatewayTags.expires]: new Date(expiresAt).toISOString() }),
  };
}

/** The id of the usage plan of a plan. @throws NotAppliedError where there is none */
export async function usagePlanIdOf({ gateway, apiStage }: Registry, plan: PlanId): Promise<string> {
  const found = (await customerPlans(gateway, apiStage)).plans.find((usagePlan) => usagePlan.plan === plan);
  if (found) return found.usagePlanId;
  throw new NotAppliedError(
    `API Gateway has no usage plan for ${plans[plan].title}. Deploy the stack again: it makes one.`,
  );
}
