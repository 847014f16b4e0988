import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, jest } from '@jest/globals';
import type { InventoryClient, InventoryClientOptions } from '../../../shared/client/pet-store-inventory-client.ts';
import { stopClock } from '../../support/stop-clock.ts';
import { clientOf, refusal, type Step } from './scripted-server.ts';

/** Turns of the event loop in which an exchange over a socket of this process is over, however busy the machine is. */
const TURNS = 100;

export const REFUSED = 'RATE_LIMIT_EXCEEDED';

const timeouts: AbortController[] = [];

/** Lets the time of all requests so far run out. */
export const timeOut = (): void => timeouts.splice(0).forEach((timeout) => timeout.abort());

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

/** Lets the sockets work, in real time, while the virtual clock stands still. */
export async function work(milliseconds = 20): Promise<void> {
  const end = realNow() + milliseconds;
  for (let turn = 0; turn < TURNS || realNow() < end; turn++)
    await new Promise((resolve) => void setImmediate(resolve));
}

/** The outcome of work over sockets, in virtual time, which passes while they have nothing to do. */
export async function inVirtualTime<Result>(result: Promise<Result>): Promise<Result> {
  const outcomes: string[] = [];
  void outcomeOf(result).then((outcome) => outcomes.push(outcome));
  for (; outcomes.length === 0; await jest.advanceTimersToNextTimerAsync()) await work();
  return result;
}

/** The result of a call: `answered`, or why it failed. */
export const outcomeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'answered',
    ({ code, reason, message }: { code?: string; reason?: string; message: string }) => code ?? reason ?? message,
  );

/** Calls of one client, whose requests wait at the server. */
export class HeldCalls {
  readonly outcomes: string[] = [];
  readonly held: ServerResponse[];
  readonly #store: InventoryClient;

  private constructor(held: ServerResponse[], store: InventoryClient) {
    this.held = held;
    this.#store = store;
  }

  static async start(options: Partial<InventoryClientOptions> = {}): Promise<HeldCalls> {
    const held: ServerResponse[] = [];
    const { store } = await clientOf((response) => void held.push(response), { maxRetries: 0, ...options });
    return new HeldCalls(held, store);
  }

  /** Calls whose first one was refused with this code. */
  static async refused(code: string, seconds: number, options?: Partial<InventoryClientOptions>): Promise<HeldCalls> {
    const calls = await HeldCalls.start(options);
    await expectAfter(calls.begin(1), { held: 1 });
    await expectAfter(calls.respond(refusal(code, seconds)), { held: 0, ended: [code] });
    return calls;
  }

  begin(count: number, own?: { readonly signal: AbortSignal }): this {
    for (let call = 0; call < count; call++)
      void outcomeOf(this.#store.getInventory(101n, own)).then((outcome) => this.outcomes.push(outcome));
    return this;
  }

  /** Takes the step with the oldest request that is held. */
  respond(step: Step): this {
    const response = this.held.shift();
    if (!response) throw new Error('No request is held');
    step(response, { method: 'GET', path: '', headers: {}, body: '' });
    return this;
  }

  async pass(seconds: number): Promise<this> {
    await pass(seconds);
    return this;
  }
}

/** Expects soon, and then no more: so many requests at the server, and these outcomes since it was last called. */
export async function expectAfter(
  step: HeldCalls | Promise<HeldCalls>,
  { held, ended = [] }: { readonly held: number; readonly ended?: readonly string[] },
): Promise<HeldCalls> {
  const calls = await step;
  const isThere = (): boolean => calls.held.length === held && calls.outcomes.length === ended.length;
  for (let round = 0; round < 200 && !isThere(); round++) await work();
  await work();
  expect({ held: calls.held.length, ended: calls.outcomes.splice(0) }).toEqual({ held, ended });
  return calls;
}

/** Begins calls, and lets the time pass until they have ended. @returns how many had each outcome */
export async function countOutcomes(requests: readonly unknown[], calls: readonly (() => Promise<unknown>)[]) {
  const outcomes: string[] = [];
  for (const call of calls) void outcomeOf(call()).then((outcome) => outcomes.push(outcome));
  while (outcomes.length < calls.length) {
    const before = requests.length + outcomes.length;
    await work(60);
    if (before === requests.length + outcomes.length) await jest.advanceTimersToNextTimerAsync();
  }
  return Object.fromEntries(
    Object.entries(Object.groupBy(outcomes, String)).map(([outcome, list = []]) => [outcome, list.length]),
  );
}
