import { isDeepStrictEqual } from 'node:util';
import { idOf, type KeyRecord } from '../keys/key-record.ts';
import { apply, deleteLiveKey, readLive, type Registry } from './apply.ts';
import { type GatewayFields, newRecord, revocation } from './key-table.ts';
import { tokenEntry } from './key-tokens.ts';
import { type LiveKey, readGatewayState } from './live-key.ts';
import { INTERIM_MS, type ConfirmedStep, reconcile, type Step, missingInGateway, openingProblem } from './reconcile.ts';

/** What a sync did, in ids of keys. */
export interface SyncReport {
  /** Made by hand, and known from now on. */
  readonly added: string[];
  /** Their records took over an edit, or the limits of the catalog; or are known to be applied. */
  readonly changed: string[];
  /** They are gone from API Gateway, or on no plan; their counters are kept. */
  readonly closed: string[];
  /** API Gateway got what their records say; in brackets what it said else. */
  readonly applied: string[];
  /** Of these: were blocked in API Gateway, perhaps by an admin. Each is a problem, too. */
  readonly opened: string[];
  /** Changed by another meanwhile, or too many for one run: the next one looks again. */
  readonly left: string[];
  readonly unchanged: string[];
  /** What an admin should put right, in words. */
  readonly problems: string[];
  /** API keys of the account in the region, of all stages and services: AWS has a limit to them. */
  readonly keysInAccount: number;
}

export interface SyncOptions {
  /** Closes keys even where they are so many that a fault is more likely than an admin. */
  readonly force?: boolean;
}

/** A key, by its id, and what is to be done about it. */
interface Item {
  readonly id: string;
  readonly live: LiveKey | undefined;
  readonly step: Step;
}

/** Writes to the table that are under way at once. */
const CONCURRENCY = 10;

/** Nothing is begun after so long, in milliseconds: the function is stopped after five minutes. */
const MAX_RUN_MS = 4 * 60_000;

/** More keys than this, and a larger share of all that are open, are closed by an admin's word only. */
const MASS = { keys: 10, share: 0.05 };

/**
 * Looks at all keys, and does for each what {@link reconcile} says. It is safe beside itself and beside every command.
 *
 * @throws what the SDK throws while it looks; what was written by then is right, and the next run does the rest
 */
export async function syncKeys(registry: Registry, { force = false }: SyncOptions = {}): Promise<SyncReport> {
  const now = Date.now();
  // The table is read before API Gateway: a record that changes from here on has another revision than the one read.
  const unreadable = new Map<string, string>();
  const records = await registry.keyTable.all(({ recordId, message }) => unreadable.set(recordId, `${message}.`));
  const { keys, hasAllPlans, problems } = await readGatewayState(registry.gateway, registry.apiStage);
  const items = pairs(records, keys, now).filter(({ live }) => !unreadable.has(live?.recordId ?? ''));
  const mass = hasAllPlans && !force ? massClosure(items, records) : [];
  const sync = new Sync(registry, now, keys.length, [...unreadable.values(), ...problems, ...mass]);
  const mayClose = hasAllPlans && mass.length === 0;
  const todo = items.filter(({ step }) => mayClose || step.kind !== 'closed');
  await sync.inParallel(todo.filter(({ step }) => !isConfirmed(step)));
  await sync.inTurn(todo.filter(({ step }) => isConfirmed(step)));
  return sync.report;
}

/** Whether the key is read by itself before anything is done: all else is done by the lists alone. */
const isConfirmed = (step: Step): step is ConfirmedStep => 'record' in step && step.kind !== 'catalog';

/** Records and keys by value, each with what is to be done. */
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
  // Neither revoked keys, nor those of other services: what is left counts as a list of the keys does.
  return items.filter(({ isListed, step }) => isListed || step.kind !== 'leave');
}

/** The problem, where so many keys would be closed that a fault is more likely than an admin. */
function massClosure(items: readonly Item[], records: readonly KeyRecord[]): string[] {
  const open = records.filter(({ enabled }) => enabled).length;
  const count = items.filter(({ step }) => step.kind === 'closed' && step.record.enabled).length;
  if (count <= MASS.keys || count <= MASS.share * open) return [];
  return [
    `${count} of ${open} open keys are gone from API Gateway, or on no usage plan. So many are not closed without an ` +
      'admin: look at them there, and run npm run admin -- keys sync --force if that is meant.',
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

  /** After a failure no more is begun, and what is in progress is awaited: a function that has ended must not write. */
  async inParallel(items: readonly Item[]): Promise<void> {
    for (let begun = 0; begun < items.length; begun += CONCURRENCY) {
      const runs = items.slice(begun, begun + CONCURRENCY).map((item) => this.#carryOut(item));
      await Promise.allSettled(runs);
      await Promise.all(runs);
    }
  }

  /** What fails is reported, with all that was done by then. The next sync tries again. */
  async inTurn(items: readonly Item[]): Promise<void> {
    for (const item of items) {
      const { id } = item;
      if (Date.now() - this.#now >= MAX_RUN_MS) this.report.left.push(id);
      else
        await this.#carryOut(item).catch((error: unknown) =>
          this.report.problems.push(`The key ${id} could not be synced (${String(error)}); the next sync tries again.`),
        );
    }
  }

  /** Does what is to be done about a key, and reports it. */
  async #carryOut({ id, live, step }: Item): Promise<void> {
    const { keyTable } = this.#registry;
    if (step.kind === 'leave') this.report.unchanged.push(id);
    else if (step.kind === 'report') this.report.problems.push(step.problem);
    else if (step.kind === 'add') this.#note('added', id, live && (await this.#add(live, step.fields)));
    else if (step.kind === 'catalog') this.#note('changed', id, await keyTable.revise(step.record, step.change));
    else await this.#look(id, live, step);
  }

  /** @param written undefined where another was faster */
  #note(list: 'added' | 'changed' | 'closed', id: string, written: KeyRecord | undefined): void {
    this.report[written ? list : 'left'].push(id);
  }

  #add({ recordId = '', value, createdAt }: LiveKey, fields: GatewayFields): Promise<KeyRecord | undefined> {
    const tokens = tokenEntry(value, {}, createdAt);
    const interimUntil = this.#now + INTERIM_MS;
    const record = newRecord({ ...fields, recordId, createdAt }, { tokens, interimUntil });
    return this.#registry.keyTable.add(record, { reason: 'made in API Gateway' });
  }

  /** Does something where the key asks for the same when it is read by itself. */
  async #look(id: string, listed: LiveKey | undefined, step: ConfirmedStep): Promise<void> {
    const { record } = step;
    const { keyTable } = this.#registry;
    const live = await readLive(this.#registry, { keyId: listed?.keyId ?? record.keyId });
    const again = reconcile(record, live, this.#now);
    if (!isDeepStrictEqual(step, again)) this.report[again.kind === 'leave' ? 'unchanged' : 'left'].push(id);
    else if (step.kind === 'delete') await this.#delete(id, record);
    else if (step.kind === 'apply') await this.#apply(id, record, live);
    else {
      const written = await keyTable.revise(record, step.change, { edit: step.change });
      this.#note(step.kind === 'closed' ? 'closed' : 'changed', id, written);
    }
  }

  async #delete(id: string, record: KeyRecord): Promise<void> {
    // The record stays as long as a list may still have the key.
    await this.#registry.keyTable.revise(record, revocation(this.#now));
    await deleteLiveKey(this.#registry, id);
    this.report.applied.push(`${id} (revoked)`);
  }

  /** Its minute begins with a stamp of its own: that of the command which was cut off is over. */
  async #apply(id: string, record: KeyRecord, live: LiveKey | undefined): Promise<void> {
    const { keyTable } = this.#registry;
    const stamped = await keyTable.revise(record, { unappliedSince: Date.now() });
    if (!stamped) return void this.report.left.push(id);
    const problem = openingProblem(record, live);
    // Before the calls, as one may arrive whose response is lost.
    if (problem) {
      this.report.opened.push(id);
      this.report.problems.push(problem);
    }
    const keyId = await apply(this.#registry, stamped, live);
    if (keyId !== stamped.keyId) await keyTable.revise(stamped, { keyId });
    this.report.applied.push(`${id} (${missingInGateway(record, live).join(', ')})`);
  }
}
