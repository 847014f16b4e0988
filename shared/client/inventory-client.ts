import type { InventoryUpdateOf, KeyDetails, OrderStatus, PetStatus } from '../contract/records.ts';
import type { Answer, InventoryItem, InventoryUpdateResult, Order, Page, Pet } from './answer.ts';
import type { CallOptions, InventoryClientOptions, ListOptions, PageOptions, UpdateOptions } from './client-options.ts';
import { ConnectionError } from './client-errors.ts';
import { parseResponse, readLimits } from './parse-response.ts';
import { RequestSender } from './request-sender.ts';

const JSON_TYPE = { 'Content-Type': 'application/json' };

/** A pet's id: a bigint, or a number if that is exact. */
export type PetId = bigint | number;

/** Fields of an update. Null removes an optional field. */
export type InventoryUpdate = InventoryUpdateOf<bigint>;

/** One row of {@link InventoryClient.updateInventories}. */
export interface InventoryUpdateRow extends InventoryUpdate {
  readonly petId: PetId;
  /** Update only if the entry still has this ETag; else the row has status 412. */
  readonly ifMatch?: string | undefined;
}

/**
 * Client of the Pet Store Inventory Service.
 *
 * Retries transient failures with exponential backoff, and waits at least for `Retry-After`. Permanent failures throw
 * an ApiError if the service returned an error, else a ConnectionError.
 */
export class InventoryClient {
  readonly #baseUrl: string;
  readonly #authorization: string;
  readonly #sender: RequestSender;

  /** @throws TypeError for an invalid URL, key or `concurrency`; it does not contain the key */
  constructor(options: InventoryClientOptions) {
    this.#baseUrl = String(options.baseUrl).replace(/\/$/, '');
    if (!/^https?:\/\/[^\s?#@]+$/.test(this.#baseUrl))
      throw new TypeError('baseUrl must be a URL such as https://example.com/v1, without user, query and fragment');
    // The platform's message about an invalid header would contain the key.
    if (!/^[\x21-\x7e]+$/.test(options.apiKey ?? ''))
      throw new TypeError('apiKey is missing, or has an invalid character, such as a space');
    this.#authorization = `Bearer ${options.apiKey}`;
    this.#sender = new RequestSender(options);
  }

  /** The stock of all pets, ascending by `petId`, read page by page. */
  listInventory(options: ListOptions<PetStatus> = {}): AsyncGenerator<InventoryItem, void, undefined> {
    return this.#entries('/inventory', options);
  }

  /** One page of the stock. */
  listInventoryPage(options: PageOptions<PetStatus>): Promise<Page<InventoryItem>> {
    return this.#page('/inventory', options);
  }

  /** The current stock of up to 100 pets, ascending by `petId`; pets without an entry are omitted. */
  async getInventories(petIds: readonly PetId[], options: CallOptions = {}): Promise<Answer<readonly InventoryItem[]>> {
    return this.#call(`/inventory?petId=${petIds.map(exactPetId).join(',')}`, options);
  }

  /** The current stock of one pet, with the ETag for `ifMatch`. Experimental. */
  async getInventory(petId: PetId, options: CallOptions = {}): Promise<Answer<InventoryItem>> {
    return this.#call(`/inventory/${exactPetId(petId)}`, options);
  }

  /** Sets the stock of one pet: its quantity, or all fields of an update. Experimental: its request may change. */
  async updateInventory(
    petId: PetId,
    update: number | InventoryUpdate,
    options: UpdateOptions = {},
  ): Promise<Answer<InventoryItem>> {
    const body = typeof update === 'number' ? { quantity: update } : update;
    return this.#change('PATCH', `/inventory/${exactPetId(petId)}`, body, options);
  }

  /**
   * Adds to the stock quantity of one pet, or subtracts if `by` is negative; ApiError with the code
   * `INSUFFICIENT_STOCK` if it would fall below 0. Experimental.
   */
  async adjustInventory(petId: PetId, by: number, options: UpdateOptions = {}): Promise<Answer<InventoryItem>> {
    return this.#change('POST', `/inventory/${exactPetId(petId)}/adjustments`, { by }, options);
  }

  /**
   * Sets the stock quantities of up to 25 pets independently. The response has the result of each row, in order.
   * After a lost response the request is retried without an `Idempotency-Key`: a row with `ifMatch` may return 412
   * although it was applied, and one without it overwrites changes made in between. Experimental.
   */
  async updateInventories(
    rows: readonly InventoryUpdateRow[],
    options: CallOptions = {},
  ): Promise<Answer<readonly InventoryUpdateResult[]>> {
    rows.forEach(checkIfMatch);
    const texts = rows.map(({ petId, ...row }) => `{"petId":${exactPetId(petId)},${JSON.stringify(row).slice(1)}`);
    return this.#call('/inventory', options, { method: 'PATCH', headers: JSON_TYPE, body: `[${texts.join(',')}]` });
  }

  /** One pet. @deprecated as the operation: the `Sunset` header of the response has its earliest removal */
  async getPet(petId: PetId, options: CallOptions = {}): Promise<Answer<Pet>> {
    return this.#call(`/pets/${exactPetId(petId)}`, options);
  }

  /** All orders of the store, ascending by `id`, read page by page. Beta. */
  listOrders(options: ListOptions<OrderStatus> = {}): AsyncGenerator<Order, void, undefined> {
    return this.#entries('/store/orders', options);
  }

  /** One page of the orders. Beta. */
  listOrdersPage(options: PageOptions<OrderStatus>): Promise<Page<Order>> {
    return this.#page('/store/orders', options);
  }

  /** Plan, limits and expiry of this key; the request counts. Experimental. */
  key(options: CallOptions = {}): Promise<Answer<KeyDetails>> {
    return this.#call('/key', options);
  }

  async #change(method: string, path: string, body: object, options: UpdateOptions): Promise<Answer<InventoryItem>> {
    checkIfMatch(options);
    const headers = new Headers({ ...JSON_TYPE, 'Idempotency-Key': idempotencyKeyHeader(options.idempotencyKey) });
    if (options.ifMatch !== undefined) headers.set('If-Match', options.ifMatch);
    return this.#call(path, options, { method, headers, body: JSON.stringify(body) });
  }

  async *#entries<T>(path: string, options: ListOptions<string>): AsyncGenerator<T, void, undefined> {
    let { cursor } = options;
    do {
      const page = await this.#page<T>(path, { ...options, limit: options.limit ?? 1_000, cursor });
      yield* page.data;
      if (page.next !== undefined && page.next === cursor)
        throw new ConnectionError('unreadable', page.response.url, new Error('The next page is the page itself'));
      cursor = page.next;
    } while (cursor !== undefined);
  }

  async #page<T>(path: string, options: PageOptions<string>): Promise<Page<T>> {
    const { limit, cursor, status } = options;
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries({ limit, cursor, status }))
      if (value !== undefined) query.set(name, String(value));
    const page = await this.#call<readonly T[]>(`${path}?${query.toString()}`, options);
    return { ...page, next: nextCursor(page.response.headers.get('Link')) };
  }

  async #call<T>(path: string, options: CallOptions, init: RequestInit = {}): Promise<Answer<T>> {
    const url = `${this.#baseUrl}${path}`;
    const headers = new Headers(init.headers);
    headers.set('Authorization', this.#authorization);
    const { response, text } = await this.#sender.send(url, { ...init, headers }, options);
    const header = (name: string): string | undefined => response.headers.get(name) ?? undefined;
    const [requestId, etag] = [header('x-amzn-RequestId'), header('ETag')];
    try {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- T is the contract's type
      return { data: parseResponse(text) as T, limits: readLimits(response.headers), requestId, etag, response };
    } catch (error) {
      throw new ConnectionError('unreadable', `${init.method ?? 'GET'} ${url}`, error);
    }
  }
}

/** The cursor in a header such as `</v1/inventory?limit=2&cursor=…>; rel="next"`. */
function nextCursor(link: string | null): string | undefined {
  const target = /<([^<>]*)>\s*;\s*rel="?next"?/.exec(link ?? '')?.[1];
  return new URLSearchParams(target?.split('?')[1]).get('cursor') ?? undefined;
}

/** @throws TypeError for a number above 2^53, which may have lost digits */
function exactPetId(petId: PetId): bigint {
  if (typeof petId === 'bigint' || Number.isSafeInteger(petId)) return BigInt(petId);
  throw new TypeError('petId must be a bigint such as 101n, or a safe integer');
}

/** @throws TypeError for an undefined version, which would overwrite any version */
function checkIfMatch(change: { readonly ifMatch?: string | undefined }): void {
  if (!('ifMatch' in change) || change.ifMatch !== undefined) return;
  throw new TypeError('ifMatch is undefined: pass an etag, or omit ifMatch to overwrite any version');
}

/** A structured field string (IETF draft "The Idempotency-Key HTTP Header Field"), with 128 random bits by default. */
function idempotencyKeyHeader(key = crypto.getRandomValues(new BigUint64Array(2)).join('-')): string {
  if (/^[\x21-\x7e]{1,255}$/.test(key)) return `"${key.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
  throw new TypeError('idempotencyKey must be 1 to 255 visible ASCII characters');
}
