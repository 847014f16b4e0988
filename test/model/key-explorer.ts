import { syncKeys } from '../../shared/key-registry/key-sync.ts';
import { SETTLED_MS } from '../../shared/key-registry/reconcile.ts';
import { readLive } from '../../shared/key-registry/update-gateway.ts';
import { idOf, type KeyRecord } from '../../shared/keys/key-record.ts';
import { plans } from '../../shared/keys/plans.ts';
import {
  type CommandName,
  commands,
  InProcessTarget,
  type Interception,
  issueSubject,
} from '../support/in-process-target.ts';
import { aKey } from '../support/tables.ts';
import { type Block, type ConsoleEdit, editInConsole, isConsoleEdit } from './console-edits.ts';
import { KeyRules, OTHER } from './key-rules.ts';

/** An actor that waits before each of its calls. */
export class Actor {
  outcome: 'done' | 'failed' | 'killed' | undefined;
  /** What it returned or threw. */
  result: unknown;
  calls = 0;
  call = '';
  /** The call of a killed actor that has not arrived yet. */
  late: (() => Promise<unknown>) | undefined;
  #go: (fault?: 'late' | 'lost') => void = () => undefined;
  #rest = Promise.withResolvers<void>();

  /** @param after called after each call */
  start(world: InProcessTarget, work: () => Promise<unknown>, after: () => void): Promise<void> {
    const wait: Interception = async (perform, name) => {
      this.calls += 1;
      this.call = name;
      const { promise, resolve } = Promise.withResolvers<'late' | 'lost' | undefined>();
      this.#go = resolve;
      this.#rest.resolve();
      const fault = await promise;
      if (fault === 'late') {
        this.late = perform;
        this.#end('killed');
        return new Promise(() => undefined);
      }
      const response = await perform();
      if (fault === 'lost') throw Object.assign(new Error('No response'), { name: 'TimeoutError', $metadata: {} });
      after();
      return response;
    };
    // A sync makes some of its calls concurrently: they go one after the other.
    let last: Promise<unknown> = Promise.resolve();
    const intercept: Interception = (perform, name) => {
      const call = last.then(() => wait(perform, name));
      last = call.catch(() => undefined);
      return call;
    };
    void world.run(work, intercept).then(
      (result) => this.#end('done', result),
      (error: unknown) => this.#end('failed', error),
    );
    return this.#rest.promise;
  }

  #end(outcome: 'done' | 'failed' | 'killed', result?: unknown): void {
    this.outcome ??= outcome;
    this.result = result;
    this.#rest.resolve();
  }

  /** Makes the call that it waits at, and goes on to the next one, or to its end. */
  async step(fault?: 'late' | 'lost'): Promise<void> {
    if (this.outcome !== undefined) return;
    this.#rest = Promise.withResolvers();
    this.#go(fault);
    await this.#rest.promise;
  }

  async finish(): Promise<void> {
    while (this.outcome === undefined) await this.step();
  }
}

/** What happens at the call at which the first actor is stopped, while the second does all of its work. */
export const faults = ['stop', 'pause', 'freeze', 'kill', 'late', 'lost'] as const;

export type ActorName = CommandName | ConsoleEdit;

export interface Scenario {
  readonly first: CommandName;
  readonly second: ActorName;
  readonly fault: (typeof faults)[number];
  readonly at: number;
  /** The call of the second before which the first goes on; undefined: the second does all of its work. */
  readonly until?: number;
  /** An admin blocks the key in API Gateway, three minutes after all is done. */
  readonly block?: Block;
  /** A deletion that a sync has seen before all of it. */
  readonly gone?: ConsoleEdit;
  /** The lists of API Gateway are as they were before, for some minutes. */
  readonly hasOldLists: boolean;
}

const SECOND = 1_000;
/** A call that was begun within a minute arrives no later than this after it. */
const LATE_MS = 100 * SECOND;
/** A machine may stand still for longer, though not in the middle of a call that changes API Gateway. */
const FROZEN_MS = 500 * SECOND;
const CHANGES = /^(?:Create|Update|Delete|Tag|Untag)(?:ApiKey|UsagePlanKey|Resource)/;
/** When syncs run after all is done. */
const SYNCS_MS = [30, 330, 630, 930, 1_230].map((seconds) => seconds * SECOND);
/** Lists may be as old as this. */
const OLD_LISTS_MS = 4 * 60 * SECOND;
/** Keys beside the subject where many lose their copies: with it, more than an admin may delete. */
const OTHERS = 11;

/**
 * Runs pairs of admin commands, syncs and edits in the AWS console over API Gateway and a keys table in memory. The
 * clock of the process stands still but for what a scenario says.
 */
export class KeyExplorer {
  readonly #world = new InProcessTarget();
  readonly #calls = new Map<string, number>();
  #now = 0;

  constructor() {
    Date.now = () => this.#now;
  }

  /** Calls that a command was seen to make; until then any number. */
  callsOf({ first, gone }: Scenario): number {
    return this.#calls.get(`${first} ${gone}`) ?? Infinity;
  }

  /** @throws Error if a rule is broken */
  async run(scenario: Scenario): Promise<void> {
    const world = this.#world;
    const { first, second, fault, at, until = Infinity, block, gone } = scenario;
    const subject = await this.#begin(scenario);
    const rules = new KeyRules(world, subject, scenario);
    const one = new Actor();
    await one.start(
      world,
      () => commands[first](world.target, subject.recordId, subject),
      () => rules.look(),
    );
    while (one.calls < at && one.outcome === undefined) await one.step();
    if (one.outcome !== undefined) return void this.#calls.set(`${first} ${gone}`, one.calls);

    if (fault === 'freeze' && CHANGES.test(one.call)) return;
    if (fault === 'kill') one.outcome = 'killed';
    if (fault === 'late' || fault === 'lost') await one.step(fault);
    if (fault === 'lost') await one.finish();
    const two = new Actor();
    rules.aimed = this.#aim(first, subject);
    await two.start(
      world,
      () => this.#act(second, rules.aimed, subject),
      () => rules.look(),
    );
    while (two.calls < until && two.outcome === undefined) await two.step();
    if (fault === 'pause' || fault === 'late') await this.#pause(rules, LATE_MS, 65 * SECOND);
    if (fault === 'freeze') await this.#pause(rules, FROZEN_MS, 90 * SECOND);
    await one.late?.().catch(() => undefined);
    await one.finish();
    await two.finish();
    rules.end([
      [first, one],
      [second, two],
    ]);
    if (block !== undefined) {
      this.#now += SETTLED_MS;
      editInConsole(world, block, rules.aimed);
      rules.block(block);
    }
    await this.#settle(rules, block !== undefined || isConsoleEdit(second));
  }

  /** @returns the key that a scenario is about */
  async #begin({ first, second, gone, hasOldLists }: Scenario): Promise<KeyRecord> {
    const { target } = this.#world;
    this.#now = Date.UTC(2026, 10, 23, 9);
    this.#world.reset();
    const start = first === 'move off Enterprise' ? 'on Enterprise' : 'open';
    const isSuspended = [first, second].includes('resume') && !gone;
    const subject = await issueSubject(this.#world, isSuspended ? 'suspended' : start);
    const others = /several|all/.test(`${second} ${gone}`) ? OTHERS : 0;
    for (let id = 1; id <= others; id++)
      await this.#world.issue(aKey({ keyId: `${id}`, name: OTHER, revision: 1 }), 'free');
    if (gone) {
      editInConsole(this.#world, gone, subject);
      await syncKeys(target);
    } else if (first === 'sync') {
      // As a move leaves it that was killed before its calls, two minutes ago.
      const unappliedSince = this.#now - 120 * SECOND;
      await target.keyTable.revise(subject, { plan: 'pro', ...plans.pro.limits, unappliedSince });
    }
    if (hasOldLists) {
      this.#world.ageLists(this.#now + OLD_LISTS_MS);
      await syncKeys(target);
      await readLive(target, subject);
    }
    return subject;
  }

  /** Time goes by, with a sync every so often. */
  async #pause(rules: KeyRules, milliseconds: number, every: number): Promise<void> {
    const until = this.#now + milliseconds;
    for (; this.#now + every < until; rules.report(await syncKeys(this.#world.target))) this.#now += every;
    this.#now = until;
  }

  /** Syncs until nothing is left. An edit is seen five minutes later than a command: by the next sync. */
  async #settle(rules: KeyRules, isEdited: boolean): Promise<void> {
    const since = this.#now;
    const agreed = isEdited ? 2 : 1;
    for (const [index, after] of SYNCS_MS.entries()) {
      this.#now = since + after;
      rules.report(await syncKeys(this.#world.target));
      rules.look();
      rules.hold();
      if (index >= agreed) await rules.agree();
      if (index > agreed) rules.cleared();
      if (index > agreed + 1) rules.onOwnPlan();
    }
  }

  /** What the second is about: the key that the first makes, as soon as it is there. */
  #aim(first: CommandName, subject: KeyRecord): KeyRecord {
    const isMade = ({ recordId, name }: KeyRecord): boolean => recordId !== subject.recordId && name !== OTHER;
    return (first === 'create' ? this.#world.items.find(isMade) : undefined) ?? subject;
  }

  async #act(name: ActorName, aim: KeyRecord, subject: KeyRecord): Promise<unknown> {
    if (!isConsoleEdit(name)) return commands[name](this.#world.target, idOf(aim), subject);
    return editInConsole(this.#world, name, aim);
  }
}
