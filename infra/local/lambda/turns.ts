/** How many invocations may run at once. On AWS there are a thousand; a laptop queues those beyond. */
export const MAX_RUNNING = 3;

/** How many of them may be of one client: another finds one free, or soon. */
const MAX_RUNNING_OF_CLIENT = MAX_RUNNING - 1;

/** How many may wait for the readers of their responses beside these. */
const MAX_WAITING = 8;

/**
 * Who of a function's invocations may run. One whose response is not read gives its turn to another and waits beside.
 * Where too many wait so, one of the client with the most is cut off: that which has waited longest.
 */
export class Turns {
  /** In the order in which they came, or began to wait. */
  readonly #running = new Set<Turn>();
  readonly #waiting = new Set<Turn>();
  readonly #queue: { readonly turn: Turn; readonly start: () => void }[] = [];

  /** Waits until a turn may run, in the order of arrival as far as the client has not too many. */
  async run(turn: Turn): Promise<void> {
    await new Promise<void>((start) => {
      this.#queue.push({ turn, start });
      this.#startNext();
    });
    this.#waiting.delete(turn);
  }

  /** Lets others run while this one waits for its reader. */
  setAside(turn: Turn): void {
    if (!this.#running.delete(turn)) return;
    this.#waiting.add(turn);
    this.#startNext();
    if (this.#waiting.size > MAX_WAITING) this.#cutOffOne();
  }

  isSetAside(turn: Turn): boolean {
    return this.#waiting.has(turn);
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
    if (this.#running.size >= MAX_RUNNING) return;
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

  #cutOffOne(): void {
    const groups = [...Map.groupBy(this.#waiting, ({ client }) => client).values()];
    const [turn] = groups.toSorted((one, other) => other.length - one.length)[0] ?? [];
    if (!turn) return;
    this.#waiting.delete(turn);
    turn.cutOff();
  }
}

/** The turn of one invocation. */
export interface Turn {
  /** Whose it is; undefined where it does not matter. */
  readonly client: string | undefined;
  /** Ends its invocation in the middle. */
  cutOff: () => void;
}
