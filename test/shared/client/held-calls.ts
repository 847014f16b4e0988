import { afterEach, beforeEach, expect, jest } from '@jest/globals';
import type { InventoryClient, InventoryClientOptions } from '../../../shared/client/pet-store-inventory-client.ts';
import { stopClock } from '../../support/clocks.ts';
import { clientOf, refusal, type Step } from './scripted-fetch.ts';

export const REFUSED = 'RATE_LIMIT_EXCEEDED';

const timeouts: AbortController[] = [];

/** Lets the time of all requests so far run out. No response comes. */
export function timeOut(): Promise<never> {
  for (const timeout of timeouts.splice(0)) timeout.abort();
  return new Promise(() => undefined);
}

/** Time passes in these tests only as they say; that of a request only by {@link timeOut}. */
export function useVirtualTime(): void {
  beforeEach(() => {
    stopClock();
    jest.spyOn(AbortSignal, 'timeout').mockImplementation(() => {
      const timeout = new AbortController();
      timeouts.push(timeout);
      return timeout.signal;
    });
  });
  afterEach(() => {
    jest.restoreAllMocks();
    jest.useRealTimers();
  });
}

export const pass = (seconds: number): Promise<void> => jest.advanceTimersByTimeAsync(seconds * 1_000);

/** The real clock, also while the virtual one stands still. */
const realNow = performance.now.bind(performance);

/** Lets what needs no time come to its end, and sockets work for some real time, while the virtual clock stands still. */
async function settle(milliseconds = 0): Promise<void> {
  const end = realNow() + milliseconds;
  for (let turn = 0; turn < 10 || realNow() < end; turn++) await new Promise((resolve) => void setImmediate(resolve));
}

/** The outcome of work in virtual time, which passes while it has nothing to do. @param forSockets real milliseconds */
export async function inVirtualTime<Result>(result: Promise<Result>, forSockets = 20): Promise<Result> {
  const outcomes: string[] = [];
  void outcomeOf(result).then((outcome) => outcomes.push(outcome));
  for (; outcomes.length === 0; await jest.advanceTimersToNextTimerAsync()) await settle(forSockets);
  return result;
}

/** The result of a call: `answered`, or why it failed. */
export const outcomeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'answered',
    ({ code, reason, message }: { code?: string; reason?: string; message: string }) => code ?? reason ?? message,
  );

/** Lets the time pass until calls have ended. @returns how many had each outcome */
export async function countOutcomes(calls: readonly Promise<unknown>[]): Promise<Record<string, number>> {
  const outcomes = await inVirtualTime(Promise.all(calls.map(outcomeOf)), 0);
  const byOutcome = Object.entries(Object.groupBy(outcomes, String));
  return Object.fromEntries(byOutcome.map(([outcome, list = []]) => [outcome, list.length]));
}

/** Calls of one client, whose requests wait for their responses. */
export class HeldCalls {
  readonly outcomes: string[] = [];
  readonly held: ((step: Step) => void)[] = [];
  readonly #store: InventoryClient;

  constructor(options: Partial<InventoryClientOptions> = {}) {
    const hold: Step = async (request) => {
      const { promise, resolve } = Promise.withResolvers<Step>();
      this.held.push(resolve);
      return (await promise)(request);
    };
    this.#store = clientOf(hold, { maxRetries: 0, ...options }).store;
  }

  /** Calls whose first one was refused with this code. */
  static async refused(code: string, seconds: number, options?: Partial<InventoryClientOptions>): Promise<HeldCalls> {
    const calls = new HeldCalls(options);
    await expectAfter(calls.begin(1), { held: 1 });
    return expectAfter(calls.respond(refusal(code, seconds)), { held: 0, ended: [code] });
  }

  begin(count: number, own?: { readonly signal: AbortSignal }): this {
    for (let call = 0; call < count; call++)
      void outcomeOf(this.#store.getInventory(101n, own)).then((outcome) => this.outcomes.push(outcome));
    return this;
  }

  /** Takes the step with the oldest request that is held. */
  respond(step: Step): this {
    const respond = this.held.shift();
    if (!respond) throw new Error('No request is held');
    respond(step);
    return this;
  }

  async pass(seconds: number): Promise<this> {
    await pass(seconds);
    return this;
  }
}

/** Expects so many requests without a response, and these outcomes since it was last called. */
export async function expectAfter(
  step: HeldCalls | Promise<HeldCalls>,
  { held, ended = [] }: { readonly held: number; readonly ended?: readonly string[] },
): Promise<HeldCalls> {
  const calls = await step;
  await settle();
  expect({ held: calls.held.length, ended: calls.outcomes.splice(0) }).toEqual({ held, ended });
  return calls;
}
