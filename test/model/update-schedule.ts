import { marshall } from '@aws-sdk/util-dynamodb';
import { ServiceError } from '../../shared/contract/errors.ts';
import type { InventoryItem } from '../../shared/contract/inventory.ts';
import { idempotentRequest } from '../../shared/http/update-headers.ts';
import { IdempotentUpdates } from '../../shared/stores/idempotent-updates.ts';
import { StockStore, type StockUpdate } from '../../shared/stores/stock-store.ts';
import { int64 } from '../support/int64.ts';
import { admittedContext, aProxyEvent } from '../support/proxy-event.ts';
import { Random } from '../support/random.ts';
import { Environments, type Invocation, planBursts } from './environments.ts';
import { type Tamper, VirtualDynamoDB } from './virtual-dynamodb.ts';
import type { Commit, Item } from './virtual-tables.ts';
import { VirtualTime } from './virtual-time.ts';
import { CALM, someWeather } from './weather.ts';

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

/** One time that a request was sent, and what its client was told. */
export interface ToldAnswer extends Invocation<Answer> {
  readonly request: ClientRequest;
  /** The writer of its commits. */
  readonly writer: string;
}

export interface UpdateHistory {
  readonly told: readonly ToldAnswer[];
  readonly commits: readonly Commit[];
}

export const STOCK = 'stock';
const REQUESTS = 'requests';
const ABSENT = 404;
const HOUR_MS = 3_600_000;
/** Answers are kept for a day. */
export const KEPT_MS = 24 * HOUR_MS;

/** Many execution environments that update few pets, as a seed has it. */
export function runUpdates(seed: number, tamper?: Tamper): Promise<UpdateHistory> {
  return new UpdateSchedule(new Random(seed), tamper).run();
}

class UpdateSchedule {
  readonly #random: Random;
  readonly #time: VirtualTime;
  readonly #database: VirtualDynamoDB;
  readonly #pets: number;
  readonly #environments: Environments;
  // They keep nothing between two requests, so one is as good as one for each environment.
  readonly #stock: StockStore;
  readonly #idempotent: IdempotentUpdates;
  readonly #requests: ClientRequest[] = [];
  readonly #told: ToldAnswer[] = [];
  #loads = 0;

  constructor(random: Random, tamper: Tamper | undefined) {
    const weather = random.isLikely(0.3) ? CALM : someWeather(random);
    this.#random = random;
    this.#time = new VirtualTime(Date.UTC(2026, 10, 21), random);
    this.#database = new VirtualDynamoDB({ time: this.#time, random, weather, tamper });
    const { tables, client } = this.#database;
    tables.createTable(STOCK, 'storeId', 'petId');
    tables.createTable(REQUESTS, 'requestId');
    this.#stock = new StockStore(client, STOCK);
    this.#idempotent = new IdempotentUpdates(client, this.#stock, REQUESTS);
    this.#pets = 1 + random.below(3);
    for (let pet = 1; pet <= this.#pets; pet++) this.#load(pet, 'available');
    this.#environments = new Environments(this.#time, random, 1 + random.below(8));
  }

  async run(): Promise<UpdateHistory> {
    const random = this.#random;
    planBursts(this.#time, random, {
      gaps: [0.5, 3, 30, 500],
      requests: [3, 20],
      pauses: () => [0, 1_000, 30_000, 30_000, KEPT_MS + HOUR_MS],
      begin: () => () => void this.#send(random.isLikely(0.35) ? this.#earlier() : this.#another()),
      administer: () => this.#changeByHand(),
    });
    await this.#time.run();
    return { told: this.#told, commits: this.#database.tables.commits };
  }

  /** An admin loads stock, or takes it out, while it is updated. */
  #changeByHand(): void {
    const random = this.#random;
    const pet = 1 + random.below(this.#pets);
    if (random.isLikely(0.7)) this.#load(pet, random.pick(['available', 'pending', 'sold']));
    else {
      const input = { TableName: STOCK, Key: keyOf(String(pet)) };
      this.#database.tables.execute('DeleteItemCommand', input, { at: this.#time.now, writer: 'admin' });
    }
  }

  #load(pet: number, status: string): void {
    const version = `loaded-${++this.#loads}`;
    const entry = { quantity: 1_000_000 + this.#loads, status, version };
    this.#database.tables.put(STOCK, { ...keyOf(String(pet)), ...marshall(entry) }, this.#time.now);
  }

  #another(): ClientRequest {
    const random = this.#random;
    const petId = int64(String(random.isLikely(0.05) ? ABSENT : 1 + random.below(this.#pets)));
    const current = this.#database.tables.itemAt(STOCK, keyOf(petId))?.['version']?.S ?? 'absent';
    const older = random.isLikely(0.3) ? this.#told.flatMap(({ outcome }) => versionIn(outcome)).slice(0, 1) : [];
    const reused = random.isLikely(0.08) ? this.#requests.at(-1 - random.below(10)) : undefined;
    const id = this.#requests.length + 1;
    const request = {
      id,
      idempotencyKey: random.isLikely(0.6) ? (reused?.idempotencyKey ?? `key-${id}`) : undefined,
      update: { petId, quantity: id, ...(random.isLikely(0.4) && { versions: [current, ...older] }) },
    };
    this.#requests.push(request);
    return request;
  }

  /** A request that a client sends again: at once, or as long as it was not refused, and its answer is kept. */
  #earlier(): ClientRequest {
    const recent = this.#requests.slice(-12).filter(({ id, idempotencyKey }) => {
      const tries = this.#told.filter(({ request }) => request.id === id);
      const isRefused = tries.some(({ outcome }) => outcome.kind === 'refused' && outcome.status !== 503);
      const since = tries[0]?.invokedAt ?? this.#time.now;
      return idempotencyKey !== undefined && !isRefused && this.#time.now < since + KEPT_MS - HOUR_MS;
    });
    return recent.length > 0 ? this.#random.pick(recent) : this.#another();
  }

  #send(request: ClientRequest): Promise<void> {
    return this.#environments.invoke<Answer>(this.#random.isLikely(0.5), ({ caller }, invocation) => {
      const writer = `try-${this.#told.length}`;
      this.#told.push(Object.assign(invocation, { request, writer }));
      return this.#database.as(caller, writer, () => this.#update(request));
    });
  }

  /** As the function does it. */
  async #update({ idempotencyKey, update }: ClientRequest): Promise<Answer> {
    const headers: Record<string, string> = idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey };
    // The API key was rotated: another one of its lineage.
    const authorizer = { ...admittedContext, principalId: this.#random.pick(['0ld', 'n3w']) };
    try {
      const request = idempotentRequest(aProxyEvent({ headers, authorizer }), update);
      const done = await (request ? this.#idempotent.once(request, update) : this.#stock.update(update));
      return { kind: 'updated', ...done };
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return { kind: 'refused', status: error.status, etag: error.headers['ETag'] };
    }
  }
}

const versionIn = (outcome: ToldAnswer['outcome']): string[] => (outcome.kind === 'updated' ? [outcome.version] : []);

const keyOf = (petId: string): Item => ({ storeId: { S: 'main' }, petId: { N: petId } });
