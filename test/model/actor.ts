import type { InProcessTarget, Interception } from '../support/in-process-target.ts';

/** An actor that waits before each of its calls. */
export class Actor {
  outcome: 'done' | 'failed' | 'killed' | undefined;
  /** What it returned or threw. */
  result: unknown;
  calls = 0;
  /** The call that it waits at. */
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
