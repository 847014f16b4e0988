import { isDeepStrictEqual } from 'node:util';
import { idOf, type KeyRecord } from '../keys/key-record.ts';
import { isIssued } from '../keys/token.ts';
import { inBatches } from './in-batches.ts';
import { deleteLiveKey, readLive, type Registry, updateGateway } from './update-gateway.ts';
import { type GatewayFields, newRecord, revocation, tokenEntry } from './record-changes.ts';
import type { KeyUsage } from './key-usage.ts';
import { type LiveKey, readGatewayState } from './live-key.ts';
import {
  type ConfirmedStep,
  differingFields,
  FAULT_MS,
  INTERIM_MS,
  isDetached,
  isServedInFault,
  isSuspendedUntilResumed,
  lostProblem,
  openingProblem,
  reconcile,
  type Step,
} from './reconcile.ts';

/** The result of a sync, as ids of keys. */
export interface SyncReport {
  /** Created manually; they have a record now. */
  readonly added: string[];
  /** Their records adopted an edit or the limits of the catalog, or are marked as applied. */
  readonly changed: string[];
  /** Blocked, as they were deleted in API Gateway, or are on no plan there. */
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

/** A key, by its id, and its action. */
interface Item {
  readonly id: string;
  readonly record: KeyRecord | undefined;
  readonly live: LiveKey | undefined;
  readonly step: Step;
}

/** Deadline to start an action, in milliseconds: the function times out after five minutes. */
const MAX_RUN_MS = 4 * 60_000;

/** Above this number and this share of all open keys, a fault is more likely than an admin. */
const MAX_LOST = { keys: 10, share: 0.05 };

/**
 * Checks all keys, and applies the action of {@link reconcile}. Safe with concurrent syncs and commands.
 *
 * @param usage stores the requests of days that have ended
 * @throws the SDK's error of a read; earlier writes are valid, and the next run does the rest
 */
export async function syncKeys(registry: Registry, usage?: KeyUsage): Promise<SyncReport> {
  const now = Date.now();
  // The table is read before API Gateway: a record that changes from here on has a newer revision.
  const unreadable = new Map<string, string>();
  const records = await registry.keyTable.all(({ recordId, message }) => unreadable.set(recordId, `${message}.`));
  const notStored = await storeUsage(usage, records, now);
  const { keys, hasAllPlans, problems } = await readGatewayState(registry.gateway, registry.apiStage);
  const items = pairs(records, keys, now).filter(({ live }) => !unreadable.has(live?.recordId ?? ''));
  const lost = hasAllPlans ? items.filter((item) => isLost(item, now)) : [];
  const fault = faultProblem(lost, records, now);
  const sync = new Sync(registry, now, keys.length, [...unreadable.values(), ...notStored, ...problems, ...fault]);
  const mayBlock = items.filter((item) => hasAllPlans || !blocks(item));
  const todo = fault.length > 0 ? mayBlock.map(servedInFault) : mayBlock;
  const { listed = [], confirmed = [] } = Object.groupBy(todo, ({ step }) =>
    isConfirmed(step) ? 'confirmed' : 'listed',
  );
  await inBatches(listed, (item) => sync.carryOut(item));
  await sync.oneByOne(confirmed);
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
const isConfirmed = (step: Step): boolean => 'record' in step && step.kind !== 'catalog' && step.kind !== 'serve';

/** Records and keys by value, each with its action. */
function pairs(records: readonly KeyRecord[], keys: readonly LiveKey[], now: number): Item[] {
  const byRecord = new Map(keys.map((key) => [key.recordId, key]));
  const known = new Set(records.map(({ recordId }) => recordId));
  const unknown = keys.filter(({ recordId = '' }) => !known.has(recordId));
  const itemOf = (id: string, record: KeyRecord | undefined, live: LiveKey | undefined): Item => {
    return { id: live?.keyId ?? id, record, live, step: reconcile(record, live, now) };
  };
  const items = records
    .map((record) => itemOf(idOf(record), record, byRecord.get(record.recordId)))
    .concat(unknown.map((live) => itemOf(live.keyId, undefined, live)));
  // Without revoked keys and those of other services, so the counts match a list of the keys.
  return items.filter(({ record, step }) => record?.revoked === false || step.kind !== 'leave');
}

/** Whether the action blocks a key that was deleted in API Gateway, or is on no plan there. */
const blocks = ({ record, live, step }: Item): boolean =>
  step.kind === 'changed' && record !== undefined && isDetached(record, live);

/** Whether a key has lost its copy or plan in API Gateway within the last hour, as far as its record says so. */
function isLost({ record, live }: Item, now: number): boolean {
  if (!record || record.revoked) return false;
  if (record.enabled) return isDetached(record, live) || isServedInFault(record, now);
  const wasBlocked = isDetached(record, live) && !isSuspendedUntilResumed(record);
  return wasBlocked && (record.changedAt ?? 0) > now - FAULT_MS;
}

/** The problem, if so many keys are lost that a fault is more likely than an admin, and for the hour after that. */
function faultProblem(lost: readonly Item[], records: readonly KeyRecord[], now: number): string[] {
  const blocked = lost.filter(({ record }) => record?.enabled === false).map(({ id }) => id);
  const all = records.filter(({ enabled }) => enabled).length + blocked.length;
  const isMany = lost.length > MAX_LOST.keys && lost.length > MAX_LOST.share * all;
  if (!isMany && !lost.some(({ record }) => record && isServedInFault(record, now))) return [];
  const kept = lost.map(servedInFault).filter((item) => item.record?.enabled && !blocks(item)).length;
  const served = `${kept} keep working, and syncs restore their copies, with new ids if they were deleted.`;
  const before = `Blocked before that: ${blocked.join(', ')}. To resume one: npm run admin -- keys resume KEY.`;
  return [
    `${lost.length} of ${all} active keys lost their copy in API Gateway, or its usage plan, within an hour: a fault is more ` +
      `likely than an admin. ${served} ${blocked.length > 0 ? `${before} ` : ''}` +
      'To block one: npm run admin -- keys suspend KEY, which always wins.',
  ];
}

/** In a fault, a key keeps working, unless an admin has also blocked it otherwise, or its value is not stored. */
function servedInFault(item: Item): Item {
  const { record, live } = item;
  if (!record || !blocks(item) || openingProblem(record, live, true) !== undefined) return item;
  return live || isIssued(record.recordId) ? { ...item, step: { kind: 'serve', record } } : item;
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

  /** Reports failures together with the completed actions. The next sync retries. */
  async oneByOne(items: readonly Item[]): Promise<void> {
    for (const item of items) {
      const { id } = item;
      if (Date.now() - this.#now >= MAX_RUN_MS) this.report.left.push(id);
      else
        await this.carryOut(item).catch((error: unknown) =>
          this.report.problems.push(`The key ${id} could not be synced (${String(error)}); the next sync retries.`),
        );
    }
  }

  /** Applies the action on a key, and reports it. */
  async carryOut({ id, live, step }: Item): Promise<void> {
    const { keyTable } = this.#registry;
    if (step.kind === 'leave') this.report.unchanged.push(id);
    else if (step.kind === 'report') this.report.problems.push(step.problem);
    else if (step.kind === 'add') this.#note('added', id, live && (await this.#add(live, step.fields)));
    else if (step.kind === 'serve') await this.#serve(id, step.record);
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

  /** Marks a key as pending: the Interim plan meters its requests, and a later sync restores its copy. */
  async #serve(id: string, record: KeyRecord): Promise<void> {
    await this.#registry.keyTable.revise(record, { unappliedSince: this.#now, interimUntil: this.#now + FAULT_MS });
    this.report.left.push(id);
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
      const occasion = live ? { edit: step.change } : { reason: 'deleted in API Gateway' };
      const written = await keyTable.revise(record, step.change, step.kind === 'changed' ? occasion : {});
      const isBlocked = blocks({ id, record, live, step });
      this.#note(isBlocked ? 'closed' : 'changed', id, written);
      if (written && isBlocked && !live && !isIssued(record.recordId)) this.report.problems.push(lostProblem(record));
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
    // In one write: a key with the id of a deleted copy would be blocked if this sync were killed.
    const stamp = { unappliedSince: Date.now(), ...(!live && { keyId: undefined }) };
    const stamped = await keyTable.revise(record, stamp);
    if (!stamped) return void this.report.left.push(id);
    const problem = openingProblem(record, live, isServedInFault(record, this.#now));
    // Before the calls, as one may be applied although its response is lost.
    if (problem) {
      this.report.opened.push(id);
      this.report.problems.push(problem);
    }
    const keyId = await updateGateway(this.#registry, stamped, live);
    if (keyId !== stamped.keyId) await keyTable.revise(stamped, { keyId });
    this.report.applied.push(`${id} (${differingFields(record, live).join(', ')})`);
  }
}
