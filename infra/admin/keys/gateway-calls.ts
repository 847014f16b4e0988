import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ApiKey,
  ConflictException,
  CreateApiKeyCommand,
  type CreateApiKeyRequest,
  CreateUsagePlanKeyCommand,
  DeleteApiKeyCommand,
  DeleteUsagePlanKeyCommand,
  NotFoundException,
  paginateGetApiKeys,
  TagResourceCommand,
  UntagResourceCommand,
  UpdateApiKeyCommand,
} from '@aws-sdk/client-api-gateway';
import { usagePlanIdOf } from '../../../shared/key-registry/customer-plan.ts';
import { PAGE_SIZE, unlessGone } from '../../../shared/key-registry/gateway-client.ts';
import { gatewayTags } from '../../../shared/key-registry/gateway-tags.ts';
import type { Limits } from '../../../shared/keys/plans.ts';
import { AdminError } from '../admin-error.ts';
import type { Target } from '../target.ts';

/** API Gateway puts one key on a plan at a time; it refuses a second call meanwhile with a conflict. */
const MAX_TRIES = 8;

/** All keys of exactly this name, values included. */
export async function gatewayKeysNamed({ gateway: client }: Target, name: string): Promise<ApiKey[]> {
  const query = { nameQuery: name, includeValues: true };
  const pages = await Array.fromAsync(paginateGetApiKeys({ client, pageSize: PAGE_SIZE }, query));
  return pages.flatMap(({ items = [] }) => items.filter((gatewayKey) => gatewayKey.name === name));
}

/** Makes a key, found by its value where the answer to that was lost. */
export async function createGatewayKey(
  target: Target,
  order: CreateApiKeyRequest & { readonly name: string; readonly value: string },
): Promise<ApiKey & { readonly id: string }> {
  const created: ApiKey | undefined = await target.gateway
    .send(new CreateApiKeyCommand(order))
    .catch(async (error: unknown) => {
      if (!(error instanceof ConflictException)) throw error;
      return (await gatewayKeysNamed(target, order.name)).find(({ value }) => value === order.value);
    });
  if (created?.id === undefined) throw new AdminError('API Gateway could not make the key. Run the command again.');
  return { ...created, id: created.id };
}

/** Enables or disables a key in API Gateway. @returns whether it is there */
export async function setEnabled({ gateway }: Target, keyId: string, enabled: boolean): Promise<boolean> {
  const patchOperations = [{ op: 'replace' as const, path: '/enabled', value: String(enabled) }];
  const update = new UpdateApiKeyCommand({ apiKey: keyId, patchOperations });
  return (await unlessGone(gateway.send(update))) !== undefined;
}

export async function deleteGatewayKey({ gateway }: Target, keyId: string): Promise<void> {
  await unlessGone(gateway.send(new DeleteApiKeyCommand({ apiKey: keyId })));
}

/** Sets tags of a key, if it is there. */
export async function tag({ gateway }: Target, keyId: string, tags: Record<string, string>): Promise<void> {
  await unlessGone(gateway.send(new TagResourceCommand({ resourceArn: await arnOf(gateway, keyId), tags })));
}

/** Removes tags of a key, if they and the key are there. */
export async function untag({ gateway }: Target, keyId: string, ...tagKeys: string[]): Promise<void> {
  await unlessGone(gateway.send(new UntagResourceCommand({ resourceArn: await arnOf(gateway, keyId), tagKeys })));
}

const arnOf = async (gateway: Target['gateway'], keyId: string): Promise<string> =>
  `arn:aws:apigateway:${await gateway.config.region()}::/apikeys/${keyId}`;

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
      const current = await usagePlanIdOf(target.gateway, target.apiStage, keyId);
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
