import { isDeepStrictEqual } from 'node:util';
import { idOf, type KeyRecord } from '../keys/key-record.ts';
import { apply, deleteLiveKey, readLive, type Registry } from './apply.ts';
import { type GatewayFields, newRecord, revocation, tokenEntry } from './record-changes.ts';
import type { KeyUsage } from './key-usage.ts';
import { type LiveKey, readGatewayState } from './live-key.ts';
import { INTERIM_MS, type ConfirmedStep, reconcile, type Step, differingFields, openingProblem } from './reconcile.ts';

/** The result of a sync, as ids of keys. */
export interface SyncReport {
  /** Created manually; they have a record now. */
  readonly added: string[];
  /** Their records adopted an edit or the limits of the catalog, or are marked as applied. */
  readonly changed: string[];
  /** Deleted in API Gateway, or on no plan; their counters are kept. */
  readonly closed: string[];
  /** API Gateway was updated to match their records; in brackets the differences. */
  readonly applied: string[];
  /** Those of them that were blocked in API Gateway, perhaps by an admin. Each is a problem, too. */
  readonly opened: string[];
  /** Changed by others meanwhile, or too many for one run: left for the next sync. */
  readonly left: string[];
  readonly unchanged: string[];
  /** Problems that an admin must fix, as text. */
  readonly problems: string[];
  /** API keys of the account in the region, of all stages and services: AWS limits them. */
  readonly keysInAccount: number;
}

export interface SyncOptions {
  /** Blocks keys even if so many are affected that a fault is more likely than an admin. */
  readonly force?: boolean;
  /** Stores the requests of days that have ended. */
  readonly usage?: KeyUsage;
}

/** A key, by its id, and its action. */
interface Item {
  readonly id: string;
  readonly live: LiveKey | undefined;
  readonly step: Step;
}

/** Max concurrent writes to the table. */
const CONCURRENCY = 10;

/** Deadline to start an action, in milliseconds: the function times out after five minutes. */
const MAX_RUN_MS = 4 * 60_000;

/** Above this number and this percentage of all open keys, blocking requires `--force`. */
const MAX_CLOSURES = { keys: 10, share: 0.05 };

/**
 * Checks all keys, and applies the action of {@link reconcile}. Safe with concurrent syncs and commands.
 *
 * @throws the SDK's error of a read; earlier writes are valid, and the next run does the rest
 */
export async function syncKeys(registry: Registry, { force = false, usage }: SyncOptions = {}): Promise<SyncReport> {
  const now = Date.now();
  // The table is read before API Gateway: a record that changes from here on has a newer revision.
  const unreadable = new Map<string, string>();
  const records = await registry.keyTable.all(({ recordId, message }) => unreadable.set(recordId, `${message}.`));
  const notStored = await storeUsage(usage, records, now);
  const { keys, hasAllPlans, problems } = await readGatewayState(registry.gateway, registry.apiStage);
  const items = pairs(records, keys, now).filter(({ live }) => !unreadable.has(live?.recordId ?? ''));
  const mass = hasAllPlans && !force ? massClosure(items, records) : [];
  const sync = new Sync(registry, now, keys.length, [...unreadable.values(), ...notStored, ...problems, ...mass]);
  const mayClose = hasAllPlans && mass.length === 0;
  const todo = items.filter(({ step }) => mayClose || step.kind !== 'closed');
  await sync.inParallel(todo.filter(({ step }) => !isConfirmed(step)));
  await sync.oneByOne(todo.filter(({ step }) => isConfirmed(step)));
  return sync.report;
}

/** @returns the problem if it fails: the records hold a day for at least another one */
async function storeUsage(usage: KeyUsage | undefined, records: readonly KeyRecord[], now: number): Promise<string[]> {
  try {
    await usage?.store(records, now);
    return [];
  } catch (error) {
    return [`The requests of ended days could not be stored (${String(error)}); the next sync retries.`];
  }
}

/** Whether the action requires a single read of the key: all others need only the lists. */
const isConfirmed = (step: Step): step is ConfirmedStep => 'record' in step && step.kind !== 'catalog';

/** Records and keys by value, each with its action. */
function pairs(records: readonly KeyRecord[], keys: readonly LiveKey[], now: number): Item[] {
  const byRecord = new Map(keys.map((key) => [key.recordId, key]));
  const known = new Set(records.map(({ recordId }) => recordId));
  const unknown = keys.filter(({ recordId = '' }) => !known.has(recordId));
  const both: [KeyRecord | undefined, LiveKey | undefined][] = [
    ...records.map((record): [KeyRecord, LiveKey | undefined] => [record, byRecord.get(record.recordId)]),
    ...unknown.map((key): [undefined, LiveKey] => [undefined, key]),
  ];
  const items = both.map(([record, live]) => ({
    id: live?.keyId ?? (record ? idOf(record) : ''),
    live,
    isListed: record?.revoked === false,
    step: reconcile(record, live, now),
  }));
  // Without revoked keys and those of other services, so the counts match a list of the keys.
  return items.filter(({ isListed, step }) => isListed || step.kind !== 'leave');
}

/** The problem, if so many keys would be blocked that a fault is more likely than an admin. */
function massClosure(items: readonly Item[], records: readonly KeyRecord[]): string[] {
  const open = records.filter(({ enabled }) => enabled).length;
  const count = items.filter(({ step }) => step.kind === 'closed' && step.record.enabled).length;
  if (count <= MAX_CLOSURES.keys || count <= MAX_CLOSURES.share * open) return [];
  return [
    `${count} of ${open} active keys were deleted in API Gateway, or are on no usage plan. So many are not blocked without an ` +
      'admin: check them there, and run npm run admin -- keys sync --force if that is intended.',
  ];
}

class Sync {
  readonly report: SyncReport;
  readonly #registry: Registry;
  readonly #now: number;

  constructor(registry: Registry, now: number, keysInAccount: number, problems: string[]) {
    this.#registry = registry;
    this.#now = now;
    const done = { added: [], changed: [], closed: [], applied: [], opened: [], left: [], unchanged: [] };
    this.report = { ...done, problems, keysInAccount };
  }

  /** After a failure, awaits actions in progress and starts no more: a function must not write after it has ended. */
  async inParallel(items: readonly Item[]): Promise<void> {
    for (let begun = 0; begun < items.length; begun += CONCURRENCY) {
      const runs = items.slice(begun, begun + CONCURRENCY).map((item) => this.#carryOut(item));
      await Promise.allSettled(runs);
      await Promise.all(runs);
    }
  }

  /** Reports failures together with the completed actions. The next sync retries. */
  async oneByOne(items: readonly Item[]): Promise<void> {
    for (const item of items) {
      const { id } = item;
      if (Date.now() - this.#now >= MAX_RUN_MS) this.report.left.push(id);
      else
        await this.#carryOut(item).catch((error: unknown) =>
          this.report.problems.push(`The key ${id} could not be synced (${String(error)}); the next sync retries.`),
        );
    }
  }

  /** Applies the action on a key, and reports it. */
  async #carryOut({ id, live, step }: Item): Promise<void> {
    const { keyTable } = this.#registry;
    if (step.kind === 'leave') this.report.unchanged.push(id);
    else if (step.kind === 'report') this.report.problems.push(step.problem);
    else if (step.kind === 'add') this.#note('added', id, live && (await this.#add(live, step.fields)));
    else if (step.kind === 'catalog') this.#note('changed', id, await keyTable.revise(step.record, step.change));
    else await this.#confirm(id, live, step);
  }

  /** @param written undefined if another write was faster */
  #note(list: 'added' | 'changed' | 'closed', id: string, written: KeyRecord | undefined): void {
    this.report[written ? list : 'left'].push(id);
  }

  #add({ recordId = '', value, createdAt }: LiveKey, fields: GatewayFields): Promise<KeyRecord | undefined> {
    const tokens = tokenEntry(value, {}, createdAt);
    const record = { ...fields, recordId, createdAt, tokens, interimUntil: this.#now + INTERIM_MS };
    return this.#registry.keyTable.add(newRecord(record), { reason: 'created in API Gateway' });
  }

  /** Reads the key by itself. Applies the action only if that read requires exactly the same one. */
  async #confirm(id: string, listed: LiveKey | undefined, step: ConfirmedStep): Promise<void> {
    const { record } = step;
    const { keyTable } = this.#registry;
    const live = await readLive(this.#registry, { keyId: listed?.keyId ?? record.keyId });
    const required = reconcile(record, live, this.#now);
    if (!isDeepStrictEqual(required, step)) this.report[required.kind === 'leave' ? 'unchanged' : 'left'].push(id);
    else if (step.kind === 'delete') await this.#delete(id, record);
    else if (step.kind === 'apply') await this.#apply(id, record, live);
    else {
      const written = await keyTable.revise(record, step.change, { edit: step.change });
      this.#note(step.kind === 'closed' ? 'closed' : 'changed', id, written);
    }
  }

  async #delete(id: string, record: KeyRecord): Promise<void> {
    // The record stays while a list may still contain the key.
    await this.#registry.keyTable.revise(record, revocation(this.#now));
    await deleteLiveKey(this.#registry, id);
    this.report.applied.push(`${id} (revoked)`);
  }

  /** Sets a new timestamp, which starts a new minute: that of the interrupted command has passed. */
  async #apply(id: string, record: KeyRecord, live: LiveKey | undefined): Promise<void> {
    const { keyTable } = this.#registry;
    const stamped = await keyTable.revise(record, { unappliedSince: Date.now() });
    if (!stamped) return void this.report.left.push(id);
    const problem = openingProblem(record, live);
    // Before the calls, as one may be applied although its response is lost.
    if (problem) {
      this.report.opened.push(id);
      this.report.problems.push(problem);
    }
    const keyId = await apply(this.#registry, stamped, live);
    if (keyId !== stamped.keyId) await keyTable.revise(stamped, { keyId });
    this.report.applied.push(`${id} (${differingFields(record, live).join(', ')})`);
  }
}
