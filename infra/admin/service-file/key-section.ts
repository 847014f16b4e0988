import { isDeepStrictEqual } from 'node:util';
import { paginateGetUsagePlans } from '@aws-sdk/client-api-gateway';
import { type ListedKey, readGatewayState } from '../../../shared/key-registry/gateway-state.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { type PlanId, planIds } from '../../../shared/keys/plans.ts';
import { changedMeanwhile } from '../keys/change-record.ts';
import { cataloguePlanId } from '../keys/create-key.ts';
import { allRecords } from '../keys/find-key.ts';
import { createGatewayKey, putOnPlan } from '../keys/gateway-calls.ts';
import type { Target } from '../target.ts';
import { checkEntry, differencesTo, entryOf, type KeyEntry, recordOf } from './key-entry.ts';
import type { Existing, Section } from './sections.ts';

/** A key of the service that is not in the file. */
export interface LeftOut {
  readonly id: string;
  readonly name: string;
  readonly reason: string;
}

/** The id that a key of the file has in API Gateway, there and here. */
export interface NewId {
  readonly name: string;
  readonly from: string;
  readonly to: string;
}

/** What a service has of keys, by record ids. */
interface Keys {
  readonly records: ReadonlyMap<string, KeyRecord>;
  readonly listed: ReadonlyMap<string, ListedKey>;
  readonly usagePlanIds: ReadonlyMap<PlanId, string>;
}

/** The keys that the admin command has made: at most 10,000, in memory. */
export class KeySection implements Section<KeyEntry> {
  readonly name = 'keys';
  readonly check = checkEntry;
  readonly toJson = JSON.stringify;
  /** Filled by an export. */
  readonly leftOut: LeftOut[] = [];
  /** Filled by an import, by record ids. */
  readonly newIds = new Map<string, NewId>();
  readonly #target: Target;
  #keys: Promise<Keys> | undefined;

  constructor(target: Target) {
    this.#target = target;
  }

  idOf({ recordId }: KeyEntry): string {
    return recordId;
  }

  async *all(): AsyncGenerator<readonly KeyEntry[]> {
    const { records, listed } = await this.#read();
    // The account may have keys of other services, and of other stages.
    const ofService = [...listed].filter(([id, { registered }]) => registered ?? records.has(id));
    const ids = new Set([...records.keys(), ...ofService.map(([id]) => id)]);
    for (const recordId of [...ids].toSorted()) {
      const [record, key] = [records.get(recordId), listed.get(recordId)];
      if (record?.revoked) continue;
      const entry = entryOf(recordId, record, key);
      if (typeof entry !== 'string') yield [entry];
      else this.leftOut.push({ ...namesOf(record, key), reason: entry });
    }
  }

  async existing(entries: readonly KeyEntry[]): Promise<readonly Existing[]> {
    const { records, listed } = await this.#read();
    const existing: Existing[] = [];
    for (const entry of entries) {
      const [record, key] = [records.get(entry.recordId), listed.get(entry.recordId)];
      existing.push(record ? this.#compared(entry, record) : await this.#unrecorded(entry, key));
    }
    return existing;
  }

  /** First in API Gateway, or a sync would take the record for that of a key which is gone. */
  async add(entries: readonly KeyEntry[]): Promise<void> {
    const { listed, usagePlanIds } = await this.#read();
    for (const entry of entries) {
      const { recordId: value, name, enabled, tags, plan } = entry;
      const { id: keyId = '', createdDate = new Date() } =
        listed.get(value)?.gatewayKey ?? (await createGatewayKey(this.#target, { name, value, enabled, tags }));
      await putOnPlan(this.#target, keyId, usagePlanIds.get(plan) ?? '');
      const record = recordOf(entry, { keyId, createdAt: createdDate.getTime() });
      if (!(await this.#target.keyTable.add(record))) throw changedMeanwhile(keyId);
      this.#note(entry, keyId);
    }
  }

  #compared(entry: KeyEntry, record: KeyRecord): Existing {
    this.#note(entry, record.keyId);
    const different = differencesTo(entry, record);
    return different.length === 0 ? 'same' : { other: `${labelOf(entry, record.keyId)} (${different.join(', ')})` };
  }

  /** A key without a record is one that an import was cut off at, or of another stage. */
  async #unrecorded(entry: KeyEntry, key: ListedKey | undefined): Promise<Existing> {
    if (!key) return 'absent';
    const { gateway: client } = this.#target;
    const { usagePlanIds } = await this.#read();
    const pages = await Array.fromAsync(paginateGetUsagePlans({ client }, { keyId: key.keyId }));
    const isElsewhere = pages.some(({ items = [] }) => items.some(({ id }) => id !== usagePlanIds.get(entry.plan)));
    const { name, enabled, tags = {} } = key.gatewayKey;
    const isAsIntended = isDeepStrictEqual([name, enabled, tags], [entry.name, entry.enabled, entry.tags]);
    return isAsIntended && !isElsewhere ? 'absent' : { other: `${labelOf(entry, key.keyId)} (in API Gateway)` };
  }

  #note({ recordId, name, keyId: from }: KeyEntry, to: string): void {
    this.newIds.set(recordId, { name, from, to });
  }

  #read(): Promise<Keys> {
    return (this.#keys ??= readKeys(this.#target));
  }
}

/** The table before API Gateway, as a sync does. */
async function readKeys(target: Target): Promise<Keys> {
  const records = await allRecords(target);
  const { keys } = await readGatewayState(target.gateway, target.apiStage);
  const usagePlanIds = new Map<PlanId, string>();
  for (const plan of planIds) usagePlanIds.set(plan, await cataloguePlanId(target, plan));
  return {
    records: new Map(records.map((record) => [record.recordId, record])),
    listed: new Map(keys.flatMap((key) => (key.recordId === undefined ? [] : [[key.recordId, key]]))),
    usagePlanIds,
  };
}

const namesOf = (record: KeyRecord | undefined, key: ListedKey | undefined) => ({
  id: key?.keyId ?? record?.keyId ?? '',
  name: key?.gatewayKey.name ?? record?.name ?? '',
});

const labelOf = ({ name }: KeyEntry, keyId: string): string => `the key ${name}, here ${keyId}`;
