import { AsyncLocalStorage } from 'node:async_hooks';
import { UNDER_WAY_MS } from '../../shared/key-registry/gateway-tags.ts';
import { type CommandName, commands, InProcessTarget, issueSubject, type Start } from '../support/in-process-target.ts';
import { type Choose, explore, type Explored } from './explore.ts';
import { brokenRule, type Ending, type Outcome } from './command-rules.ts';

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
  outcome: Outcome | undefined;
  readonly #work: () => Promise<unknown>;
  #isBegun = false;
  /** Lets the call go on that waits. */
  #release: (fate: Fate) => void = () => undefined;
  #rest = Promise.withResolvers<void>();

  constructor(work: () => Promise<unknown>) {
    this.#work = work;
  }

  /** Goes on to the next call, or to the end. */
  async goOn(fate: Fate): Promise<void> {
    this.#rest = Promise.withResolvers();
    if (this.#isBegun) this.#release(fate);
    else void this.#run();
    await this.#rest.promise;
  }

  async #run(): Promise<void> {
    this.#isBegun = true;
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
    // All happens in one millisecond: no command is told from another by when it began.
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
    return explore((choose) => this.#run(pair, choose));
  }

  async #run(pair: CommandsToExplore, choose: Choose): Promise<void> {
    const world = this.#world;
    world.reset();
    const subject = await issueSubject(world, pair.start ?? 'open');
    const both = [pair.first, pair.second].map(
      (name) => new SteppedCommand(() => commands[name](world.target, subject.keyId)),
    );
    const steps = await this.#interleave(both, pair, choose);
    const outcomes = both.map(({ outcome }): Outcome => outcome ?? { kind: 'failed', error: 'It did not end' });
    const isCut = steps.some((step) => step.includes('lost'));
    const ending: Ending = { ...pair, world, subject, outcomes, isCut };
    if (isCut) await this.#waitForMarks();
    const broken = await brokenRule(ending);
    if (broken === undefined) return;
    const words = outcomes.map((outcome) => (outcome.kind === 'done' ? 'done' : String(outcome.error)));
    throw new Error(`${pair.first}, ${pair.second}: ${broken}\n${steps.join(', ')}\n${words.join('\n')}`);
  }

  async #interleave(both: readonly SteppedCommand[], pair: CommandsToExplore, choose: Choose): Promise<string[]> {
    const steps: string[] = [];
    let { switches, faults } = pair;
    let turn = 0;
    while (both.some(({ outcome }) => !outcome)) {
      if (both[turn]?.outcome) turn = 1 - turn;
      const options: [number, Fate][] = [[turn, 'done']];
      if (faults > 0) options.push([turn, 'lost request'], [turn, 'lost answer']);
      if (switches > 0 && !both[1 - turn]?.outcome) options.push([1 - turn, 'done']);
      // No two schedules come to one state: each is different in what it has done so far.
      const [next, fate] = options[choose(steps, options.length) ?? 0] ?? [turn, 'done'];
      if (next !== turn) switches -= 1;
      if (fate !== 'done') faults -= 1;
      turn = next;
      steps.push(`${next + 1} ${next === 0 ? pair.first : pair.second} ${fate}`);
      await both[turn]?.goOn(fate);
    }
    return steps;
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
