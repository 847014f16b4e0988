import { AsyncLocalStorage } from 'node:async_hooks';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { patientClient } from './patient-client.ts';

/**
 * What becomes of a call to DynamoDB: it is carried out; it never arrives; it is carried out, and its answer gets lost;
 * the function ends before it, or after it.
 */
export type Fate = 'done' | 'refused' | 'lost' | 'cut' | 'cutAfter';

export const fates: readonly Fate[] = ['done', 'refused', 'lost', 'cut', 'cutAfter'];

const connectionReset = (): Error => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });

/** A piece of work whose calls to DynamoDB wait, each until it is let go. */
export class SteppedWork<Result> {
  /** What came of it; undefined as long as it waits, and for good where the function was ended. */
  result: { readonly value: Result } | { readonly error: unknown } | undefined;
  isCut = false;
  #go = Promise.withResolvers<Fate>();
  #quiet = Promise.withResolvers<void>();

  get isWaiting(): boolean {
    return this.result === undefined && !this.isCut;
  }

  /** Begins it, up to its first call. */
  async begin(work: () => Promise<Result>): Promise<void> {
    work().then(
      (value) => this.#end({ value }),
      (error: unknown) => this.#end({ error }),
    );
    await this.#quiet.promise;
  }

  /** Lets the call go that it waits with, and waits until the next, or the end. */
  async step(fate: Fate): Promise<void> {
    this.#quiet = Promise.withResolvers();
    this.#go.resolve(fate);
    await this.#quiet.promise;
  }

  /** Makes a call once it may go. */
  async pass<Answer>(call: () => Promise<Answer>): Promise<Answer> {
    this.#go = Promise.withResolvers();
    this.#quiet.resolve();
    const fate = await this.#go.promise;
    if (fate === 'cut') return this.#cut();
    if (fate === 'refused') throw connectionReset();
    const answer = await call();
    if (fate === 'cutAfter') return this.#cut();
    if (fate === 'lost') throw connectionReset();
    return answer;
  }

  #end(result: NonNullable<SteppedWork<Result>['result']>): void {
    this.result = result;
    this.#quiet.resolve();
  }

  /** Nothing of a function that has ended goes on. */
  #cut(): Promise<never> {
    this.isCut = true;
    this.#quiet.resolve();
    return new Promise(() => undefined);
  }
}

/** A client whose calls wait, where they belong to stepped work. */
export class SteppedClient {
  readonly client: DynamoDBDocumentClient = patientClient();
  readonly #current = new AsyncLocalStorage<SteppedWork<unknown>>();

  constructor() {
    this.client.middlewareStack.add(
      (next) => (args) => this.#current.getStore()?.pass(() => next(args)) ?? next(args),
      { step: 'initialize' },
    );
  }

  /** Begins work whose calls wait. */
  async begin<Result>(work: () => Promise<Result>): Promise<SteppedWork<Result>> {
    const stepped = new SteppedWork<Result>();
    await this.#current.run(stepped, () => stepped.begin(work));
    return stepped;
  }
}
