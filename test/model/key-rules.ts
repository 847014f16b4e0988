import type { ApiKey } from '../../infra/local/control-plane/gateway-records.ts';
import { AdminError } from '../../infra/admin/service/failures.ts';
import type { SyncReport } from '../../shared/key-registry/key-sync.ts';
import { isInterim, type KeyRecord, NO_EXPIRY, UNTIL_RESUMED } from '../../shared/keys/key-record.ts';
import { describeChange } from '../../shared/key-registry/key-history.ts';
import { hashToken } from '../../shared/keys/token.ts';
import { nextStep } from '../../shared/keys/verdict.ts';
import { MAIN_LABEL } from '../../shared/key-registry/record-changes.ts';
import type { InProcessTarget } from '../support/in-process-target.ts';
import { recordOf } from './virtual-table.ts';
import { type Block, SEVERAL } from './console-edits.ts';
import type { ActorName, Scenario } from './key-explorer.ts';

export class RuleBrokenError extends Error {
  override readonly name = 'RuleBrokenError';
}

/** The result of an actor. */
export interface Done {
  readonly name: ActorName;
  readonly isDone: boolean;
  readonly result: unknown;
}

/** What a done actor leaves in a record, and which part of it that is: another done actor may have changed the same. */
const effects: { readonly [Name in ActorName]?: readonly [part: string, holds: (key: KeyRecord) => boolean] } = {
  'move to Free': ['plan', ({ plan }) => plan === 'free'],
  'move off Enterprise': ['plan', ({ plan }) => plan === 'pro'],
  'move to Pro': ['plan', ({ plan }) => plan === 'pro'],
  'move to Enterprise': ['plan', ({ plan, perMinute }) => plan === 'enterprise' && perMinute === 800],
  'console: move': ['plan', ({ plan }) => plan === 'business'],
  suspend: ['state', ({ enabled, suspendedUntil }) => !enabled && suspendedUntil >= UNTIL_RESUMED],
  resume: ['state', ({ enabled, suspendedUntil }) => enabled && suspendedUntil < UNTIL_RESUMED],
  'console: disable': ['state', ({ enabled }) => !enabled],
  'console: take off': ['state', ({ enabled }) => !enabled],
  'console: expire': ['expiry', ({ expiresAtMs = NO_EXPIRY }) => expiresAtMs < Date.now()],
  edit: ['name', ({ name }) => name === 'edited'],
  'console: rename': ['name', ({ name }) => name === 'renamed'],
  'console: delete': ['state', ({ enabled }) => !enabled],
  'console: delete several': ['state', ({ enabled }) => !enabled],
  revoke: ['all', ({ revoked }) => revoked],
};

const CLOSING = /suspend|revoke|disable|take off|expire|delete(?! all)/;

/** The name of the keys that only a deletion of several or all is about. */
export const OTHER = 'other';

/** The rules that commands, syncs and edits keep together, whatever happens to one of them. */
export class KeyRules {
  readonly #world: InProcessTarget;
  readonly #subject: KeyRecord;
  readonly #scenario: Scenario;
  /** What syncs have set back. */
  #applied: string[] = [];
  #done: readonly Done[] = [];
  #block: Block | undefined;
  /** What syncs have reported since then. */
  #problems: string[] = [];
  /** The key that the second actor is about. */
  aimed: KeyRecord;

  constructor(world: InProcessTarget, subject: KeyRecord, scenario: Scenario) {
    this.#world = world;
    this.#subject = subject;
    this.aimed = subject;
    this.#scenario = scenario;
  }

  report({ applied, problems }: Pick<SyncReport, 'applied' | 'problems'>): void {
    this.#applied = [...this.#applied, ...applied];
    this.#problems = [...this.#problems, ...problems];
  }

  /** An admin blocks the key in API Gateway, when no command can be at it any more. */
  block(block: Block): void {
    if (!this.#live(this.aimed)) return;
    this.#block = block;
    this.#problems = [];
    this.#done = [...this.#done, { name: block, isDone: true, result: undefined }];
  }

  /** A command fails with a sentence, or where it had no response. */
  failure(error: unknown): void {
    if (error instanceof AdminError || (error instanceof Error && error.name === 'TimeoutError')) return;
    throw error;
  }

  /** At any time: an open key admits its client, and the gateway admits what the limits do. */
  look(now: number): void {
    const { first, second, hasOldLists } = this.#scenario;
    const isEdited = second.startsWith('console') || this.#block !== undefined;
    // A new key that no old list has is found gone before all others, and blocked.
    const isNew = this.isFault && hasOldLists && first.startsWith('create');
    for (const record of this.#world.items) {
      if (record.revoked && ![first, second].includes('revoke'))
        throw new RuleBrokenError('a key is revoked without an admin');
      const isOpen = Object.keys(record.tokens).some((hash) => 'window' in nextStep(record, hash, now));
      if (!isNew && !this.#mayBeClosed(record) && !isOpen) throw new RuleBrokenError('an open key is refused');
      if (isOpen && !isInterim(record, now) && !isEdited) this.#admits(record);
    }
    this.#closed(now);
  }

  #mayBeClosed(record: KeyRecord): boolean {
    const { first, second, gone = '' } = this.#scenario;
    if (record.name === OTHER) return this.#isOneOfSeveral(record);
    return [first, second, this.#block ?? '', gone].some((name) => CLOSING.test(name) || name === 'resume');
  }

  #admits(record: KeyRecord): void {
    const key = this.#live(record);
    const plan = key && this.#world.records.plansOfKey(key.id)[0]?.id;
    if (!key?.enabled || plan !== record.plan)
      throw new RuleBrokenError(`the gateway has the key ${key?.enabled ? `on ${plan}` : 'closed'}, and meters it so`);
  }

  #live({ recordId }: KeyRecord): ApiKey | undefined {
    return this.#world.records.apiKeys.find(({ value }) => value === recordId);
  }

  /** What was done when both actors had ended. */
  end(done: readonly Done[]): void {
    this.#done = done;
    // A sync that has no end may have set something back, and has said nothing.
    if (done.some(({ name, isDone }) => name === 'sync' && !isDone))
      this.report({ applied: ['interrupted'], problems: [] });
    for (const { name, result } of done) if (name === 'sync' && isReport(result)) this.report(result);
  }

  #isDone(...names: readonly ActorName[]): boolean {
    return this.#done.some(({ name, isDone }) => isDone && names.includes(name));
  }

  /** A key that was suspended or revoked stays so. */
  #closed(now: number): void {
    const { first } = this.#scenario;
    const record = this.#world.items.find(({ recordId }) => recordId === this.#subject.recordId);
    if (!record || first.startsWith('create')) return;
    const isOpen = Object.keys(record.tokens).some((hash) => nextStep(record, hash, now).kind !== 'denied');
    const isClosed = this.#isDone('revoke') || (this.#isDone('suspend') && !this.#resumedLater());
    if (isOpen && isClosed) throw new RuleBrokenError('a key that was closed is open');
    if (!this.#isDone('end')) return;
    const ended = Object.values(this.#subject.tokens).find(({ label }) => label === MAIN_LABEL);
    const token = Object.values(record.tokens).find(({ last, label }) => label === MAIN_LABEL && last === ended?.last);
    if (token && token.until > now) throw new RuleBrokenError('a token that was ended works');
  }

  /** A resumption that has read the record after a suspension is a later one. */
  #resumedLater(): boolean {
    const { first, second, at, until } = this.#scenario;
    if (first === 'suspend' && second === 'resume') return this.#isDone('resume');
    return (
      first === 'resume' &&
      second === 'suspend' &&
      (at <= READ_OF_RESUME || until !== undefined) &&
      this.#isDone('resume')
    );
  }

  /** What a command has done holds, from its end on. */
  hold(isSettled = false): void {
    const record = this.#world.items.find(({ recordId }) => recordId === this.aimed.recordId);
    if (!record) throw new RuleBrokenError('a record is gone');
    const isRevoked = this.#isDone('revoke');
    for (const done of this.#done.filter(({ isDone, name }) => isDone && (isSettled || !name.startsWith('console')))) {
      const [part, holds] = effects[done.name] ?? [];
      const isShared = this.#done.some((other) => other !== done && other.isDone && effects[other.name]?.[0] === part);
      const mayGive = isShared || (isRevoked && part !== 'all') || this.#isReported(done.name);
      const isOfSubject = !this.#scenario.first.startsWith('create') || done.name === this.#scenario.second;
      if (holds && isOfSubject && !mayGive && !holds(record)) throw new RuleBrokenError(`${done.name} does not hold`);
      this.#shown(done);
    }
    this.#blocked(record);
  }

  /** A sync reports each key that it unblocks. */
  #blocked(record: KeyRecord): void {
    const live = this.#live(record);
    if (this.#block === undefined || !live) return;
    const [onPlan] = this.#world.records.plansOfKey(live.id);
    const isOpen = live.enabled && onPlan !== undefined && live.tags['expires'] === undefined;
    const isNamed = this.#problems.some((words) => words.includes(`keys suspend ${live.id}`));
    if (isOpen && record.enabled && !isNamed)
      throw new RuleBrokenError('a sync has unblocked a key without reporting it');
  }

  /** Record and API Gateway say the same, what was done holds, and who did it is recorded, or shows as not recorded. */
  async agree(): Promise<void> {
    for (const record of this.#world.items) {
      this.#same(record);
      this.#blockedByDeletion(record);
      await this.#recorded(record);
    }
    this.hold(true);
  }

  /** Of changes that were not recorded one after the other, the latest shows. */
  async #recorded(record: KeyRecord): Promise<void> {
    const rows = await this.#world.target.history.of(record, 100);
    const times = rows.map(({ at }) => Date.parse(at));
    const recorded = new Set(times.filter((_, index) => rows[index]?.who));
    const changed = this.#world.commits.flatMap(({ before, after, at }) => {
      const [was, now] = [before && recordOf(before), recordOf(after)];
      const isIssued = !was && now.changedAt === undefined;
      if (now.recordId !== record.recordId || isIssued || describeChange(was, now, at).length === 0) return [];
      return [now.changedAt ?? Infinity];
    });
    const shown = changed.filter((at, index) => {
      const next = changed[index + 1];
      return recorded.has(at) || next === undefined || recorded.has(next);
    });
    if (JSON.stringify(shown.toReversed()) !== JSON.stringify(times))
      throw new RuleBrokenError(`of the changes ${changed.join(', ')} the history has ${JSON.stringify(rows)}`);
  }

  /** An edit made while a command was changing the key may be reverted: then a sync, or a finished command, says so. */
  #isReported(name: ActorName): boolean {
    const { first } = this.#scenario;
    const putsOnPlan = first.startsWith('move') && name === 'console: take off';
    return name.startsWith('console') && (this.#applied.length > 0 || putsOnPlan || first.startsWith('create'));
  }

  #same(record: KeyRecord): void {
    const key = this.#live(record);
    if (record.revoked) {
      if (key) throw new RuleBrokenError('a revoked key is in API Gateway');
      return;
    }
    // One that is blocked needs none until it is resumed.
    if (!key && !record.enabled) return;
    if (!key) throw new RuleBrokenError('a key is not in API Gateway');
    const plan = this.#world.records.plansOfKey(key.id)[0]?.id;
    const live = [key.id, key.name, plan, key.enabled];
    const { keyId, name, enabled } = record;
    // One that was taken off its plan is closed, and stays off.
    const isOff = plan === undefined && !enabled;
    const said = [keyId, name, isOff ? undefined : record.plan, isOff ? key.enabled : enabled];
    if (JSON.stringify(live) !== JSON.stringify(said))
      throw new RuleBrokenError(`API Gateway says ${live.join(', ')}, and the record ${said.join(', ')}`);
    if (record.plan === 'enterprise' && key.tags['per-minute'] !== String(record.perMinute))
      throw new RuleBrokenError('the agreed limits differ');
  }

  /** A few keys that were deleted stay blocked, unless an admin resumes them; of many, those that are named. */
  #blockedByDeletion(record: KeyRecord): void {
    const { first, second, gone } = this.#scenario;
    const isSubject = record.recordId === this.#subject.recordId && ![first, second].includes('resume');
    const isDeleted = this.#isOneOfSeveral(record) || (isSubject && gone === 'console: delete');
    if (isDeleted && record.enabled) throw new RuleBrokenError('a key that was deleted is open');
    const isNamed = this.#problems.some((words) => words.includes(`Blocked before that: ${record.keyId}.`));
    if (!record.enabled && !this.#mayBeClosed(record) && !isNamed)
      throw new RuleBrokenError('a key is shut although no admin has blocked it');
  }

  #isOneOfSeveral({ name, keyId = '' }: KeyRecord): boolean {
    return name === OTHER && SEVERAL.includes(keyId) && this.#scenario.second.endsWith('several');
  }

  /** Whether so many keys were deleted that no admin can have meant it. */
  get isFault(): boolean {
    const { second, gone } = this.#scenario;
    return [second, gone].includes('console: delete all');
  }

  /** A token that was shown works, where its key does. */
  #shown({ result }: Done): void {
    if (typeof result !== 'object' || result === null || !('token' in result)) return;
    const hash = hashToken(String(result.token));
    const record = this.#world.items.find(({ tokens }) => Object.hasOwn(tokens, hash));
    if (!record) throw new RuleBrokenError('a token that was shown is lost');
    if (record.tokens[hash]?.pending) throw new RuleBrokenError('a token that was shown is pending');
  }

  /** After eleven minutes no key is pending sync. */
  cleared(): void {
    const left = this.#world.items.find(({ unappliedSince }) => unappliedSince !== undefined);
    if (left) throw new RuleBrokenError('a key is pending sync after eleven minutes');
  }

  /** After sixteen minutes each key is metered on its own plan. */
  onOwnPlan(now: number): void {
    if (this.#world.items.some((record) => !record.revoked && isInterim(record, now)))
      throw new RuleBrokenError('a key is on the Interim plan after sixteen minutes');
  }
}

const isReport = (result: unknown): result is Pick<SyncReport, 'applied' | 'problems'> =>
  typeof result === 'object' && result !== null && 'applied' in result && 'problems' in result;

/** The call of `keys resume` that reads the record which its write replaces. */
const READ_OF_RESUME = 2;
