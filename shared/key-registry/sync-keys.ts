import type { APIGatewayClient } from '@aws-sdk/client-api-gateway';
import type { KeyRecord } from '../keys/key-record.ts';
import type { ApiStage } from './gateway-client.ts';
import { type ListedKey, readGatewayState } from './gateway-state.ts';
import type { KeyTable } from './key-table.ts';
import { isRestored, Mirror, type SyncReport } from './mirror.ts';

export interface SyncOptions {
  /** Closes keys even where they are so many that a fault is more likely than an admin. */
  readonly force?: boolean;
  /** Writes a tag of a key that is behind its record. */
  readonly mendTag?: (keyId: string, tokensEndedAt: number) => Promise<void>;
}

/** Writes to the table that are under way at once. */
const CONCURRENCY = 10;

/** More keys than this, and a larger share of all that are open, are closed by an admin's word only. */
const MASS = { keys: 10, share: 0.05 };

/**
 * Makes the keys table say what API Gateway says: keys made, moved, disabled or deleted there, plans edited. Counters
 * stay. Running it again changes nothing.
 *
 * @throws what the SDK throws; what was written by then is right, and the next run does the rest
 */
export async function syncKeys(
  gateway: APIGatewayClient,
  table: KeyTable,
  stage: ApiStage,
  options: SyncOptions = {},
): Promise<SyncReport> {
  const first = await syncOnce(gateway, table, stage, options);
  if (first.conflicts.length === 0) return first;
  // A key was changed while API Gateway was being read: look again.
  const second = await syncOnce(gateway, table, stage, options);
  for (const name of ['added', 'changed', 'disabled', 'removed'] as const) second[name].unshift(...first[name]);
  return second;
}

/** A key to be closed because API Gateway has it no longer (then without `key`), or on no plan. */
interface Missing {
  readonly record: KeyRecord;
  readonly key?: ListedKey;
}

async function syncOnce(
  gateway: APIGatewayClient,
  table: KeyTable,
  stage: ApiStage,
  { force = false, mendTag }: SyncOptions,
): Promise<SyncReport> {
  // The table is read before API Gateway: a record that changes from here on has another revision than the one read.
  const unreadable = new Map<string, string>();
  const all = await table.all(({ recordId, message }) => unreadable.set(recordId, `${message}.`));
  const records = new Map(all.map((record) => [record.recordId, record]));
  const state = await readGatewayState(gateway, stage);
  const problems = [...unreadable.values(), ...state.problems];
  const did = { added: [], changed: [], disabled: [], removed: [], conflicts: [], unchanged: [] };
  const report: SyncReport = { ...did, problems, keysInAccount: state.keys.length };
  const mirror = new Mirror({ gateway, table, stage, report, mendTag });
  const inGateway = new Set(state.keys.map(({ recordId }) => recordId));
  const gone = all.filter(({ revoked, recordId }) => !revoked && !inGateway.has(recordId));
  const missing: Missing[] = gone.map((record) => ({ record }));
  const work: (() => Promise<void>)[] = [];
  for (const key of state.keys) {
    const { recordId = '' } = key;
    if (unreadable.has(recordId)) continue;
    const record = records.get(recordId);
    const isOnPlan = key.registered !== undefined || key.closeOnly;
    if (!record) work.push(() => mirror.add(key));
    else if (record.revoked) work.push(() => mirror.keepRevoked(record, key));
    else if (isOnPlan || isRestored(record, key.gatewayKey)) work.push(() => mirror.update(record, key));
    else if (state.hasAllPlans) missing.push({ record, key });
  }
  const { length: open } = all.filter(({ enabled }) => enabled);
  for (const { record, key } of force ? missing : limitClosures(missing, open, problems)) {
    work.push(() => (key ? mirror.disableUnlessPlanned(record, key) : mirror.remove(record)));
  }
  await inParallel(work);
  return report;
}

/** All that are missing; or only those that are closed already, where they are too many at once. */
function limitClosures(missing: readonly Missing[], open: number, problems: string[]): readonly Missing[] {
  const closed = missing.filter(({ record }) => !record.enabled);
  const count = missing.length - closed.length;
  if (count <= MASS.keys || count <= MASS.share * open) return missing;
  problems.push(
    `${count} of ${open} open keys are gone from API Gateway, or on no usage plan. So many are not closed without an ` +
      'admin: look at them there, and run npm run admin -- keys sync --force if that is meant.',
  );
  return closed;
}

/** After a failure no more is begun, and what is under way is waited for: a function that has ended must not write. */
async function inParallel(work: readonly (() => Promise<void>)[]): Promise<void> {
  for (let begun = 0; begun < work.length; begun += CONCURRENCY) {
    const runs = work.slice(begun, begun + CONCURRENCY).map((task) => task());
    await Promise.allSettled(runs);
    await Promise.all(runs);
  }
}
