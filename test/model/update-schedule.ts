import { marshall } from '@aws-sdk/util-dynamodb';
import { ServiceError } from '../../shared/contract/errors.ts';
import type { InventoryItem } from '../../shared/contract/inventory.ts';
import { idempotentRequest } from '../../shared/http/update-headers.ts';
import { IdempotentChanges } from '../../shared/stores/idempotent-changes.ts';
import { StockStore, type StockUpdate } from '../../shared/stores/stock-store.ts';
import { int64 } from '../support/int64.ts';
import { admittedContext, aRequest } from '../support/proxy-event.ts';
import { Random } from '../support/random.ts';
import { Environments, type Invocation, planBursts } from './environments.ts';
import { GOOD_NETWORK, randomNetwork, VirtualDynamoDB } from './virtual-dynamodb.ts';
import type { Commit, Item, Tamper, VirtualTables } from './virtual-tables.ts';
import { VirtualTime } from './virtual-time.ts';

/** An update as a client means it, however often it is sent. */
export interface ClientRequest {
  readonly id: number;
  readonly idempotencyKey: string | undefined;
  readonly update: StockUpdate;
}

/** What a PATCH is answered with. */
export type Answer =
  | { readonly kind: 'updated'; readonly entry: InventoryItem; readonly version: string }
  | { readonly kind: 'refused'; readonly status: number; readonly etag: string | undefined };

/** A request that was sent once, and its answer. */
export interface AnsweredUpdate extends Invocation<Answer> {
  readonly request: ClientRequest;
  /** The writer of its commits. */
  readonly writer: string;
}

export interface UpdateHistory {
  readonly updates: readonly AnsweredUpdate[];
  readonly commits: readonly Commit[];
}

export const STOCK = 'stock';
const REQUESTS = 'requests';
const ABSENT = '404';
const HOUR_MS = 3_600_000;
/** Answers are kept for a day. */
export const KEPT_MS = 24 * HOUR_MS;

/** Many execution environments that update few pets, as a seed has it. */
export async function runUpdates(seed: number, tamper?: Tamper): Promise<UpdateHistory> {
  const random = new Random(seed);
  const network = random.isLikely(0.3) ? GOOD_NETWORK : randomNetwork(random);
  const time = new VirtualTime(Date.UTC(2026, 10, 21), random);
  const database = new VirtualDynamoDB({ time, random, network, tamper });
  const { tables } = database;
  tables.createTable(STOCK, 'storeId', 'petId');
  tables.createTable(REQUESTS, 'requestId');
  const pets = Array.from({ length: 1 + random.below(3) }, (_, index) => String(index + 1));
  const updates: AnsweredUpdate[] = [];
  const clients = new Clients({ random, time, tables, pets, updates });
  for (const pet of pets) loadStock(tables, pet, 'available', time.now);
  const update = updater(database);
  const environments = new Environments(time, random, 1 + random.below(8));

  const send = (request: ClientRequest): Promise<void> =>
    environments.invoke<Answer>(random.isLikely(0.5), ({ caller }, invocation) => {
      const writer = `try-${updates.length}`;
      updates.push(Object.assign(invocation, { request, writer }));
      return database.as(caller, writer, () => update(request));
    });
  planBursts(time, random, {
    gaps: [0.5, 3, 30, 500],
    requests: [3, 20],
    pauses: () => [0, 1_000, 30_000, 30_000, KEPT_MS + HOUR_MS],
    begin: () => () => void send(clients.next()),
    // An admin loads stock, or takes it out, while it is updated.
    administer: () => {
      const pet = random.pick(pets);
      if (random.isLikely(0.7)) loadStock(tables, pet, random.pick(['available', 'pending', 'sold']), time.now);
      else {
        const input = { TableName: STOCK, Key: keyOf(pet) };
        tables.execute('DeleteItemCommand', input, { at: time.now, writer: 'admin' });
      }
    },
  });
  await time.run();
  return { updates, commits: tables.commits };
}

/** Each entry has a quantity and a version of its own. */
function loadStock(tables: VirtualTables, pet: string, status: string, at: number): void {
  const count = tables.commits.length;
  const entry = { quantity: 1_000_000 + count, status, version: `loaded-${count}` };
  tables.put(STOCK, { ...keyOf(pet), ...marshall(entry) }, at);
}

/** Carries a request out as the function does. */
function updater({ client }: VirtualDynamoDB): (request: ClientRequest) => Promise<Answer> {
  // They keep nothing between two requests, so one is as good as one for each environment.
  const stock = new StockStore(client, STOCK);
  const idempotent = new IdempotentChanges(client, stock, REQUESTS);
  return async ({ idempotencyKey, update }) => {
    const headers: Record<string, string> = idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey };
    const authorizer = { ...admittedContext, recordId: 'r3c0rd' };
    try {
      const request = idempotentRequest(aRequest({ headers, authorizer }), update);
      return {
        kind: 'updated',
        ...(await (request ? idempotent.applyIdempotently(request, update) : stock.change(update))),
      };
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return { kind: 'refused', status: error.status, etag: error.headers['ETag'] };
    }
  };
}

interface World {
  readonly random: Random;
  readonly time: VirtualTime;
  readonly tables: VirtualTables;
  readonly pets: readonly string[];
  readonly updates: readonly AnsweredUpdate[];
}

/** What clients send: updates of their own, and some of these again. */
class Clients {
  readonly #world: World;
  readonly #requests: ClientRequest[] = [];

  constructor(world: World) {
    this.#world = world;
  }

  next(): ClientRequest {
    const { random, time, updates } = this.#world;
    if (!random.isLikely(0.35)) return this.#another();
    // A client sends a request again at once, or as long as it was not refused, and its answer is kept.
    const recent = this.#requests.slice(-12).filter(({ id, idempotencyKey }) => {
      const tries = updates.filter(({ request }) => request.id === id);
      const isRefused = tries.some(({ outcome }) => outcome.kind === 'refused' && outcome.status !== 503);
      const since = tries[0]?.invokedAt ?? time.now;
      return idempotencyKey !== undefined && !isRefused && time.now < since + KEPT_MS - HOUR_MS;
    });
    return recent.length > 0 ? random.pick(recent) : this.#another();
  }

  #another(): ClientRequest {
    const { random, tables, pets, updates } = this.#world;
    const petId = int64(random.isLikely(0.05) ? ABSENT : random.pick(pets));
    const current = tables.itemAt(STOCK, keyOf(petId))?.['version']?.S ?? 'absent';
    const [first] = updates.flatMap(({ outcome }) => (outcome.kind === 'updated' ? [outcome.version] : []));
    const versions = [current, ...(random.isLikely(0.3) ? [first ?? 'x'] : [])];
    const reused = random.isLikely(0.08) ? this.#requests.at(-1 - random.below(10)) : undefined;
    const id = this.#requests.length + 1;
    const request = {
      id,
      idempotencyKey: random.isLikely(0.6) ? (reused?.idempotencyKey ?? `key-${id}`) : undefined,
      update: { petId, quantity: id, ...(random.isLikely(0.4) && { versions }) },
    };
    this.#requests.push(request);
    return request;
  }
}

const keyOf = (petId: string): Item => ({ storeId: { S: 'main' }, petId: { N: petId } });
