import { promisify } from 'node:util';
import db, {
  type Callback,
  type Item,
  type ItemStore,
  type OperationStore,
  type Store,
  type Table,
} from 'dynalite/db/index.js';
import { ApiError, isApiError } from './api-error.ts';
import { parseTransactRequest, type TransactAction, type TransactRequest } from './transact-request.ts';

/** Why an action cancels its transaction, as the API reports it; `None` where it does not. */
interface CancellationReason {
  readonly Code: string;
  readonly Message?: string;
  readonly Item?: Item;
}

const NONE: CancellationReason = { Code: 'None' };

/** Every item of a transaction is prepared and then committed. */
const UNITS_PER_KILOBYTE = 2;

/** How long DynamoDB remembers a ClientRequestToken. */
const REMEMBERED_MS = 600_000;

/** DynamoDB's operation TransactWriteItems, which dynalite does not have, on dynalite's store. */
export class TransactWriteItems {
  readonly #store: Store;
  /**
   * The answers to requests with a ClientRequestToken, by the token. A host that is killed forgets them: the callers that
   * could repeat a request were killed with it.
   */
  readonly #answers = new Map<string, { readonly fingerprint: string; readonly answer: object }>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Carries out a request. Transactions run one after the other, so that none waits for locks of another that waits
   * for its own.
   *
   * @returns the body of the answer
   * @throws an error of the API: nothing was written then
   */
  call(body: unknown): Promise<object> {
    const request = parseTransactRequest(body, this.#store);
    const turn = this.#last.then(() => this.#answer(request));
    // A failure concerns its caller, not the next transaction.
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async #answer({ actions, token, fingerprint, returnsCapacity }: TransactRequest): Promise<object> {
    const before = this.#answers.get(token ?? '');
    if (before?.fingerprint === fingerprint) return before.answer;
    if (before) throw new ApiError('IdempotentParameterMismatchException', 'The token was used for another request');
    const ConsumedCapacity = await this.#writeLocked(actions);
    const answer = returnsCapacity ? { ConsumedCapacity } : {};
    if (token !== undefined) {
      this.#answers.set(token, { fingerprint, answer });
      setTimeout(() => this.#answers.delete(token), REMEMBERED_MS).unref();
    }
    return answer;
  }

  /** Holds the locks of all items meanwhile, which every other write of the engine takes for its own item. */
  async #writeLocked(actions: readonly TransactAction[]): Promise<object[]> {
    const releases: (() => void)[] = [];
    try {
      const keys = new Set<string>();
      for (const { data } of actions) {
        const key = await this.#keyOf(data);
        // The operation itself will report a key that does not fit its table.
        if (key === undefined) continue;
        const name = `${data.TableName}~${key}`;
        if (keys.has(name)) {
          throw db.validationError('Transaction request cannot include multiple operations on one item');
        }
        keys.add(name);
        releases.push(await this.#lock(data.TableName, key));
      }
      return await this.#write(actions);
    } finally {
      for (const release of releases) release();
    }
  }

  /** @returns the capacity that each write has consumed */
  async #write(actions: readonly TransactAction[]): Promise<object[]> {
    const store = new StagedStore(this.#store);
    const capacities: object[] = [];
    const reasons: CancellationReason[] = [];
    for (const { data, write } of actions) {
      try {
        const { ConsumedCapacity } = await promisify(write)(store, { ...data, ReturnConsumedCapacity: 'TOTAL' });
        const CapacityUnits = (ConsumedCapacity?.CapacityUnits ?? 1) * UNITS_PER_KILOBYTE;
        capacities.push({ TableName: data.TableName, CapacityUnits });
        reasons.push(NONE);
      } catch (error) {
        reasons.push(cancellationReason(error));
      }
    }
    if (reasons.some((reason) => reason !== NONE)) throw cancelled(reasons);
    await store.commit();
    return capacities;
  }

  /** Under which key an item is stored; undefined where its key does not fit its table. @throws where there is no table */
  async #keyOf({ TableName, Item: item, Key: key = {} }: TransactAction['data']): Promise<string | undefined> {
    const table = await promisify((done: Callback<Table>) => this.#store.getTable(TableName, done))();
    const isInvalid = item ? db.validateItem(item, table) : db.validateKey(key, table);
    return isInvalid ? undefined : db.createKey(item ?? key, table);
  }

  #lock(table: string, key: string): Promise<() => void> {
    return new Promise((resolve) => {
      this.#store.getItemDb(table).lock(key, (release) => resolve(release(() => undefined)));
    });
  }
}

/**
 * dynalite's store as the operations of a transaction see it: they read what is there, and their writes are kept back
 * until all of them are made at once. The caller holds the locks of the items. Puts and updates delete nothing, and
 * no table has an index.
 */
class StagedStore implements OperationStore {
  readonly options: Store['options'];
  readonly #store: Store;
  readonly #writes: { type: 'put'; key: string; value: Item }[] = [];

  constructor(store: Store) {
    this.#store = store;
    this.options = store.options;
  }

  getTable(name: string, done: Callback<Table>): void {
    this.#store.getTable(name, done);
  }

  getItemDb(table: string): ItemStore {
    const items = this.#store.getItemDb(table);
    return {
      get: (key, done) => items.get(key, done),
      lock: (_key, run) => run((done) => done),
      put: (key, value, done) => {
        // The prefix is that of dynalite's own keys.
        this.#writes.push({ type: 'put', key: `item-${table}~${key}`, value });
        done(null);
      },
      del: (_key, done) => done(new Error('A transaction of the local host deletes nothing')),
    };
  }

  /** Makes all writes, or none: one batch of LevelDB is atomic, also where the process is killed meanwhile. */
  commit(): Promise<void> {
    return this.#store.db.batch(this.#writes);
  }
}

/** @throws what is no reason: an error of the engine itself */
function cancellationReason(error: unknown): CancellationReason {
  if (!isApiError(error)) throw error;
  const { __type, message: Message = '', Item } = error.body;
  if (__type.endsWith('#ConditionalCheckFailedException')) {
    return { Code: 'ConditionalCheckFailed', Message, ...(Item && { Item }) };
  }
  if (__type.endsWith('#ValidationException')) return { Code: 'ValidationError', Message };
  throw error;
}

function cancelled(reasons: readonly CancellationReason[]): ApiError {
  const codes = reasons.map(({ Code }) => Code).join(', ');
  return new ApiError(
    'TransactionCanceledException',
    `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`,
    { CancellationReasons: reasons },
  );
}
