import { randomUUID } from 'node:crypto';
import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import * as v from 'valibot';
import type { Engine } from '../../../infra/local/dynamodb/engine.ts';
import type { Int64 } from '../../../shared/contract/int64.ts';
import type { InventoryItem } from '../../../shared/contract/inventory.ts';
import { safeNumberSchema } from '../../../shared/item-attributes.ts';
import { type ChangeResult, IdempotentChanges } from '../../../shared/stores/idempotent-changes.ts';
import { type StockAuthor, StockHistory } from '../../../shared/stores/stock-history.ts';
import { type StockChange, StockStore, type StockVersion } from '../../../shared/stores/stock-store.ts';
import { clientOfFunctions, pointSdkAt, testClient } from '../../support/engines.ts';
import { type Fault, FaultyEngine } from '../../support/faulty-engine.ts';
import { createChangesTable, createRequestsTable, StockTable } from '../../support/tables.ts';
import { HANG_MS } from '../../support/until.ts';

/** The author of a change, where a test does not look at it. */
const anAuthor: StockAuthor = { who: 'a', how: 'update' };

const count = v.optional(safeNumberSchema);

/** The content of a record, without what each has, and its version, which follows the ISO time. */
const recordSchema = v.pipe(
  v.looseObject({
    change: v.string(),
    ttl: safeNumberSchema,
    quantity: count,
    was: count,
    added: count,
  }),
  v.check(({ change, ttl }) => ttl === Math.floor(Date.parse(change.slice(0, 24)) / 1_000) + 400 * 86_400, '400 days'),
  v.transform(({ petId: _petId, ttl: _ttl, change, ...fields }) => ({ ...fields, version: change.slice(24) })),
);

const nothing = (): Promise<void> => Promise.resolve();

/** The stores of the stock, as functions have them, over an engine whose calls fail as a test wants. */
async function open(start: () => Promise<Engine>) {
  const engine = await FaultyEngine.start(start);
  pointSdkAt(engine.endpoint);
  const whole = testClient();
  const client = clientOfFunctions({ requestTimeout: HANG_MS });
  const stock = await StockTable.create(whole);
  const store = new StockStore(client, stock.name);
  const tableName = await createChangesTable(whole);
  const lost: unknown[] = [];
  const history = new StockHistory({ client, tableName, onLost: (error) => void lost.push(error) });
  const changes = new IdempotentChanges(client, store, history, await createRequestsTable(whole));
  return { engine, stock, store, whole, changes, history: { tableName, lost } };
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
      this.lost.length = 0;
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
  readonly keyed = (change: StockChange, requestId: string = randomUUID(), fingerprint = 'f'): Promise<ChangeResult> =>
    this.#all.changes.applyIdempotently({ requestId, fingerprint }, change, anAuthor);

  /** The same with its author. @param requestId undefined: without an `Idempotency-Key` */
  apply(change: StockChange, author: StockAuthor, requestId?: string): Promise<ChangeResult> {
    return this.#all.changes.apply(
      requestId === undefined ? undefined : { requestId, fingerprint: 'f' },
      change,
      author,
    );
  }

  /** Why changes are perhaps not recorded. */
  get lost(): unknown[] {
    return this.#all.history.lost;
  }

  /** The history of a pet as it is stored, the oldest first. */
  async recorded(petId: Int64) {
    const query = new QueryCommand({
      TableName: this.#all.history.tableName,
      KeyConditionExpression: 'petId = :petId',
      ExpressionAttributeValues: { ':petId': BigInt(petId) },
    });
    return v.parse(v.array(recordSchema), (await this.#all.whole.send(query)).Items);
  }

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
