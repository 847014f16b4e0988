import type { ApiKey } from '@aws-sdk/client-api-gateway';
import { type CustomerPlan, customerPlans } from '../../../shared/key-registry/customer-plan.ts';
import { getGatewayKey } from '../../../shared/key-registry/gateway-client.ts';
import { gatewayTags } from '../../../shared/key-registry/gateway-tags.ts';
import { isRestored } from '../../../shared/key-registry/mirror.ts';
import { readGatewayKey, recordIdOf } from '../../../shared/key-registry/gateway-state.ts';
import { syncKeys } from '../../../shared/key-registry/sync-keys.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import type { KeyIdentity } from '../../../shared/key-registry/key-table.ts';
import { isIssued } from '../../../shared/keys/token.ts';
import { AdminError } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { revokedError } from './change-record.ts';

/** A key as API Gateway and the keys table have it. */
export interface FoundKey {
  readonly gatewayKey: ApiKey;
  readonly record: KeyRecord;
}

/** @throws AdminError where there is no such key, it was revoked, or it is not one of this service */
export async function findKey(target: Target, id: string): Promise<FoundKey> {
  const gatewayKey = await getGatewayKey(target.gateway, id);
  if (!gatewayKey?.value) throw unknownKey(id);
  // The next creation of its name clears away what was left unfinished, whatever else was done with it.
  if (isUnfinished(gatewayKey)) throw unfinishedError(id);
  const record = await recordOf(target, gatewayKey);
  if (record.revoked) throw revokedError(id);
  return { gatewayKey, record };
}

/**
 * The record of a key whose tokens are to be changed. An ending that is newer than a backup would hide that others came
 * back with it.
 *
 * @param change what is done with its token, in words
 * @throws AdminError, too, where the key was not made by the admin command, or came back with a backup that no sync has closed
 */
export async function findTokens(target: Target, id: string, change: string): Promise<KeyRecord> {
  const { record, gatewayKey } = await findKey(target, id);
  if (!isIssued(record.recordId))
    throw new AdminError(
      `The key ${id} was made in API Gateway itself, by its console, the AWS CLI or another program: its value is its only token, so it cannot be ${change}. ` +
        'Create one with npm run admin -- keys create, and revoke this one when its client has the new one.',
    );
  if (record.restored || !isRestored(record, gatewayKey)) return record;
  throw new AdminError(
    `The key ${id} came back with a backup. Run npm run admin -- keys sync, which closes it, and rotate it then.`,
  );
}

export const restoredError = (id: string): AdminError =>
  new AdminError(`The key ${id} came back with a backup, with tokens that had been ended. Rotate it instead.`);

/** The record of a key that API Gateway has. One that was just made in the console gets it now. */
export async function recordOf(target: Target, gatewayKey: ApiKey): Promise<KeyRecord> {
  const { id = '', value = '' } = gatewayKey;
  const recordId = recordIdOf(value);
  const read = async (): Promise<KeyRecord | undefined> => {
    const record = recordId === undefined ? undefined : await target.keyTable.get(recordId);
    return record?.keyId === id ? record : undefined;
  };
  const known = await read();
  if (known) return known;
  if (isUnfinished(gatewayKey)) throw unfinishedError(id);
  const { problems } = await syncKeys(target.gateway, target.keyTable, target.apiStage);
  const synced = await read();
  if (synced) return synced;
  const problem = problems.find((words) => words.includes(id));
  throw new AdminError(problem ?? `The key ${id} is on no usage plan of this service.`);
}

/** What API Gateway says of a complete key that the admin command has made, and that has no record; else undefined. */
export async function findUnrecorded(target: Target, id: string): Promise<KeyIdentity | undefined> {
  const gatewayKey = await getGatewayKey(target.gateway, id);
  const { value = '' } = gatewayKey ?? {};
  if (!gatewayKey || !isIssued(value) || isUnfinished(gatewayKey)) return undefined;
  const usagePlan = await usagePlanOf(target, id);
  if (!usagePlan || (await target.keyTable.get(value))) return undefined;
  const registered = readGatewayKey(gatewayKey, usagePlan);
  if ('problem' in registered) throw new AdminError(`The key ${id} ${registered.problem}.`);
  return registered.identity;
}

/** All records, revoked ones included, without those that are not in order. */
export const allRecords = ({ keyTable, notices }: Target): Promise<KeyRecord[]> => keyTable.all(notices.unreadable);

const isUnfinished = ({ tags }: ApiKey): boolean => tags?.[gatewayTags.unfinished] !== undefined;

const unfinishedError = (id: string): AdminError =>
  new AdminError(
    `The key ${id} is being made, or was left unfinished and never shown. Another keys create with its name, ten minutes later, clears it away.`,
  );

/** There is no key of this id, or not any more. */
export class UnknownKeyError extends AdminError {}

/** @param meant keys that may be meant */
export function unknownKey(id: string, meant: readonly KeyRecord[] = []): AdminError {
  const guess = meant.map(({ name, keyId }) => `${name} (${keyId})`).join(' or ');
  const question = guess === '' ? '' : ` Did you mean ${guess}?`;
  return new UnknownKeyError(`There is no key ${id}.${question} List the ids with: npm run admin -- keys list`);
}

/** The customers' usage plan that a key is on. */
export async function usagePlanOf({ gateway, apiStage }: Target, keyId: string): Promise<CustomerPlan | undefined> {
  return (await customerPlans(gateway, apiStage, { keyId })).plans[0];
}
