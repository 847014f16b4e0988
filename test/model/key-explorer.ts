import type { ServiceOutputTypes } from '@aws-sdk/client-api-gateway';
import type { InitializeHandlerOutput } from '@smithy/types';
import { readLive } from '../../shared/key-registry/update-gateway.ts';
import { syncKeys } from '../../shared/key-registry/key-sync.ts';
import { FAULT_MS, SETTLED_MS } from '../../shared/key-registry/reconcile.ts';
import { idOf, type KeyRecord } from '../../shared/keys/key-record.ts';
import { plans } from '../../shared/keys/plans.ts';
import {
  type CommandName,
  commands,
  type Interception,
  InProcessTarget,
  issueSubject,
} from '../support/in-process-target.ts';
import { aKey } from '../support/tables.ts';
import { type Block, type ConsoleEdit, consoleEdits } from './console-edits.ts';
import { type Done, KeyRules, OTHER, RuleBrokenError } from './key-rules.ts';

/** What happens at the call at which the first actor is stopped, while the second does all of its work. */
export const faults = ['stop', 'pause', 'freeze', 'kill', 'late', 'lost'] as const;
export type Fault = (typeof faults)[number];

export type ActorName = CommandName | ConsoleEdit;

export interface Scenario {
  readonly first: CommandName;
  readonly second: ActorName;
  readonly fault: Fault;
  /** The call of the first, from 1. */
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
const LISTS: ReadonlySet<string> = new Set(['GetApiKeysCommand', 'GetUsagePlanKeysCommand', 'GetUsagePlansCommand']);

type Answer = InitializeHandlerOutput<ServiceOutputTypes>;

class KilledError extends Error {}

/** An actor that waits before each of its calls. */
class Actor {
  outcome: 'done' | 'failed' | 'killed' | undefined;
  error: unknown;
  result: unknown;
  calls = 0;
  /** The call that it waits at. */
  call = '';
  #go: ((intercept?: Interception) => void) | undefined;
  #rest = Promise.withResolvers<void>();

  start(world: InProcessTarget, work: () => Promise<unknown>, after: () => void): Promise<void> {
    const wait: Interception = async (perform, name) => {
      this.calls += 1;
      this.call = name;
      const { promise, resolve } = Promise.withResolvers<Interception | undefined>();
      this.#go = resolve;
      this.#rest.resolve();
      const fault = await promise;
      const response = await (fault ? fault(perform, name) : perform());
      after();
      return response;
    };
    // A sync makes some of its calls at the same time: they go one after the other.
    let last: Promise<unknown> = Promise.resolve();
    const intercept: Interception = (perform, name) => {
      const call = last.then(() => wait(perform, name));
      last = call.catch(() => undefined);
      return call;
    };
    void world.run(work, intercept).then(
      (result) => this.#end('done', result),
      (error: unknown) => {
        this.error = error;
        this.#end(error instanceof KilledError ? 'killed' : 'failed', undefined);
      },
    );
    return this.#rest.promise;
  }

  #end(outcome: 'done' | 'failed' | 'killed', result: unknown): void {
    this.outcome ??= outcome;
    this.result = result;
    this.#rest.resolve();
  }

  /** Makes the call that it waits at, and goes on to the next one, or to its end. */
  async step(fault?: Interception): Promise<void> {
    if (this.outcome !== undefined) return;
    this.#rest = Promise.withResolvers();
    this.#go?.(fault);
    await this.#rest.promise;
  }

  /** It never goes on. */
  kill(): void {
    this.outcome = 'killed';
  }

  async finish(): Promise<void> {
    while (this.outcome === undefined) await this.step();
  }
}

/**
 * Runs pairs of admin commands, syncs and edits in the AWS console over API Gateway and a keys table in memory. The
 * clock stands still but for what a scenario says. @throws RuleBrokenError
 */
export class KeyExplorer {
  readonly #world = new InProcessTarget();
  readonly #realNow = Date.now;
  readonly #calls = new Map<string, number>();
  #now = 0;
  #lists: { readonly until: number; readonly responses: Map<string, Answer> } | undefined;

  constructor() {
    Date.now = () => this.#now;
    this.#world.target.gateway.middlewareStack.add(
      (next, { commandName = '' }) =>
        async (args) => {
          if (!this.#lists || !LISTS.has(commandName)) return next(args);
          const name = commandName + JSON.stringify(args.input);
          const known = this.#lists.responses.get(name);
          if (known !== undefined && this.#now < this.#lists.until) return known;
          const response = await next(args);
          if (known === undefined) this.#lists.responses.set(name, structuredClone(response));
          return response;
        },
      { step: 'initialize' },
    );
  }

  close(): void {
    Date.now = this.#realNow;
    this.#world.close();
  }

  /** Calls that a command was seen to make; until then any number. */
  callsOf({ first, gone }: Scenario): number {
    return this.#calls.get(`${first} ${gone}`) ?? Infinity;
  }

  /** @throws RuleBrokenError */
  async run(scenario: Scenario): Promise<void> {
    if (scenario.at > this.callsOf(scenario)) return;
    try {
      await this.#play(scenario);
    } catch (error) {
      if (!(error instanceof RuleBrokenError)) throw error;
      const { first, second, fault, at, until, hasOldLists, block, gone } = scenario;
      const how = [
        `${fault} at call ${at}`,
        ...(until === undefined ? [] : [`back at call ${until} of the other`]),
        ...(hasOldLists ? ['old lists'] : []),
        ...(block === undefined ? [] : [`then ${block}`]),
        ...(gone === undefined ? [] : [`after ${gone}`]),
      ].join(', ');
      throw new RuleBrokenError(`${first} with ${second} (${how}): ${error.message}`);
    }
  }

  async #play(scenario: Scenario): Promise<void> {
    const world = this.#world;
    const { first, second, fault, at, until, block, gone } = scenario;
    this.#now = Date.UTC(2026, 10, 23, 9);
    this.#lists = undefined;
    world.reset();
    const start = [first, second].includes('resume') && !gone ? 'suspended' : startOf(first);
    const subject = await issueSubject(world, start);
    if (/several|all/.test(`${second} ${gone}`))
      for (let id = 1; id <= OTHERS; id++)
        await world.issue(aKey({ keyId: `${id}`, name: OTHER, revision: 1 }), 'free');
    if (gone) {
      consoleEdits[gone](world, subject);
      await syncKeys(world.target);
    } else if (first === 'sync') await halfMoved(world, subject, this.#now);
    if (scenario.hasOldLists) {
      this.#lists = { until: this.#now + OLD_LISTS_MS, responses: new Map() };
      await syncKeys(world.target);
      await readLive(world.target, subject);
    }
    const rules = new KeyRules(world, subject, scenario);
    const look = (): void => rules.look(this.#now);
    const one = new Actor();
    await one.start(world, () => commands[first](world.target, subject.recordId, subject), look);
    while (one.calls < at && one.outcome === undefined) await one.step();
    if (one.outcome !== undefined) return void this.#calls.set(`${first} ${gone}`, one.calls);

    if (fault === 'freeze' && CHANGES.test(one.call)) return;
    let late: (() => Promise<unknown>) | undefined;
    if (fault === 'late') {
      await one.step((perform) => {
        late = perform;
        return Promise.reject(new KilledError());
      });
      one.kill();
    }
    if (fault === 'kill') one.kill();
    if (fault === 'lost') {
      await one.step(async (perform) => {
        await perform();
        throw Object.assign(new Error('No response'), { name: 'TimeoutError', $metadata: {} });
      });
      await one.finish();
    }
    const two = new Actor();
    rules.aimed = this.#aim(first, subject);
    await two.start(world, () => this.#second(second, rules.aimed, subject), look);
    const last = until ?? Infinity;
    while (two.outcome === undefined && two.calls < last) await two.step();
    if (fault === 'pause' || fault === 'late') await this.#pause(rules, LATE_MS, 65 * SECOND);
    if (fault === 'freeze') await this.#pause(rules, FROZEN_MS, 90 * SECOND);
    await late?.().catch(() => undefined);
    await one.finish();
    await two.finish();
    for (const actor of [one, two]) if (actor.outcome === 'failed') rules.failure(actor.error);
    const done = [
      { name: first, actor: one },
      { name: second, actor: two },
    ];
    rules.end(done.map(({ name, actor }): Done => ({ name, isDone: actor.outcome === 'done', result: actor.result })));
    if (block !== undefined) {
      this.#now += SETTLED_MS;
      consoleEdits[block](world, rules.aimed);
      rules.block(block);
    }
    await this.#settle(rules, block !== undefined || second.startsWith('console'));
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
    const [agreed, cleared, metered] = isEdited ? [2, 3, 4] : [1, 2, 3];
    for (const [index, after] of SYNCS_MS.entries()) {
      this.#now = since + after;
      rules.report(await syncKeys(this.#world.target));
      rules.look(this.#now);
      rules.hold();
      if (index >= agreed) await rules.agree();
      if (index >= cleared) rules.cleared();
      if (index >= metered) rules.onOwnPlan(this.#now + (rules.isFault ? FAULT_MS : 60 * SECOND));
    }
  }

  /** What the second is about: the key that the first makes, as soon as it is there. */
  #aim(first: CommandName, subject: KeyRecord): KeyRecord {
    const made = first.startsWith('create')
      ? this.#world.items.find(({ recordId, name }) => recordId !== subject.recordId && name !== OTHER)
      : undefined;
    return made ?? subject;
  }

  #second(name: ActorName, aim: KeyRecord, subject: KeyRecord): Promise<unknown> {
    if (!isEdit(name)) return commands[name](this.#world.target, idOf(aim), subject);
    consoleEdits[name](this.#world, aim);
    return Promise.resolve();
  }
}

const startOf = (first: CommandName) => (first === 'move off Enterprise' ? 'on Enterprise' : 'open');

/** Keys beside the subject where many lose their copies: with it, more than an admin may delete. */
const OTHERS = 11;

const isEdit = (name: ActorName): name is ConsoleEdit => name in consoleEdits;

/** Leaves a key as a move does that was ended with -9 before its calls, two minutes ago. */
async function halfMoved({ target: { keyTable } }: InProcessTarget, subject: KeyRecord, now: number): Promise<void> {
  const unappliedSince = now - 120 * SECOND;
  await keyTable.revise(subject, { plan: 'pro', ...plans.pro.limits, unappliedSince });
}
