import { promisify } from 'node:util';
import db, { type Callback, type Item, type Store, type Table } from 'dynalite/db/index.js';
import { ApiError, isApiError } from './api-error.ts';
import { StagedStore } from './staged-store.ts';
import { parseTransactRequest, type TransactAction, type TransactRequest } from './transact-request.ts';

/** Why an action cancels its transaction, as the API tells it; `None` where it does not. */
type CancellationReason =
  { readonly Code: 'None' } | { readonly Code: string; readonly Message: string; readonly Item?: Item };

/** Every item of a transaction is prepared and then committed. */
const UNITS_PER_KILOBYTE = 2;

/** How long DynamoDB remembers a ClientRequestToken. */
const REMEMBERED_MS = 600_000;

const NONE: CancellationReason = { Code: 'None' };

/** Where an item is stored. */
interface Place {
  readonly table: string;
  readonly key: string;
}

/** DynamoDB's operation TransactWriteItems, which dynalite does not have, on dynalite's store. */
export class TransactWriteItems {
  readonly #store: Store;
  /**
   * The requests with a ClientRequestToken that were carried out, by the token, with the bodies of their answers. A host
   * that is killed forgets them: whoever could have repeated one was killed with it.
   */
  readonly #carriedOut = new Map<string, { readonly fingerprint: string; readonly answer: object }>();
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
    // Whether it fails is the caller's business, not that of the next one.
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async #answer({ actions, token, fingerprint, returnsCapacity }: TransactRequest): Promise<object> {
    const before = this.#carriedOut.get(token ?? '');
    if (before?.fingerprint === fingerprint) return before.answer;
    if (before) throw new ApiError('IdempotentParameterMismatchException', 'The token was used for another request');
    const units = await this.#carryOut(actions);
    const ConsumedCapacity = [...units].map(([TableName, CapacityUnits]) => ({ TableName, CapacityUnits }));
    const answer = returnsCapacity ? { ConsumedCapacity } : {};
    if (token !== undefined) {
      this.#carriedOut.set(token, { fingerprint, answer });
      setTimeout(() => this.#carriedOut.delete(token), REMEMBERED_MS).unref();
    }
    return answer;
  }

  /**
   * Holds the locks of all items meanwhile, which every other write of the engine takes for its own item.
   *
   * @returns the write units that were consumed, by table
   */
  async #carryOut(actions: readonly TransactAction[]): Promise<Map<string, number>> {
    const releases: (() => void)[] = [];
    try {
      for (const place of await this.#placesOf(actions)) releases.push(await this.#lock(place));
      return await this.#write(actions);
    } finally {
      for (const release of releases) release();
    }
  }

  async #write(actions: readonly TransactAction[]): Promise<Map<string, number>> {
    const store = new StagedStore(this.#store);
    const units = new Map<string, number>();
    const reasons: CancellationReason[] = [];
    for (const { data, write } of actions) {
      const { TableName } = data;
      try {
        const result = await promisify(write)(store, { ...data, ReturnConsumedCapacity: 'TOTAL' });
        const kilobytes = result.ConsumedCapacity?.CapacityUnits ?? 1;
        units.set(TableName, (units.get(TableName) ?? 0) + kilobytes * UNITS_PER_KILOBYTE);
        reasons.push(NONE);
      } catch (error) {
        reasons.push(cancellationReason(error));
      }
    }
    if (reasons.some((reason) => reason !== NONE)) throw cancelled(reasons);
    await store.commit();
    return units;
  }

  /** Where the actions write. One whose key does not fit its table has no place: the operation itself will say so. */
  async #placesOf(actions: readonly TransactAction[]): Promise<Place[]> {
    const places = new Map<string, Place>();
    for (const { data } of actions) {
      const table = await this.#table(data.TableName);
      const { Item: item, Key: itemKey = {} } = data;
      if (item ? db.validateItem(item, table) : db.validateKey(itemKey, table)) continue;
      const place = { table: data.TableName, key: db.createKey(item ?? itemKey, table) };
      const name = `${place.table}~${place.key}`;
      if (places.has(name)) {
        throw db.validationError('Transaction request cannot include multiple operations on one item');
      }
      places.set(name, place);
    }
    return [...places.values()];
  }

  /** @throws an error of the API where there is no such table */
  #table(name: string): Promise<Table> {
    return promisify((done: Callback<Table>) => this.#store.getTable(name, done))();
  }

  #lock({ table, key }: Place): Promise<() => void> {
    return new Promise((resolve) => {
      this.#store.getItemDb(table).lock(key, (release) => resolve(release(() => undefined)));
    });
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
