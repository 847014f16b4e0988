import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import type { Engine } from '../../../infra/local/dynamodb/engine.ts';
import type { InventoryItem } from '../../../shared/contract/inventory.ts';
import { IdempotentChanges } from '../../../shared/stores/idempotent-changes.ts';
import { type StockChange, StockStore, type StockVersion } from '../../../shared/stores/stock-store.ts';
import { clientOfFunctions, pointSdkAt, testClient } from '../../support/engines.ts';
import { type Fault, FaultyEngine } from '../../support/faulty-engine.ts';
import { createRequestsTable, StockTable } from '../../support/tables.ts';
import { HANG_MS } from '../../support/until.ts';

const nothing = (): Promise<void> => Promise.resolve();

/** The stores of the stock, as functions have them, over an engine whose calls fail as a test wants. */
async function open(start: () => Promise<Engine>) {
  const engine = await FaultyEngine.start(start);
  pointSdkAt(engine.endpoint);
  const whole = testClient();
  const client = clientOfFunctions({ requestTimeout: HANG_MS });
  const stock = await StockTable.create(whole);
  const store = new StockStore(client, stock.name);
  return { engine, stock, store, idempotent: new IdempotentChanges(client, store, await createRequestsTable(whole)) };
}

/** These, for the tests around the call. Before each of them no call fails, and the entry is there as version `v1`. */
export class FaultyStock {
  #opened: Awaited<ReturnType<typeof open>> | undefined;

  constructor(start: () => Promise<Engine>, entry: InventoryItem) {
    beforeAll(async () => {
      this.#opened = await open(start);
    });
    beforeEach(async () => {
      Object.assign(this.engine, { faults: () => undefined, beforeCall: nothing });
      await this.stock.put(entry, { version: 'v1' });
      this.engine.calls.length = 0;
    });
    afterAll(() => this.engine.stop());
  }

  get #all() {
    if (!this.#opened) throw new Error('The engine runs in tests only');
    return this.#opened;
  }

  get engine(): FaultyEngine {
    return this.#all.engine;
  }

  get stock(): StockTable {
    return this.#all.stock;
  }

  get store(): StockStore {
    return this.#all.store;
  }

  /** A change with an `Idempotency-Key`: with another one each time, unless the test says which. */
  readonly keyed = (change: StockChange, requestId: string = randomUUID(), fingerprint = 'f'): Promise<StockVersion> =>
    this.#all.idempotent.applyIdempotently({ requestId, fingerprint }, change);

  /** Both ways of a change, for tables. */
  readonly ways: readonly [string, (change: StockChange) => Promise<StockVersion>][] = [
    ['without an Idempotency-Key', (change) => this.store.change(change)],
    ['with an Idempotency-Key', (change) => this.keyed(change)],
  ];

  /** What goes wrong with the writes, one after the other. */
  failWrites(...faults: readonly Fault[]): void {
    const left = [...faults];
    this.engine.faults = ({ action }) => (isWrite(action) ? left.shift() : undefined);
  }

  /** What happens before a call of this kind: the next one, or a later one. */
  before(isMeant: (action: string) => boolean, act: () => Promise<unknown>, calls = 1): void {
    let left = calls;
    this.engine.beforeCall = async ({ action }) => {
      if (!isMeant(action) || --left > 0) return;
      this.engine.beforeCall = nothing;
      await act();
    };
  }
}

export const isWrite = (action: string): boolean => action === 'UpdateItem' || action === 'TransactWriteItems';
export const isRead = (action: string): boolean => action === 'GetItem';
