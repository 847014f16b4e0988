import assert from 'node:assert/strict';
import { AdminError } from '../../infra/admin/service/failures.ts';
import type { ApiKey } from '../../infra/local/control-plane/gateway-records.ts';
import { describeChange } from '../../shared/key-registry/key-history.ts';
import type { SyncReport } from '../../shared/key-registry/key-sync.ts';
import { MAIN_LABEL } from '../../shared/key-registry/record-changes.ts';
import { FAULT_MS } from '../../shared/key-registry/reconcile.ts';
import { isInterim, type KeyRecord, NO_EXPIRY, UNTIL_RESUMED } from '../../shared/keys/key-record.ts';
import { hashToken } from '../../shared/keys/token.ts';
import { nextStep } from '../../shared/keys/verdict.ts';
import type { InProcessTarget } from '../support/in-process-target.ts';
import type { Actor, ActorName, Scenario } from './key-explorer.ts';
import { type Block, SEVERAL } from './console-edits.ts';
import { recordOf } from './virtual-table.ts';

type Effect = readonly [part: string, holds: (key: KeyRecord) => boolean];

const isDisabled: Effect = ['state', ({ enabled }) => !enabled];

/** What an actor leaves in a record, and which part of it that is: another actor may have changed the same. */
const effects: { readonly [Name in ActorName]?: Effect } = {
  'move to Free': ['plan', ({ plan }) => plan === 'free'],
  'move off Enterprise': ['plan', ({ plan }) => plan === 'pro'],
  'move to Pro': ['plan', ({ plan }) => plan === 'pro'],
  'move to Enterprise': ['plan', ({ plan, perMinute }) => plan === 'enterprise' && perMinute === 800],
  'console: move': ['plan', ({ plan }) => plan === 'business'],
  suspend: ['state', ({ enabled, suspendedUntil }) => !enabled && suspendedUntil >= UNTIL_RESUMED],
  resume: ['state', ({ enabled, suspendedUntil }) => enabled && suspendedUntil < UNTIL_RESUMED],
  'console: disable': isDisabled,
  'console: take off': isDisabled,
  'console: expire': ['expiry', ({ expiresAtMs = NO_EXPIRY }) => expiresAtMs < Date.now()],
  edit: ['name', ({ name }) => name === 'edited'],
  'console: rename': ['name', ({ name }) => name === 'renamed'],
  'console: delete': isDisabled,
  'console: delete several': isDisabled,
  revoke: ['all', ({ revoked }) => revoked],
};

const CLOSING = /suspend|resume|revoke|disable|take off|expire|delete(?! all)/;

/** The name of the keys that only a deletion of several or all is about. */
export const OTHER = 'other';

/** The call of `keys resume` that reads the record which its write replaces. */
const READ_OF_RESUME = 2;

/** The rules that commands, syncs and edits keep together, whatever happens to one of them. */
export class KeyRules {
  readonly #world: InProcessTarget;
  readonly #subject: KeyRecord;
  readonly #scenario: Scenario;
  readonly #isFault: boolean;
  readonly #isNewKey: boolean;
  /** Whether a sync may have set something back. */
  #hasApplied = false;
  /** The actors that have completed their work. */
  #done: readonly ActorName[] = [];
  readonly #shown: string[] = [];
  #isBlocked = false;
  /** What syncs have reported since then. */
  #problems: string[] = [];
  /** The key that the second actor is about. */
  aimed: KeyRecord;

  constructor(world: InProcessTarget, subject: KeyRecord, scenario: Scenario) {
    const { first, second, gone } = scenario;
    this.#world = world;
    this.#subject = subject;
    this.#scenario = scenario;
    this.#isFault = [second, gone].includes('console: delete all');
    this.#isNewKey = first === 'create';
    this.aimed = subject;
  }

  report({ applied, problems }: Pick<SyncReport, 'applied' | 'problems'>): void {
    this.#hasApplied ||= applied.length > 0;
    this.#problems.push(...problems);
  }

  /** An admin has blocked the key in API Gateway, when no command can be at it any more. */
  block(block: Block): void {
    if (!this.#live(this.aimed)) return;
    this.#isBlocked = true;
    this.#problems = [];
    this.#done = [...this.#done, block];
  }

  /** At any time: an open key admits its client, a closed one does not, and the gateway admits what the limits do. */
  look(): void {
    const { first, second, hasOldLists } = this.#scenario;
    const isEdited = second.startsWith('console') || this.#isBlocked;
    // A new key that no old list has is found gone before all others, and blocked.
    const mayBeGone = this.#isFault && hasOldLists && this.#isNewKey;
    for (const record of this.#world.items) {
      assert(!record.revoked || [first, second].includes('revoke'), 'a key is revoked without an admin');
      const isOpen = stepsOf(record).some((step) => 'window' in step);
      assert(isOpen || mayBeGone || this.#mayBeClosed(record), 'an open key is refused');
      if (!isOpen || isEdited || isInterim(record, Date.now())) continue;
      const { enabled, planId } = this.#live(record) ?? {};
      assert.deepEqual([enabled, planId], [true, record.plan], 'API Gateway meters a key otherwise');
    }
    if (!this.#isNewKey) this.#closed();
  }

  #mayBeClosed(record: KeyRecord): boolean {
    const { first, second, gone = '' } = this.#scenario;
    if (record.name === OTHER) return this.#isOneOfSeveral(record);
    return this.#isBlocked || [first, second, gone].some((name) => CLOSING.test(name));
  }

  #live({ recordId }: KeyRecord): ApiKey | undefined {
    return this.#world.records.apiKeys.find(({ value }) => value === recordId);
  }

  /** What was done when both actors had ended. */
  end(actors: readonly (readonly [ActorName, Actor])[]): void {
    this.#done = actors.flatMap(([name, { outcome }]) => (outcome === 'done' ? [name] : []));
    for (const [name, { outcome, result }] of actors) {
      const isExpected = result instanceof AdminError || (result instanceof Error && result.name === 'TimeoutError');
      if (outcome === 'failed' && !isExpected) assert.ifError(result);
      if (name === 'sync' && isReport(result)) this.report(result);
      // One without an end may have set something back, and has reported nothing.
      if (name === 'sync' && outcome !== 'done') this.#hasApplied = true;
      if (outcome === 'done' && typeof result === 'object' && result !== null && 'token' in result)
        this.#shown.push(hashToken(String(result.token)));
    }
  }

  #closed(): void {
    const record = this.#world.items.find(({ recordId }) => recordId === this.#subject.recordId);
    if (!record) return;
    const isOpen = stepsOf(record).some(({ kind }) => kind !== 'denied');
    const isClosed = this.#done.includes('revoke') || (this.#done.includes('suspend') && !this.#isResumedLater());
    assert(!isOpen || !isClosed, 'a key that was closed is open');
    if (!this.#done.includes('end')) return;
    const [hash = ''] = Object.entries(this.#subject.tokens).find(([, { label }]) => label === MAIN_LABEL) ?? [];
    assert((record.tokens[hash]?.until ?? 0) <= Date.now(), 'a token that was ended works');
  }

  /** A resumption that has read the record after a suspension is a later one. */
  #isResumedLater(): boolean {
    const { first, at, until } = this.#scenario;
    return this.#done.includes('resume') && (first !== 'resume' || at <= READ_OF_RESUME || until !== undefined);
  }

  /** What a command has done holds, from its end on. */
  hold(isSettled = false): void {
    const record = this.#world.items.find(({ recordId }) => recordId === this.aimed.recordId);
    assert(record, 'a record is gone');
    for (const name of this.#done) {
      const [part, holds] = effects[name] ?? [];
      const isShared = this.#done.some((other) => other !== name && effects[other]?.[0] === part);
      const isRevoked = this.#done.includes('revoke') && part !== 'all';
      const isOfAnother = this.#isNewKey && name !== this.#scenario.second;
      const mayDiffer = name.startsWith('console') && (!isSettled || this.#isReported(name));
      if (!isShared && !isRevoked && !isOfAnother && !mayDiffer)
        assert(holds?.(record) ?? true, `${name} does not hold`);
    }
    for (const hash of this.#shown) {
      const token = this.#world.items.map(({ tokens }) => tokens[hash]).find((each) => each !== undefined);
      assert(token && !token.pending, 'a token that was shown is lost or pending');
    }
    const live = this.#live(record);
    if (!this.#isBlocked || !live) return;
    const isOpen = live.enabled && live.planId !== undefined && live.tags['expires'] === undefined;
    const isNamed = this.#problems.some((words) => words.includes(`keys suspend ${live.id}`));
    assert(!isOpen || !record.enabled || isNamed, 'a sync has unblocked a key without reporting it');
  }

  /** An edit made while a command was changing the key may be reverted: then a sync, or a finished command, says so. */
  #isReported(name: ActorName): boolean {
    const putsOnPlan = this.#scenario.first.startsWith('move') && name === 'console: take off';
    return this.#hasApplied || putsOnPlan || this.#isNewKey;
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
    assert.deepEqual(
      times,
      shown.toReversed(),
      `of the changes ${changed.join(', ')} the history has ${JSON.stringify(rows)}`,
    );
  }

  #same(record: KeyRecord): void {
    const key = this.#live(record);
    if (record.revoked) return assert(!key, 'a revoked key is in API Gateway');
    const { keyId, name, enabled, plan, perMinute } = record;
    // One that is blocked needs none until it is resumed.
    if (!key && !enabled) return;
    // One that was taken off its plan is closed, and stays off; a resumption finds its id by its value.
    const isOff = !enabled && key?.planId === undefined;
    const id = isOff ? (keyId ?? key?.id) : keyId;
    const state = [key?.id, key?.name, isOff || key?.enabled, key?.planId];
    assert.deepEqual(state, [id, name, isOff || enabled, isOff ? undefined : plan], 'record and API Gateway differ');
    if (plan === 'enterprise') assert.equal(key?.tags['per-minute'], String(perMinute), 'the agreed limits differ');
  }

  /** A few keys that were deleted stay blocked, unless an admin resumes them; of many, those that are named. */
  #blockedByDeletion(record: KeyRecord): void {
    const { first, second, gone } = this.#scenario;
    const isSubject = record.recordId === this.#subject.recordId && ![first, second].includes('resume');
    const isDeleted = this.#isOneOfSeveral(record) || (isSubject && gone === 'console: delete');
    assert(!isDeleted || !record.enabled, 'a key that was deleted is open');
    const isNamed = this.#problems.some((words) => words.includes(`Blocked before that: ${record.keyId}.`));
    assert(record.enabled || this.#mayBeClosed(record) || isNamed, 'a key is shut although no admin has blocked it');
  }

  #isOneOfSeveral({ name, keyId = '' }: KeyRecord): boolean {
    return name === OTHER && SEVERAL.includes(keyId) && this.#scenario.second.endsWith('several');
  }

  /** After eleven minutes no key is pending sync. */
  cleared(): void {
    const isPending = this.#world.items.some(({ unappliedSince }) => unappliedSince !== undefined);
    assert(!isPending, 'a key is pending sync after eleven minutes');
  }

  /** After sixteen minutes, or an hour after a fault, each key is metered on its own plan. */
  onOwnPlan(): void {
    const then = Date.now() + (this.#isFault ? FAULT_MS : 60_000);
    const isLeft = this.#world.items.some((record) => !record.revoked && isInterim(record, then));
    assert(!isLeft, 'a key is on the Interim plan after sixteen minutes');
  }
}

/** What requests with each token of a key lead to. */
const stepsOf = (record: KeyRecord) => Object.keys(record.tokens).map((hash) => nextStep(record, hash, Date.now()));

const isReport = (result: unknown): result is SyncReport =>
  typeof result === 'object' && result !== null && 'applied' in result && 'problems' in result;
