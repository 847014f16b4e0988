import { marshall } from '@aws-sdk/util-dynamodb';
import { ServiceError } from '../../shared/contract/errors.ts';
import type { InventoryItem } from '../../shared/contract/inventory.ts';
import { idempotentRequest } from '../../shared/http/update-headers.ts';
import { IdempotentUpdates } from '../../shared/stores/idempotent-updates.ts';
import { StockStore, type StockUpdate } from '../../shared/stores/stock-store.ts';
import { int64 } from '../support/int64.ts';
import { admittedContext, aProxyEvent } from '../support/proxy-event.ts';
import { Random } from '../support/random.ts';
import { Environments, type Invocation } from './environments.ts';
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
export class UpdateSchedule {
  readonly #random: Random;
  readonly #time: VirtualTime;
  readonly #database: VirtualDynamoDB;
  readonly #pets: number;
  #loads = 0;
  readonly #environments: Environments;
  readonly #requests: ClientRequest[] = [];
  readonly #told: ToldAnswer[] = [];
  // They keep nothing between two requests, so one is as good as one for each environment.
  readonly #stock: StockStore;
  readonly #idempotent: IdempotentUpdates;

  private constructor(seed: number, tamper?: Tamper) {
    const random = new Random(seed);
    this.#random = random;
    const weather = random.isLikely(0.3) ? CALM : someWeather(random);
    this.#time = new VirtualTime(Date.UTC(2026, 10, 21), random);
    this.#database = new VirtualDynamoDB({ time: this.#time, random, weather, ...(tamper && { tamper }) });
    const { tables } = this.#database;
    tables.createTable(STOCK, 'storeId', 'petId');
    tables.createTable(REQUESTS, 'requestId');
    this.#stock = new StockStore(this.#database.client, STOCK);
    this.#idempotent = new IdempotentUpdates(this.#database.client, this.#stock, REQUESTS);
    this.#pets = 1 + random.below(3);
    for (let pet = 1; pet <= this.#pets; pet++) this.#load(pet, 'available');
    this.#environments = new Environments({
      time: this.#time,
      random,
      count: 1 + random.below(8),
      freezes: weather !== CALM && random.isLikely(0.4),
    });
  }

  static async run(seed: number, tamper?: Tamper): Promise<UpdateHistory> {
    const schedule = new UpdateSchedule(seed, tamper);
    schedule.#plan();
    await schedule.#time.run();
    return { told: schedule.#told, commits: schedule.#database.tables.commits };
  }

  #plan(): void {
    const random = this.#random;
    let at = this.#time.now;
    const bursts = 2 + random.below(4);
    for (let burst = 0; burst < bursts; burst++) {
      const begin = at;
      const gap = random.pick([0.5, 3, 30, 500]);
      const requests = 3 + random.below(20);
      for (let request = 0; request < requests; request++) {
        this.#time.at(at, () => this.#send(random.isLikely(0.35) ? this.#earlier() : this.#another()));
        at += random.next() * 2 * gap;
      }
      if (random.isLikely(0.4)) {
        this.#time.at(begin + random.next() * (at - begin), () => this.#changeByHand());
      }
      at += random.pick([0, 1_000, 30_000, 30_000, KEPT_MS + HOUR_MS]);
    }
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
    const older = random.isLikely(0.3) ? [this.#told.find(({ outcome }) => outcome.kind === 'updated')] : [];
    const versions = [current, ...older.map((told) => (told?.outcome.kind === 'updated' ? told.outcome.version : 'x'))];
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

  #send(request: ClientRequest): void {
    this.#environments.invoke<Answer>(this.#random.isLikely(0.5), ({ caller }, invocation) => {
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

const keyOf = (petId: string): Item => ({ storeId: { S: 'main' }, petId: { N: petId } });
