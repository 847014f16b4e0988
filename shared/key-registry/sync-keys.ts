import type { APIGatewayClient } from '@aws-sdk/client-api-gateway';
import { type KeyIdentity, type KeyRecord, unusedCounters } from '../keys/key-record.ts';
import type { ApiStage } from './gateway-client.ts';
import { isGone, isOnNoPlan, type PlannedKey, readGatewayState } from './gateway-state.ts';
import { identityNames, type KeyTable } from './key-table.ts';

/** What a sync did, in ids of keys. */
export interface SyncReport {
  readonly added: string[];
  readonly changed: string[];
  /** They are on no plan, or something is wrong with them; their counters are kept. */
  readonly disabled: string[];
  /** They are gone from API Gateway. */
  readonly removed: string[];
  /** Changed by somebody else meanwhile, and left to the next sync. */
  readonly conflicts: string[];
  readonly unchanged: string[];
  /** What an admin should put right, in words. */
  readonly problems: string[];
  /** API keys of the account in the region, of all stages and services: AWS has a limit to them. */
  readonly keysInAccount: number;
}

/** Writes to the table that are under way at once. */
const CONCURRENCY = 10;

/**
 * Makes the keys table say what API Gateway says: keys made, moved, disabled or deleted there, plans edited. Counters
 * stay. Running it again changes nothing.
 *
 * @throws what the SDK throws; what was written by then is right, and the next run does the rest
 */
export async function syncKeys(gateway: APIGatewayClient, table: KeyTable, stage: ApiStage): Promise<SyncReport> {
  const first = await syncOnce(gateway, table, stage);
  if (first.conflicts.length === 0) return first;
  // Somebody changed a key while API Gateway was being read: look again.
  const second = await syncOnce(gateway, table, stage);
  const both = (name: 'added' | 'changed' | 'disabled' | 'removed'): string[] => [...first[name], ...second[name]];
  return {
    ...second,
    added: both('added'),
    changed: both('changed'),
    disabled: both('disabled'),
    removed: both('removed'),
  };
}

async function syncOnce(gateway: APIGatewayClient, table: KeyTable, stage: ApiStage): Promise<SyncReport> {
  // First the table, then API Gateway: what changes in the table from here on has another revision than is known here.
  const records = new Map<string, KeyRecord>();
  for await (const page of table.pages()) for (const record of page) records.set(record.keyHash, record);
  const { planned, underWay, existing, hasAllPlans, problems } = await readGatewayState(gateway, stage);

  const mirror = new Mirror(table, problems, existing.size);
  const plannedHashes = new Set(planned.map(({ keyHash }) => keyHash));
  const work = planned.map((key) => () => mirror.update(records.get(key.keyHash), key));
  for (const record of records.values()) {
    const { keyHash } = record;
    if (plannedHashes.has(keyHash) || underWay.has(keyHash)) continue;
    const isThere = existing.has(keyHash);
    if (isThere && !hasAllPlans) continue;
    work.push(async () => {
      if (!isThere) await mirror.remove(record, await isGone(gateway, record.keyId));
      else if (!isFresh(record) || (await isOnNoPlan(gateway, stage, record.keyId))) await mirror.disable(record);
    });
  }
  await inParallel(work);
  return mirror.report;
}

/** Brings one record after the other up to date, and reports what it did. */
class Mirror {
  readonly report: SyncReport;
  readonly #table: KeyTable;

  constructor(table: KeyTable, problems: readonly string[], keysInAccount: number) {
    this.#table = table;
    this.report = {
      added: [],
      changed: [],
      disabled: [],
      removed: [],
      conflicts: [],
      unchanged: [],
      problems: [...problems],
      keysInAccount,
    };
  }

  async update(record: KeyRecord | undefined, key: PlannedKey): Promise<void> {
    const { keyId, registered } = key;
    if (key.isUnderWay) {
      // Whoever is at work on it says the rest, but nobody's work may keep a key open that was closed.
      if (record && !key.enabled) await this.disable(record);
      return;
    }
    if ('problem' in registered) {
      this.report.problems.push(`The key ${keyId} ${registered.problem}.`);
      if (record) await this.disable(record);
      return;
    }
    const { keyHash, ...change } = registered.identity;
    if (!record) {
      const added = await this.#table.add({ keyHash, ...change, ...unusedCounters, interimUntil: 0, revoked: false });
      this.#note('added', added, keyId);
    } else if (isSame(record, registered.identity) || (record.revoked && record.keyId === keyId)) {
      this.report.unchanged.push(keyId);
    } else {
      this.#note('changed', await this.#table.revise(record, { ...change, revoked: false }), keyId);
    }
  }

  async disable(record: KeyRecord): Promise<void> {
    if (record.enabled) this.#note('disabled', await this.#table.revise(record, { enabled: false }), record.keyId);
    else this.report.unchanged.push(record.keyId);
  }

  /** @param confirmed whether API Gateway says so when asked for this key; otherwise the next sync looks again */
  async remove(record: KeyRecord, confirmed: boolean): Promise<void> {
    this.#note('removed', confirmed && (await this.#table.remove(record)), record.keyId);
  }

  #note(what: 'added' | 'changed' | 'disabled' | 'removed', done: boolean, keyId: string): void {
    this.report[done ? what : 'conflicts'].push(keyId);
  }
}

/** Just issued or moved by the admin command: lists may lag behind, and closing it now would refuse its customer. */
function isFresh({ enabled, interimUntil }: KeyRecord): boolean {
  return enabled && interimUntil > Date.now();
}

function isSame(record: KeyRecord, identity: KeyIdentity): boolean {
  return identityNames.every((name) => record[name] === identity[name]);
}

/** After a failure no more is begun, and what is under way is waited for: a function that has ended must not write. */
async function inParallel(work: readonly (() => Promise<void>)[]): Promise<void> {
  const queue = [...work];
  const run = async (): Promise<void> => {
    try {
      for (let task = queue.shift(); task; task = queue.shift()) await task();
    } catch (error) {
      queue.length = 0;
      throw error;
    }
  };
  const runs = Array.from({ length: CONCURRENCY }, run);
  await Promise.allSettled(runs);
  await Promise.all(runs);
}
