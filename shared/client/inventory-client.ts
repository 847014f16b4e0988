import type { InventoryUpdateOf, InventoryUpdateResultOf, KeyDetails } from '../contract/records.ts';
import type { OrderStatus, PetStatus } from '../contract/records.ts';
import type { ApiResponse, InventoryItem, InventoryUpdateResult as Result, Order, Page, Pet } from './api-response.ts';
import { check, checkedRow, exactPetId } from './check-arguments.ts';
import type { BatchOptions, CallOptions, InventoryClientOptions, ListOptions } from './client-options.ts';
import type { PageOptions, UpdateOptions } from './client-options.ts';
import { ApiError, ConnectionError } from './client-errors.ts';
import { ERROR, type Fields, isRecord, ITEM, KEY, ORDER, PET, ROW } from './parse-response.ts';
import { sleep } from './request-gate.ts';
import { isNotApplied, RequestSender } from './request-sender.ts';

const JSON_TYPE = { 'Content-Type': 'application/json' };

/** A pet's id: a bigint, or a number if that is exact. */
export type PetId = bigint | number;

/** Fields of an update. */
export type InventoryUpdate = InventoryUpdateOf<bigint>;

/** One row of {@link InventoryClient.updateInventories}. With both conditions, both must hold. */
export interface InventoryUpdateRow extends InventoryUpdate {
  readonly petId: PetId;
  /** Update only if the entry still has this ETag; else the row has status 412. */
  readonly ifMatch?: string | undefined;
  /** Update only if the quantity is still this; else the row has status 412. */
  readonly ifQuantity?: number | undefined;
}

/**
 * Client of the Pet Store Inventory Service. Calls throw an ApiError if the service returned an error or a limit keeps
 * them from being sent, else a ConnectionError; transient failures are retried first.
 */
export class InventoryClient {
  readonly #sender: RequestSender;

  /** @throws TypeError for an invalid option; it does not contain the key */
  constructor(options: InventoryClientOptions) {
    check({ ...options, apiKey: typeof options.apiKey === 'function' ? 'key' : options.apiKey }, ['baseUrl', 'apiKey']);
    this.#sender = new RequestSender(options);
  }

  /** The complete stock, ascending by `petId`, read with one request into memory: read a very long list by pages. */
  async *listInventory(options: ListOptions<PetStatus> = {}): AsyncGenerator<InventoryItem, void, undefined> {
    yield* (await this.#list<InventoryItem>('/inventory', options, ITEM)).data;
  }

  /** One page of the stock. */
  listInventoryPage(options: PageOptions<PetStatus>): Promise<Page<InventoryItem>> {
    return this.#list('/inventory', options, ITEM);
  }

  /** The current stock of any number of pets, ascending by `petId`, 100 per request; pets without one are omitted. */
  async getInventories(petIds: readonly PetId[], options: CallOptions = {}): Promise<InventoryItem[]> {
    const ids = [...new Set(petIds.map((petId) => exactPetId(petId)))].toSorted((one, other) => (one < other ? -1 : 1));
    const paths = chunksOf(ids, 100).map((some) => `/inventory?petId=${some.join(',')}`);
    const responses = await Promise.all(
      paths.map((path) => this.#sender.send<readonly InventoryItem[]>(path, options, [ITEM])),
    );
    return responses.flatMap(({ data }) => data);
  }

  /** The current stock of one pet, with the ETag for `ifMatch`. Experimental. */
  async getInventory(petId: PetId, options: CallOptions = {}): Promise<ApiResponse<InventoryItem>> {
    return this.#sender.send(`/inventory/${exactPetId(petId)}`, options, ITEM);
  }

  /** Sets the stock of one pet: its quantity, or all fields of an update. Experimental: its request may change. */
  async updateInventory(petId: PetId, update: number | InventoryUpdate, options: UpdateOptions = {}) {
    const body = typeof update === 'number' ? { quantity: update } : update;
    return this.#change('PATCH', `/inventory/${exactPetId(petId)}`, body, options);
  }

  /** Adds to the quantity of one pet, or subtracts; throws `INSUFFICIENT_STOCK` rather than below 0. Experimental. */
  async adjustInventory(petId: PetId, by: number, options: UpdateOptions = {}) {
    return this.#change('POST', `/inventory/${exactPetId(petId)}/adjustments`, { by }, options);
  }

  /**
   * Sets the quantities of any number of pets independently, 25 per request, and retries rows that were surely not
   * written. Check the `outcome` of each row: if its request fails or is aborted, the row has that error. Nothing is
   * thrown but a TypeError for invalid arguments, before the first request. Experimental.
   */
  async updateInventories(rows: readonly InventoryUpdateRow[], options: BatchOptions = {}) {
    check(options);
    const exact = rows.map(checkedRow);
    if (new Set(exact.map(({ petId }) => petId)).size < rows.length) throw new TypeError('A petId has several rows');
    const key = { 'Idempotency-Key': idempotencyKeyHeader(options.idempotencyKey) };
    const isKeyed = (row: Row): boolean =>
      options.idempotencyKey !== undefined || 'ifMatch' in row || 'ifQuantity' in row;
    const batches = chunksOf(exact, 25).map((batch) => this.#updateBatch(batch, batch.some(isKeyed) && key, options));
    return (await Promise.all(batches)).flat();
  }

  /** One pet. @deprecated as the operation: the `Sunset` header of the response has its earliest removal */
  async getPet(petId: PetId, options: CallOptions = {}): Promise<ApiResponse<Pet>> {
    return this.#sender.send(`/pets/${exactPetId(petId)}`, options, PET);
  }

  /** All orders of the store, ascending by `id`, read with one request into memory. Beta. */
  async *listOrders(options: ListOptions<OrderStatus> = {}): AsyncGenerator<Order, void, undefined> {
    yield* (await this.#list<Order>('/store/orders', options, ORDER)).data;
  }

  /** One page of the orders. Beta. */
  listOrdersPage(options: PageOptions<OrderStatus>): Promise<Page<Order>> {
    return this.#list('/store/orders', options, ORDER);
  }

  /** Plan, limits and expiry of this key; the request counts. Experimental. */
  getKey(options: CallOptions = {}): Promise<ApiResponse<KeyDetails>> {
    return this.#sender.send('/key', options, KEY);
  }

  #change(method: string, path: string, body: object, options: UpdateOptions): Promise<ApiResponse<InventoryItem>> {
    check(options, 'ifMatch' in options ? ['ifMatch'] : []);
    const conditions = options.ifMatch === undefined ? {} : { 'If-Match': options.ifMatch };
    const headers = { ...JSON_TYPE, ...conditions, 'Idempotency-Key': idempotencyKeyHeader(options.idempotencyKey) };
    return this.#sender.send(path, options, ITEM, { method, headers, body: JSON.stringify(body) });
  }

  /** Retries rows that were surely not written, and with an `Idempotency-Key` those that may have been. */
  async #updateBatch(batch: readonly Row[], key: object | false, options: CallOptions, attempt = 1, isKnown = true) {
    const texts = batch.map(({ petId, ...row }) => `{"petId":${petId},${JSON.stringify(row).slice(1)}`);
    const body = `[${texts.join(',')}]`;
    const headers = { ...JSON_TYPE, ...key };
    const parts = { method: 'PATCH', headers, body, isBatch: true, mayBeApplied: !isKnown };
    try {
      if (attempt > 1) await sleep(this.#sender.backoff(attempt - 1), options.signal);
      const { data } = await this.#sender.send<RowResult[]>('/inventory', options, [ROW], parts);
      const results = batch.map(({ petId }) => resultOf(petId, data, parts.mayBeApplied));
      const isRetried = (code: string) => code === 'SERVICE_UNAVAILABLE' || (key && code === 'UPDATE_OUTCOME_UNKNOWN');
      const failed = data.filter((result) => result.status === 503 && isRetried(result.error.code));
      if (failed.length === 0 || attempt > this.#sender.maxRetries(options)) return results;
      const again = batch.filter((row) => failed.some(({ petId }) => petId === row.petId));
      const areKnown = results.every(({ outcome }) => outcome !== 'unknown');
      const retried: Result[] = await this.#updateBatch(again, key, options, attempt + 1, areKnown);
      return results.map((result) => retried.find(({ petId }) => petId === result.petId) ?? result);
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new Error('The call was aborted', { cause: thrown });
      const outcome = parts.mayBeApplied ? 'unknown' : 'not-applied';
      const status = error instanceof ApiError ? error.status : undefined;
      return batch.map(({ petId }): Result => ({ petId, outcome, status, error }));
    }
  }

  async #list<T>(path: string, options: Partial<PageOptions<string>>, record: Fields): Promise<Page<T>> {
    const { limit, cursor, status } = options;
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries({ limit, cursor, status }))
      if (value !== undefined) query.set(name, String(value));
    const page = await this.#sender.send<readonly T[]>([path, query].filter(String).join('?'), options, [record]);
    // Such as `</v1/inventory?limit=2&cursor=…>; rel="next"`.
    return { ...page, next: /[?&]cursor=([\w-]+)/.exec(page.response.headers.get('Link') ?? '')?.[1] };
  }
}

const chunksOf = <T>(all: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, index) => all.slice(index * size, (index + 1) * size));

type RowResult = InventoryUpdateResultOf<bigint>;
type Row = InventoryUpdateRow & { readonly petId: bigint };

/** The result of a row. @param mayBeApplied whether an earlier attempt may have been */
function resultOf(petId: bigint, data: readonly RowResult[], mayBeApplied: boolean): Result {
  const row = data.find((one) => one.petId === petId);
  if (row?.status === 200 && isRecord(row.item, ITEM)) return { ...row, outcome: 'applied' };
  if (row && row.status !== 200 && isRecord(row.error, ERROR)) {
    const isKnown = isNotApplied(row.error) && (row.status < 500 || !mayBeApplied);
    return { ...row, outcome: isKnown ? 'not-applied' : 'unknown' };
  }
  const error = new ConnectionError('unreadable', `The update of pet ${petId}`, 'It has no result');
  return { petId, outcome: 'unknown', status: undefined, error };
}

/** A structured field string (IETF draft "The Idempotency-Key HTTP Header Field"), with 128 random bits by default. */
const idempotencyKeyHeader = (key = crypto.getRandomValues(new BigUint64Array(2)).join('-')): string =>
  `"${key.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
