import type { ServerResponse } from 'node:http';
import { expect } from '@jest/globals';
import type { InventoryClient, InventoryClientOptions } from '../../../shared/client/pet-store-inventory-client.ts';
import { quickClient, ScriptedServer, type Step } from './scripted-server.ts';

/** Turns of the event loop in which an exchange over a socket of this process is over, however busy the machine is. */
const TURNS = 100;

/** Lets the sockets work, in real time, while the virtual clock stands still. */
export async function work(milliseconds = 20): Promise<void> {
  const end = performance.now() + milliseconds;
  for (let turn = 0; turn < TURNS || performance.now() < end; turn++)
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

  static async start(options: Partial<InventoryClientOptions> = {}): Promise<HeldCalls> {
    const held: ServerResponse[] = [];
    const server = await ScriptedServer.start((response) => void held.push(response));
    return new HeldCalls(quickClient(server, { maxRetries: 0, ...options }), held);
  }

  begin(count: number, own?: Own): void {
    for (let call = 0; call < count; call++)
      void outcomeOf(this.#store, own).then((outcome) => this.outcomes.push(outcome));
  }

  /** Takes the step with the oldest request that is held. */
  take(step: Step): void {
    const response = this.#held.shift();
    if (!response) throw new Error('No request is held');
    step(response, { method: 'GET', path: '', headers: {}, body: '' });
  }

  get held(): number {
    return this.#held.length;
  }
}

/** What became of a call: `answered`, or why not. */
export const outcomeOf = (store: InventoryClient, own?: Own): Promise<string> =>
  store.getInventory(101n, own).then(
    () => 'answered',
    ({ code, reason, message }: { code?: string; reason?: string; message: string }) => code ?? reason ?? message,
  );

/** Expects so many held requests and these outcomes: soon, and then no others. */
export async function expectCalls(calls: HeldCalls, held: number, outcomes: readonly string[]): Promise<void> {
  const isThere = (): boolean => calls.held === held && calls.outcomes.length === outcomes.length;
  for (let round = 0; round < 200 && !isThere(); round++) await work();
  await work();
  expect([calls.held, calls.outcomes]).toEqual([held, outcomes]);
}
