import { randomBytes } from 'node:crypto';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { documentClient } from '../../shared/dynamodb.ts';
import { type IdempotentUpdate, IdempotentUpdates } from '../../shared/stores/idempotent-updates.ts';
import { RequestStore } from '../../shared/stores/request-store.ts';
import { StockStore, type UpdateOutcome } from '../../shared/stores/stock-store.ts';
import { int64 } from './int64.ts';
import { patientClient } from './patient-client.ts';
import { anEntry, StockTable } from './stock-table.ts';
import { createRequestsTable } from './tables.ts';

/** An update of pet 42 to 12, with a key of its own. */
export const anUpdate = (differences: Partial<IdempotentUpdate> = {}): IdempotentUpdate => ({
  requestId: randomBytes(32).toString('hex'),
  fingerprint: 'f1',
  petId: int64('42'),
  quantity: 12,
  ...differences,
});

/** Called at steps such as `before stock UpdateItemCommand` and `after requests PutItemCommand`. */
type Hook = (step: string) => Promise<void>;

/** Updates with an Idempotency-Key, of a stock in which pet 42 has 1, in revision 5. */
export class IdempotentFixture {
  readonly stock: StockTable;
  readonly requests: RequestStore;
  readonly updates: IdempotentUpdates;
  readonly #store: StockStore;
  readonly #requestsTable: string;

  private constructor(client: DynamoDBDocumentClient, stock: StockTable, requestsTable: string) {
    this.stock = stock;
    this.#requestsTable = requestsTable;
    this.#store = new StockStore(client, stock.name);
    this.requests = new RequestStore(client, requestsTable);
    this.updates = new IdempotentUpdates(this.#store, this.requests);
  }

  static async create(): Promise<IdempotentFixture> {
    const client = patientClient();
    return new IdempotentFixture(client, await StockTable.create(client), await createRequestsTable(client));
  }

  /** Puts the stock back as it is at first, before each test. */
  async reset(): Promise<void> {
    await this.stock.put(anEntry(42), { revision: 5 });
    await this.stock.delete('43');
  }

  /** Somebody else sets pet 42 to 99. */
  others(): Promise<UpdateOutcome> {
    return this.#store.update({ petId: int64('42'), quantity: 99, token: randomBytes(8).toString('hex') });
  }

  /** Begins a request and goes no further, as one that is at work, or was cut off. */
  async beginOnly({ requestId, fingerprint }: IdempotentUpdate, lockedUntil: number, now: number): Promise<void> {
    await this.requests.begin({ requestId, fingerprint, lockedUntil, baseRevision: 5 }, now);
  }

  /** The updates of a function on whose way to DynamoDB something happens: beneath the SDK, which tries three times. */
  updatesWith(hook: Hook): IdempotentUpdates {
    const client = documentClient({ maxAttempts: 3, requestTimeout: 3_000 });
    client.middlewareStack.add(
      (next, { commandName = '' }) =>
        async (args) => {
          const isStock = 'TableName' in args.input && args.input.TableName === this.stock.name;
          const call = `${isStock ? 'stock' : 'requests'} ${commandName}`;
          await hook(`before ${call}`);
          const answer = await next(args);
          await hook(`after ${call}`);
          return answer;
        },
      { step: 'finalizeRequest', priority: 'low' },
    );
    return new IdempotentUpdates(
      new StockStore(client, this.stock.name),
      new RequestStore(client, this.#requestsTable),
    );
  }

  /** Updates right before which others update the entry, so many times. */
  overtaken(times = Infinity): IdempotentUpdates {
    let left = times;
    return this.updatesWith(async (step) => {
      if (step === 'before stock UpdateItemCommand' && left-- > 0) await this.others();
    });
  }
}
