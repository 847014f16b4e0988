import { type ApiKey, GetApiKeyCommand, NotFoundException, paginateGetUsagePlans } from '@aws-sdk/client-api-gateway';
import { type CustomerPlan, customerPlans } from '../../../shared/key-registry/customer-plan.ts';
import { PAGE_SIZE } from '../../../shared/key-registry/gateway-client.ts';
import { gatewayTags } from '../../../shared/key-registry/gateway-tags.ts';
import { readApiKey, valueOf } from '../../../shared/key-registry/registered-key.ts';
import { type KeyRecord, unusedCounters } from '../../../shared/keys/key-record.ts';
import { AdminError } from '../admin-error.ts';
import type { Target } from '../target.ts';

/** A key as API Gateway and the keys table have it. */
export interface FoundKey {
  readonly id: string;
  readonly apiKey: ApiKey;
  readonly record: KeyRecord;
  /** The usage plan it is on; undefined while it is on none. */
  readonly usagePlan: CustomerPlan | undefined;
  /** All usage plans that customers are on. */
  readonly usagePlans: readonly CustomerPlan[];
}

/** @throws AdminError where there is no such key, or it is not one of this service */
export async function findKey(target: Target, id: string): Promise<FoundKey> {
  const apiKey = await getApiKey(target, id);
  if (!apiKey?.value) throw unknownKey(id);
  const { plans: usagePlans } = await customerPlans(target.gateway, target.apiStage);
  const usagePlan = await usagePlanOf(target, id, usagePlans);
  const { keyHash } = valueOf(apiKey.value);
  const record = (await target.keyTable.get(keyHash)) ?? (await register(target, apiKey, usagePlan));
  return { id, apiKey, record, usagePlan, usagePlans };
}

/** The key in API Gateway, value included; undefined where there is none. */
export async function getApiKey({ gateway }: Target, apiKey: string): Promise<ApiKey | undefined> {
  try {
    return await gateway.send(new GetApiKeyCommand({ apiKey, includeValue: true }));
  } catch (error) {
    if (error instanceof NotFoundException) return undefined;
    throw error;
  }
}

/** The key in the keys table, looked for by its id in all of it. */
export async function recordWithId({ keyTable }: Target, id: string): Promise<KeyRecord | undefined> {
  for await (const page of keyTable.pages()) {
    const found = page.find(({ keyId }) => keyId === id);
    if (found) return found;
  }
  return undefined;
}

export function unknownKey(id: string): AdminError {
  return new AdminError(`There is no key ${id}. List the ids with: npm run admin -- keys list`);
}

/** The customers' usage plan that a key is on. */
export async function usagePlanOf(
  { gateway: client }: Target,
  keyId: string,
  usagePlans: readonly CustomerPlan[],
): Promise<CustomerPlan | undefined> {
  for await (const { items = [] } of paginateGetUsagePlans({ client, pageSize: PAGE_SIZE }, { keyId })) {
    const found = usagePlans.find(({ usagePlanId }) => items.some(({ id }) => id === usagePlanId));
    if (found) return found;
  }
  return undefined;
}

/** A key that was just made in the console is not in the keys table yet: it is put there now. */
async function register(target: Target, apiKey: ApiKey, usagePlan: CustomerPlan | undefined): Promise<KeyRecord> {
  const id = apiKey.id ?? '';
  if (!usagePlan) throw new AdminError(`The key ${id} is on no usage plan of this service.`);
  const successorId = apiKey.tags?.[gatewayTags.replacedBy];
  const successor = successorId === undefined ? undefined : await getApiKey(target, successorId);
  const registered = readApiKey(apiKey, usagePlan, () => successor?.value && valueOf(successor.value).keyHash);
  if ('problem' in registered) throw new AdminError(`The key ${id} ${registered.problem}.`);
  await target.keyTable.add({ ...registered.identity, ...unusedCounters, interimUntil: 0, revoked: false });
  const record = await target.keyTable.get(registered.identity.keyHash);
  if (!record) throw new AdminError(`The key ${id} was removed meanwhile.`);
  return record;
}
