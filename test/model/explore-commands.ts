import { AsyncLocalStorage } from 'node:async_hooks';
import { UNDER_WAY_MS } from '../../shared/key-registry/gateway-tags.ts';
import { type CommandName, commands, InProcessTarget, issueSubject, type Start } from '../support/in-process-target.ts';
import { brokenRule, type Outcome } from './command-rules.ts';
import { explore, type Explored, type Step } from './explore.ts';

export interface CommandsToExplore {
  readonly first: CommandName;
  readonly second: CommandName;
  readonly start?: Start;
  /** Times that one command waits for the other, at most. */
  readonly switches: number;
  /** Calls that are lost, or whose answer is, at most. */
  readonly faults: number;
}

type Fate = 'done' | 'lost request' | 'lost answer';

/** A command that waits before each of its calls, and goes on when it is its turn. */
class SteppedCommand {
  readonly name: CommandName;
  outcome: Outcome | undefined;
  readonly #work: () => Promise<unknown>;
  /** Lets the waiting call go on; undefined before the command has begun. */
  #release: ((fate: Fate) => void) | undefined;
  #rest = Promise.withResolvers<void>();

  constructor(name: CommandName, work: () => Promise<unknown>) {
    this.name = name;
    this.#work = work;
  }

  /** Goes on to the next call, or to the end. */
  async goOn(fate: Fate): Promise<void> {
    this.#rest = Promise.withResolvers();
    if (this.#release) this.#release(fate);
    else void this.#run();
    await this.#rest.promise;
  }

  async #run(): Promise<void> {
    try {
      this.outcome = { kind: 'done', result: await stepped.run(this, this.#work) };
    } catch (error) {
      this.outcome = { kind: 'failed', error };
    }
    this.#rest.resolve();
  }

  /** Makes a call when it is its turn. */
  async call<Answer>(make: () => Promise<Answer>): Promise<Answer> {
    const turn = Promise.withResolvers<Fate>();
    this.#release = turn.resolve;
    this.#rest.resolve();
    const fate = await turn.promise;
    if (fate === 'lost request') throw new Error('The request was lost');
    const answer = await make();
    if (fate === 'lost answer') throw new Error('The answer was lost');
    return answer;
  }
}

const stepped = new AsyncLocalStorage<SteppedCommand>();

/** The admin commands over a control plane and a table in memory, every two of them in every order of their calls. */
export class CommandExplorer {
  readonly #world = new InProcessTarget();
  readonly #realNow = Date.now;

  constructor() {
    // All happens in one millisecond: no time tells which command was first.
    const now = Date.now();
    Date.now = () => now;
    const { gateway, documents } = this.#world.target;
    for (const { middlewareStack } of [gateway, documents]) {
      middlewareStack.add(
        (next) => (args) => {
          const command = stepped.getStore();
          return command ? command.call(() => next(args)) : next(args);
        },
        { step: 'initialize' },
      );
    }
  }

  close(): void {
    Date.now = this.#realNow;
    this.#world.close();
  }

  /** Goes through all schedules of two commands. @throws Error at the first that breaks a rule */
  explore(pair: CommandsToExplore): Promise<Explored> {
    return explore(() => this.#begin(pair));
  }

  async #begin({ first, second, start = 'open', switches, faults }: CommandsToExplore) {
    const world = this.#world;
    world.reset();
    const subject = await issueSubject(world, start);
    const both = [first, second].map(
      (name) => new SteppedCommand(name, () => commands[name](world.target, subject.keyId)),
    );
    let turn = 0;
    let switched = 0;
    let failed = 0;
    const step = (index: number, fate: Fate): Step => ({
      name: `${index + 1} ${both[index]?.name} ${fate}`,
      act: async () => {
        if (index !== turn && !both[turn]?.outcome) switched += 1;
        if (fate !== 'done') failed += 1;
        turn = index;
        await both[index]?.goOn(fate);
      },
    });
    const steps = (): Step[] => {
      if (both.every(({ outcome }) => outcome)) return [];
      const other = 1 - turn;
      if (both[turn]?.outcome) return stepsOf(other);
      const isSwitchable = switched < switches && !both[other]?.outcome;
      return [...stepsOf(turn), ...(isSwitchable ? [step(other, 'done')] : [])];
    };
    const stepsOf = (index: number): Step[] => {
      const fates: readonly Fate[] = failed < faults ? ['done', 'lost request', 'lost answer'] : ['done'];
      return fates.map((fate) => step(index, fate));
    };
    const violations = async (): Promise<string[]> => {
      if (failed > 0) await this.#waitForMarks();
      const outcomes = both.map(({ outcome }): Outcome => outcome ?? { kind: 'failed', error: 'It did not end' });
      const broken = await brokenRule({ world, first, second, start, subject, outcomes, isCut: failed > 0 });
      const results = outcomes.map((outcome) => (outcome.kind === 'done' ? 'done' : String(outcome.error)));
      return broken === undefined ? [] : [`${first}, ${second}: ${broken}`, ...results];
    };
    return { steps, violations };
  }

  /** A mark that was left behind counts for some minutes. They have passed. */
  async #waitForMarks(): Promise<void> {
    const { keyTable } = this.#world.target;
    for (const record of await this.#world.keys()) {
      const { busy } = record;
      if (busy) await keyTable.revise(record, { busy: { ...busy, since: busy.since - UNDER_WAY_MS } });
    }
  }
}
