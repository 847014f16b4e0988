/** How many invocations may run at once, if there are environments for them. A laptop queues those beyond. */
const MAX_RUNNING = 3;

/** How many of them may be of one client: another finds one free, or soon. */
const MAX_RUNNING_OF_CLIENT = MAX_RUNNING - 1;

/** How many may wait for the readers of their responses beside these. */
const MAX_WAITING = 8;
/** A reader that takes nothing for so long may be cut off to make room for another, in milliseconds. */
const LONGEST_WAIT_MS = 2_000;

/**
 * Who of a function's invocations may run. One whose response is not read gives its turn to another and waits beside; once
 * it is read again, it goes on at once. Where too many wait, one of the client with the most is cut off: that which has
 * waited longest, and for some time.
 */
export class Turns {
  readonly #running = new Set<Turn>();
  /** With the times since when, by the process's clock; the longest first. */
  readonly #waiting = new Map<Turn, number>();
  readonly #queue: { readonly turn: Turn; readonly start: () => void }[] = [];
  readonly #environments: () => number;

  /** @param environments how many there are for those which run or wait; one may always run */
  constructor(environments: () => number) {
    this.#environments = environments;
  }

  /** Waits until a turn may run, in the order of arrival as far as the client has not too many. */
  async run(turn: Turn): Promise<void> {
    await new Promise<void>((start) => {
      this.#queue.push({ turn, start });
      this.#startNext();
    });
  }

  /** Lets others run while this one waits for its reader, if there is room for one more that waits. */
  setAside(turn: Turn): void {
    if (!this.#running.has(turn) || (this.#waiting.size >= MAX_WAITING && !this.#cutOffOne())) return;
    this.#running.delete(turn);
    this.#waiting.set(turn, performance.now());
    this.#startNext();
  }

  /** Its reader has come back. */
  goOn(turn: Turn): void {
    if (this.#waiting.delete(turn)) this.#running.add(turn);
  }

  end(turn: Turn): void {
    this.#waiting.delete(turn);
    if (!this.#running.delete(turn)) this.#leaveQueue(turn);
    this.#startNext();
  }

  #leaveQueue(turn: Turn): void {
    const index = this.#queue.findIndex((queued) => queued.turn === turn);
    const [left] = index < 0 ? [] : this.#queue.splice(index, 1);
    left?.start();
  }

  #startNext(): void {
    const underWay = this.#running.size + this.#waiting.size;
    const mayRun = this.#running.size === 0 || underWay < this.#environments();
    if (this.#running.size >= MAX_RUNNING || !mayRun) return;
    const index = this.#queue.findIndex(({ turn }) => this.#mayRun(turn));
    const [next] = index < 0 ? [] : this.#queue.splice(index, 1);
    if (!next) return;
    this.#running.add(next.turn);
    next.start();
    this.#startNext();
  }

  #mayRun({ client }: Turn): boolean {
    if (client === undefined) return true;
    return [...this.#running].filter((turn) => turn.client === client).length < MAX_RUNNING_OF_CLIENT;
  }

  /** @returns whether there was one that may be cut off */
  #cutOffOne(): boolean {
    const groups = [...Map.groupBy(this.#waiting.keys(), ({ client }) => client).values()];
    const [turn] = groups.toSorted((one, other) => other.length - one.length)[0] ?? [];
    if (!turn || performance.now() - (this.#waiting.get(turn) ?? 0) < LONGEST_WAIT_MS) return false;
    this.#waiting.delete(turn);
    turn.cutOff();
    return true;
  }
}

/** The turn of one invocation. */
export interface Turn {
  /** Whose it is; undefined where it does not matter. */
  readonly client: string | undefined;
  /** Ends its invocation in the middle. */
  cutOff: () => void;
}
