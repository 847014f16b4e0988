import createClient, { type Client } from 'openapi-fetch';
import type {
  DeprecatedAnswer,
  InventoryItem,
  Order,
  OrderStatus,
  Page,
  Pet,
  PetStatus,
  UpdateAnswer,
} from './answer.ts';
import { Call, type CallContext } from './call.ts';
import { checkOptions, type InventoryClientOptions } from './client-options.ts';
import { idempotencyKeyHeader } from './idempotency-key.ts';
import type { Limits } from './limits.ts';
import { List, type ListOptions, type PageOptions } from './list.ts';
import { checkPetId, type PetId } from './pet-id.ts';
import { RequestGate } from './request-gate.ts';
import type { paths } from './schema.ts';
import { hasShape } from './shape.ts';

export interface CallOptions {
  /** Ends the call when it aborts. The call throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

export interface UpdateOptions extends CallOptions {
  /** Update only where the entry still has this ETag; ApiError with the code `PRECONDITION_FAILED` otherwise. */
  readonly ifMatch?: string | undefined;
  /**
   * 1 to 255 visible ASCII characters that stand for this one update, so that it can be repeated without harm. The client
   * makes a key for each call and its repetitions; with your own you can repeat the call itself, after a crash for example.
   */
  readonly idempotencyKey?: string | undefined;
}

/** Bodies are read by the call: exactly, and within its tries. */
const unread = { parseAs: 'stream' } as const;

/**
 * Client of the Pet Store Inventory Service.
 *
 * A request that failed and may succeed later is repeated, with exponential backoff and no sooner than `Retry-After` says.
 * What fails for good throws an ApiError where the service has answered, and a ConnectionError where it has not.
 *
 * @example
 * const store = new InventoryClient({ baseUrl: 'http://localhost:3000/v1', apiKey });
 * for await (const { petId, quantity } of store.listInventory({ status: 'available' })) console.log(petId, quantity);
 */
export class InventoryClient {
  readonly #api: Client<paths, 'application/json'>;
  readonly #context: CallContext;
  readonly #inventory: List<'InventoryItem', PetStatus>;
  readonly #orders: List<'Order', OrderStatus>;
  #limits: Limits | undefined;

  /** @throws TypeError where an option is wrong */
  constructor(options: InventoryClientOptions) {
    const settings = checkOptions(options);
    const { baseUrl, apiKey, maxConcurrent } = settings;
    const api = createClient<paths, 'application/json'>({ baseUrl, headers: { Authorization: `Bearer ${apiKey}` } });
    const context = {
      settings,
      gate: new RequestGate(maxConcurrent),
      onLimits: (limits: Limits) => void (this.#limits = limits),
    };
    this.#api = api;
    this.#context = context;
    this.#inventory = new List('InventoryItem', context, (request) => api.GET('/inventory', { ...request, ...unread }));
    this.#orders = new List('Order', context, (request) => api.GET('/store/orders', { ...request, ...unread }));
  }

  /** What the latest answer has said about the limits of the API key. */
  get limits(): Limits | undefined {
    return this.#limits;
  }

  /**
   * The stock of all pets, ascending by `petId`, as it comes: a million pets take no more memory than ten. Where the list
   * breaks off it throws a ConnectionError; with `limit` it comes in pages, each of which is repeated by itself.
   */
  listInventory(options: ListOptions<PetStatus> = {}): AsyncGenerator<InventoryItem, void, undefined> {
    return this.#inventory.entries(options);
  }

  /** One page of the stock. */
  listInventoryPage(options: PageOptions<PetStatus>): Promise<Page<InventoryItem>> {
    return this.#inventory.page(options);
  }

  /** Sets the stock quantity of one pet. Experimental: its request may change. */
  async updateInventory(petId: PetId, quantity: number, options: UpdateOptions = {}): Promise<UpdateAnswer> {
    const { ifMatch, idempotencyKey, signal } = options;
    const call = new Call(this.#context);
    await this.#api.PATCH('/inventory/{petId}', {
      params: {
        path: { petId: checkPetId(petId) },
        header: {
          ...(ifMatch !== undefined && { 'If-Match': ifMatch }),
          'Idempotency-Key': idempotencyKeyHeader(idempotencyKey),
        },
      },
      body: { quantity },
      signal: signal ?? null,
      fetch: call.fetch,
      ...unread,
    });
    const entry = call.parse((value) => hasShape('InventoryItem', value));
    return { ...call.answer(entry), etag: call.header('ETag') };
  }

  /**
   * One pet.
   *
   * @deprecated as the operation is; the answer says until when it is there
   */
  async getPet(petId: PetId, { signal }: CallOptions = {}): Promise<DeprecatedAnswer<Pet>> {
    const call = new Call(this.#context);
    await this.#api.GET('/pets/{petId}', {
      params: { path: { petId: checkPetId(petId) } },
      signal: signal ?? null,
      fetch: call.fetch,
      ...unread,
    });
    return {
      ...call.answer(call.parse((value) => hasShape('Pet', value))),
      deprecation: dateOf(call.header('Deprecation')),
      sunset: dateOf(call.header('Sunset')),
    };
  }

  /** All orders of the store, ascending by `id`, as {@link listInventory} lists the stock. Beta. */
  listOrders(options: ListOptions<OrderStatus> = {}): AsyncGenerator<Order, void, undefined> {
    return this.#orders.entries(options);
  }

  /** One page of the orders. Beta. */
  listOrdersPage(options: PageOptions<OrderStatus>): Promise<Page<Order>> {
    return this.#orders.page(options);
  }
}

/** The time in a header, as `@` and Unix seconds (RFC 9745) or as an HTTP date (RFC 8594). */
function dateOf(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const seconds = /^@(\d{1,12})$/.exec(text)?.[1];
  const date = new Date(seconds === undefined ? text : Number(seconds) * 1_000);
  return Number.isNaN(date.getTime()) ? undefined : date;
}
