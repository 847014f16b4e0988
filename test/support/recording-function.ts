import type { Invocable } from '../../infra/local/key-sync.ts';

/** A function that keeps its events. A test decides how each of them ends. */
export class RecordingFunction implements Invocable {
  readonly events: unknown[] = [];
  /** Invocations that are under way. */
  readonly #open: PromiseWithResolvers<string>[] = [];
  /** How an invocation ends; undefined: when the test says so. */
  readonly #outcome: 'succeeds' | 'fails' | undefined;

  constructor(outcome?: 'succeeds' | 'fails') {
    this.#outcome = outcome;
  }

  invoke(event: string): Promise<string> {
    this.events.push(JSON.parse(event));
    if (this.#outcome === 'succeeds') return Promise.resolve('null');
    if (this.#outcome === 'fails') return Promise.reject(new Error('no'));
    const invocation = Promise.withResolvers<string>();
    this.#open.push(invocation);
    return invocation.promise;
  }

  /** Ends the invocation that has been under way the longest. */
  succeed(): void {
    this.#open.shift()?.resolve('null');
  }

  fail(): void {
    this.#open.shift()?.reject(new Error('no'));
  }
}
