import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ApiKey,
  ConflictException,
  CreateUsagePlanKeyCommand,
  DeleteApiKeyCommand,
  DeleteUsagePlanKeyCommand,
  GetApiKeyCommand,
  NotFoundException,
  paginateGetApiKeys,
  TagResourceCommand,
  UntagResourceCommand,
  UpdateApiKeyCommand,
} from '@aws-sdk/client-api-gateway';
import { customerPlans } from '../../../shared/key-registry/customer-plan.ts';
import { PAGE_SIZE } from '../../../shared/key-registry/gateway-client.ts';
import { gatewayTags } from '../../../shared/key-registry/gateway-tags.ts';
import type { Limits } from '../../../shared/keys/plans.ts';
import { AdminError } from '../admin-error.ts';
import type { Target } from '../target.ts';

/** API Gateway puts one key on a plan at a time; it refuses a second call meanwhile with a conflict. */
const MAX_TRIES = 8;

/** Makes a call to API Gateway about something that may be gone. @returns its answer; undefined where it is gone */
export async function unlessGone<Answer>(call: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof NotFoundException) return undefined;
    throw error;
  }
}

/** The key in API Gateway, value included; undefined where there is none. */
export function getApiKey({ gateway }: Target, apiKey: string): Promise<ApiKey | undefined> {
  return unlessGone(gateway.send(new GetApiKeyCommand({ apiKey, includeValue: true })));
}

/** All keys of exactly this name, values included. */
export async function apiKeysNamed({ gateway: client }: Target, name: string): Promise<ApiKey[]> {
  const found: ApiKey[] = [];
  const query = { nameQuery: name, includeValues: true };
  for await (const { items = [] } of paginateGetApiKeys({ client, pageSize: PAGE_SIZE }, query)) {
    found.push(...items.filter((apiKey) => apiKey.name === name));
  }
  return found;
}

/** Enables or disables a key in API Gateway. @returns whether it is there */
export async function setEnabled({ gateway }: Target, apiKey: string, enabled: boolean): Promise<boolean> {
  const patchOperations = [{ op: 'replace' as const, path: '/enabled', value: String(enabled) }];
  return (await unlessGone(gateway.send(new UpdateApiKeyCommand({ apiKey, patchOperations })))) !== undefined;
}

export async function deleteApiKey({ gateway }: Target, apiKey: string): Promise<void> {
  await unlessGone(gateway.send(new DeleteApiKeyCommand({ apiKey })));
}

/** Sets tags of a key, if it is there. */
export async function tag({ gateway }: Target, id: string, tags: Record<string, string>): Promise<void> {
  const resourceArn = await arnOf(gateway, id);
  await unlessGone(gateway.send(new TagResourceCommand({ resourceArn, tags })));
}

/** Takes tags of a key away, where they and the key are there. */
export async function untag({ gateway }: Target, id: string, ...tagKeys: string[]): Promise<void> {
  const resourceArn = await arnOf(gateway, id);
  await unlessGone(gateway.send(new UntagResourceCommand({ resourceArn, tagKeys })));
}

async function arnOf(gateway: Target['gateway'], id: string): Promise<string> {
  return `arn:aws:apigateway:${await gateway.config.region()}::/apikeys/${id}`;
}

/** The limits of a key on the Enterprise plan. */
export const limitTags = ({ perMinute, perDay }: Limits): Record<string, string> => ({
  [gatewayTags.perMinute]: String(perMinute),
  [gatewayTags.perDay]: String(perDay),
});

/**
 * Puts a key on a usage plan, if it is not there yet.
 *
 * @throws AdminError where it is on another plan of the stage, or the key or the plan is gone
 */
export async function putOnPlan(target: Target, keyId: string, usagePlanId: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await target.gateway.send(new CreateUsagePlanKeyCommand({ usagePlanId, keyId, keyType: 'API_KEY' }));
      return;
    } catch (error) {
      if (error instanceof NotFoundException)
        throw new AdminError(`The key ${keyId}, or its usage plan, was deleted by another meanwhile.`);
      if (!(error instanceof ConflictException)) throw error;
      const { plans, unreadable } = await customerPlans(target.gateway, target.apiStage, { keyId });
      const current = plans[0]?.usagePlanId ?? unreadable[0];
      if (current === usagePlanId) return;
      if (current !== undefined) throw new AdminError(`The key ${keyId} is on the usage plan ${current} by now.`);
      if (attempt === MAX_TRIES) throw error;
    }
    target.notices.throttled();
    await sleep(Math.random() * Math.min(5_000, 200 * 2 ** attempt));
  }
}

/** Takes a key off a usage plan, if it is there. */
export async function takeOffPlan({ gateway }: Target, keyId: string, usagePlanId: string): Promise<void> {
  await unlessGone(gateway.send(new DeleteUsagePlanKeyCommand({ usagePlanId, keyId })));
}
