/** How many invocations may run at once, if there are environments for them. A laptop queues those beyond. */
const MAX_RUNNING = 3;

/** How many of them may be of one client, so that one which does not read its answers leaves room for another. */
const MAX_RUNNING_OF_CLIENT = MAX_RUNNING - 1;

/** A client; undefined where it does not matter. */
type Client = string | undefined;

/** Lets the invocations of a function run in the order of arrival, as far as their client has not too many. */
export class InvocationQueue {
  readonly #running: Client[] = [];
  readonly #waiting: { readonly client: Client; readonly start: () => void }[] = [];
  readonly #environments: () => number;

  /** @param environments how many there are for those which run; one may always run */
  constructor(environments: () => number) {
    this.#environments = environments;
  }

  /** Runs an invocation as soon as it may. */
  async run<Result>(client: Client, invocation: () => Promise<Result>): Promise<Result> {
    const { promise: started, resolve: start } = Promise.withResolvers<void>();
    this.#waiting.push({ client, start });
    this.#startNext();
    await started;
    try {
      return await invocation();
    } finally {
      this.#running.splice(this.#running.indexOf(client), 1);
      this.#startNext();
    }
  }

  #startNext(): void {
    const room = Math.max(1, Math.min(MAX_RUNNING, this.#environments()));
    const index = this.#waiting.findIndex(({ client }) => this.#mayRun(client));
    if (this.#running.length >= room || index < 0) return;
    for (const { client, start } of this.#waiting.splice(index, 1)) {
      this.#running.push(client);
      start();
    }
    this.#startNext();
  }

  #mayRun(client: Client): boolean {
    return client === undefined || this.#running.filter((each) => each === client).length < MAX_RUNNING_OF_CLIENT;
  }
}
