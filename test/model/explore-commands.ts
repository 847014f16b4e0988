import { AsyncLocalStorage } from 'node:async_hooks';
import { type CommandName, commands, InProcessTarget, issueSubject } from '../support/in-process-target.ts';
import { brokenRule, type Outcome } from './command-rules.ts';

/** Times that one command waits for the other, at most. */
const SWITCHES = 2;

/** Faults that commands have had, each with the two whose calls took turns in it. */
const knownFaults: Readonly<Record<string, readonly [CommandName, CommandName]>> = {
  'of two rotations at once each shows a token that works, or fails': ['rotate', 'rotate'],
  'a rotation and a move leave the plan as it was moved': ['rotate', 'move to Enterprise'],
  'a sync and a rotation wait for no one': ['rotate', 'sync'],
  'a sync does not write limits over a move': ['sync', 'move to Pro'],
  'of two moves at once one fails, or both systems have the same': ['move to Pro', 'move to Enterprise'],
  'a suspension beside a resumption is in both systems, or in none': ['suspend', 'resume'],
};

/** Runs the two commands of each known fault with their calls in every order. @throws Error at the first that breaks a rule */
export async function exploreCommands(report: (line: string) => void): Promise<void> {
  const explorer = new CommandExplorer();
  try {
    for (const [title, pair] of Object.entries(knownFaults))
      report(`${title}: ${await explorer.explore(pair)} schedules`);
  } finally {
    explorer.close();
  }
}

/** A command that waits before each of its calls, and goes on when it is its turn. */
class SteppedCommand {
  outcome: Outcome | undefined;
  readonly #work: () => Promise<unknown>;
  /** Lets the waiting call go on; undefined before the command has begun. */
  #release: (() => void) | undefined;
  #rest = Promise.withResolvers<void>();

  constructor(work: () => Promise<unknown>) {
    this.#work = work;
  }

  /** Goes on to the next call, or to the end. */
  async goOn(): Promise<void> {
    this.#rest = Promise.withResolvers();
    if (this.#release) this.#release();
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

  /** Waits until a call may be made. */
  async turn(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#release = resolve;
    this.#rest.resolve();
    await promise;
  }
}

const stepped = new AsyncLocalStorage<SteppedCommand>();

/** The admin commands over a control plane and a table in memory. */
class CommandExplorer {
  readonly #world = new InProcessTarget();
  readonly #realNow = Date.now;

  constructor() {
    // All happens in one millisecond: no time tells which command was first.
    const now = Date.now();
    Date.now = () => now;
    const { gateway, documents } = this.#world.target;
    for (const { middlewareStack } of [gateway, documents]) {
      middlewareStack.add(
        (next) => async (args) => {
          await stepped.getStore()?.turn();
          return next(args);
        },
        { step: 'initialize' },
      );
    }
  }

  close(): void {
    Date.now = this.#realNow;
    this.#world.close();
  }

  /** Each schedule repeats the steps of an earlier one, and takes another at its end. @returns how many there are */
  async explore(pair: readonly [CommandName, CommandName]): Promise<number> {
    const prefixes: number[][] = [[]];
    let schedules = 0;
    for (let prefix = prefixes.pop(); prefix; prefix = prefixes.pop()) {
      prefixes.push(...(await this.#run(pair, prefix)));
      schedules += 1;
    }
    return schedules;
  }

  /** @param steps which command each of the first steps is of @returns how other schedules begin that follow from these steps */
  async #run(pair: readonly [CommandName, CommandName], steps: readonly number[]): Promise<number[][]> {
    const world = this.#world;
    world.reset();
    // A key is suspended at first where a command is to resume it.
    const start = pair.includes('resume') ? 'suspended' : 'open';
    const subject = await issueSubject(world, start);
    const both = pair.map((name) => new SteppedCommand(() => commands[name](world.target, subject.keyId, subject)));
    const isOver = (index: number): boolean => both[index]?.outcome !== undefined;
    const others: number[][] = [];
    const taken: number[] = [];
    let turn = 0;
    let switches = 0;
    while (!isOver(0) || !isOver(1)) {
      const goesOn = isOver(turn) ? 1 - turn : turn;
      const repeated = steps[taken.length];
      const mayWait = switches < SWITCHES && !isOver(0) && !isOver(1);
      if (repeated === undefined && mayWait) others.push([...taken, 1 - goesOn]);
      const next = repeated ?? goesOn;
      if (next !== turn && !isOver(turn)) switches += 1;
      turn = next;
      taken.push(next);
      await both[next]?.goOn();
    }
    const outcomes = both.map(({ outcome }): Outcome => outcome ?? { kind: 'failed', error: 'It did not end' });
    const broken = await brokenRule({ world, pair, subject, outcomes });
    if (broken === undefined) return others;
    const results = outcomes.map((outcome) => (outcome.kind === 'done' ? 'done' : String(outcome.error)));
    throw new Error([`${pair.join(', ')}: ${broken}`, ...results, `after ${taken.join('')}`].join('\n'));
  }
}
