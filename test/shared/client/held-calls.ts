import { deepStrictEqual } from 'node:assert';
import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, jest } from '@jest/globals';
import type { InventoryClient, InventoryClientOptions } from '../../../shared/client/pet-store-inventory-client.ts';
import { failure, quickClient, reply, ScriptedServer, type Step } from './scripted-server.ts';

/** Turns of the event loop in which an exchange over a socket of this process is over, however busy the machine is. */
const TURNS = 100;

export const entry = { petId: 101, quantity: 7, status: 'available' };
export const good = reply(200, entry);
export const refusal = (code: string, seconds: number): Step => failure(429, code, { 'Retry-After': String(seconds) });

/** Time passes in the tests of a file only as they say. */
export function useVirtualTime(): void {
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  });
  afterEach(() => {
    jest.useRealTimers();
  });
}

export const pass = (seconds: number): Promise<void> => jest.advanceTimersByTimeAsync(seconds * 1_000);

export const repeat = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

/** The real clock, also while the virtual one stands still. */
const realNow = performance.now.bind(performance);

/** Lets the sockets work, in real time, while the virtual clock stands still. */
export async function work(milliseconds = 20): Promise<void> {
  const end = realNow() + milliseconds;
  for (let turn = 0; turn < TURNS || realNow() < end; turn++)
    await new Promise((resolve) => void setImmediate(resolve));
}

interface Own {
  readonly signal?: AbortSignal;
}

/** Calls of one client, whose outcomes are noted, and whose requests wait until the test takes a step with each. */
export class HeldCalls {
  readonly outcomes: string[] = [];
  readonly #held: ServerResponse[] = [];
  readonly #store: InventoryClient;

  private constructor(store: InventoryClient, held: ServerResponse[]) {
    this.#store = store;
    this.#held = held;
  }

  /** Begins so many calls, of which by default all are held. */
  static async start(count: number, options: Partial<InventoryClientOptions> = {}, held = count): Promise<HeldCalls> {
    const responses: ServerResponse[] = [];
    const server = await ScriptedServer.start((response) => void responses.push(response));
    const calls = new HeldCalls(quickClient(server, { maxRetries: 0, ...options }), responses);
    calls.begin(count);
    await calls.expect(held);
    return calls;
  }

  begin(count: number, own?: Own): void {
    for (let call = 0; call < count; call++)
      void outcomeOf(this.#store, own).then((outcome) => this.outcomes.push(outcome));
  }

  /** Takes the step with the oldest request that is held, and expects what follows. */
  async take(step: Step, held: number, ...outcomes: readonly string[]): Promise<void> {
    const response = this.#held.shift();
    if (!response) throw new Error('No request is held');
    step(response, { method: 'GET', path: '', headers: {}, body: '' });
    await this.expect(held, ...outcomes);
  }

  /** Lets seconds pass, and expects what follows. */
  async pass(seconds: number, held: number, ...outcomes: readonly string[]): Promise<void> {
    await pass(seconds);
    await this.expect(held, ...outcomes);
  }

  /** Expects so many held requests and these outcomes: soon, and then no others. */
  async expect(held: number, ...outcomes: readonly string[]): Promise<void> {
    const isThere = (): boolean => this.#held.length === held && this.outcomes.length === outcomes.length;
    for (let round = 0; round < 200 && !isThere(); round++) await work();
    await work();
    deepStrictEqual([this.#held.length, this.outcomes], [held, outcomes]);
  }
}

/** What became of a call: `answered`, or why not. */
export const outcomeOf = (store: InventoryClient, own?: Own): Promise<string> =>
  outcomeOfCall(store.getInventory(101n, own));

export const outcomeOfCall = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'answered',
    ({ code, reason, message }: { code?: string; reason?: string; message: string }) => code ?? reason ?? message,
  );

/** Begins calls, and lets the time pass until they have ended. @returns how many had each outcome */
export async function countOutcomes(server: ScriptedServer, calls: readonly (() => Promise<string>)[]) {
  const outcomes: string[] = [];
  for (const call of calls) void call().then((outcome) => outcomes.push(outcome));
  while (outcomes.length < calls.length) {
    const before = server.requests.length + outcomes.length;
    await work(60);
    if (before === server.requests.length + outcomes.length) await jest.advanceTimersToNextTimerAsync();
  }
  return Object.fromEntries(
    Object.entries(Object.groupBy(outcomes, String)).map(([outcome, list = []]) => [outcome, list.length]),
  );
}

export const REFUSED = 'RATE_LIMIT_EXCEEDED';

/** A client that was refused, by default for 30 s. */
export async function refused(options: Partial<InventoryClientOptions> = {}, code = REFUSED, seconds = 30) {
  const calls = await HeldCalls.start(1, options);
  await calls.take(refusal(code, seconds), 0, code);
  return calls;
}
