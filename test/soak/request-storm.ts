import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import type { ErrorCode } from '../../shared/contract/errors.ts';
import { everyOperationErrors, type OperationId, operations } from '../../shared/contract/operations.ts';
import { type Answer, ApiClient } from '../support/api-client.ts';
import type { Random } from '../support/random.ts';
import type { CarriedOut } from '../support/faulty-engine.ts';

/** Tries of an update with an Idempotency-Key. */
const MAX_TRIES = 3;
const PETS = 6;
const FIRST_PET = 900;

/** A key of the storm. */
export interface StormKey {
  readonly token: string;
  /** How often it is used, compared with the others. */
  readonly weight: number;
}

interface Read {
  readonly operation: OperationId | undefined;
  readonly path: string;
}

const reads: readonly Read[] = [
  { operation: 'listInventory', path: '/inventory' },
  { operation: 'listInventory', path: '/inventory?limit=5' },
  { operation: 'listInventory', path: '/inventory?status=sold' },
  { operation: 'getPet', path: '/pets/101' },
  { operation: 'listOrders', path: '/store/orders' },
  { operation: undefined, path: '/nowhere' },
];

const unrouted: readonly ErrorCode[] = ['ROUTE_NOT_FOUND', 'METHOD_NOT_ALLOWED'];

/** Clients that send requests of all operations at once, and note what they are answered. */
export class RequestStorm {
  readonly updates: SentUpdate[] = [];
  /** What was wrong with answers. */
  readonly faults: string[] = [];
  readonly #random: Random;
  readonly #clients: readonly { readonly key: StormKey; readonly api: ApiClient }[];
  readonly #admitted = new Map<string, number>();
  readonly #tags = new Map<string, string>();
  #quantities = 1_000;
  #isOver = false;

  constructor(baseUrl: string, keys: readonly StormKey[], random: Random) {
    this.#random = random;
    this.#clients = keys.flatMap((key) =>
      Array.from({ length: key.weight }, () => ({ key, api: ApiClient.withKey(baseUrl, key.token) })),
    );
  }

  static get petIds(): string[] {
    return Array.from({ length: PETS }, (_, index) => String(FIRST_PET + index));
  }

  /** Sends requests, so many at a time, until it is over. */
  async rage(concurrency: number): Promise<void> {
    await Promise.all(
      Array.from({ length: concurrency }, async () => {
        while (!this.#isOver) await this.#sendOne();
      }),
    );
  }

  end(): void {
    this.#isOver = true;
  }

  /** Updates so far of which this is known. */
  known(outcome: SentUpdate['outcome']): number {
    return this.updates.filter((update) => update.outcome === outcome).length;
  }

  /** Requests of a key that were answered with success, of those in its window that had most of them. */
  admitted({ token }: StormKey): number {
    const counts = [...this.#admitted].filter(([window]) => window.startsWith(token)).map(([, count]) => count);
    return Math.max(0, ...counts);
  }

  async #sendOne(): Promise<void> {
    const { key, api } = this.#random.pick(this.#clients);
    if (this.#random.isLikely(0.5)) await this.#update(key, api);
    else await this.#read(key, api, this.#random.pick(reads));
  }

  async #read(key: StormKey, api: ApiClient, { operation, path }: Read): Promise<void> {
    try {
      this.#note(key, await api.send('GET', path), operation);
    } catch (error) {
      // A list may break off. What the client finds wrong with an answer is an error too.
      if (!(error instanceof TypeError && error.message === 'terminated'))
        this.faults.push(`GET ${path}: ${String(error)}`);
    }
  }

  async #update(key: StormKey, api: ApiClient): Promise<void> {
    const petId = this.#random.pick(RequestStorm.petIds);
    const quantity = ++this.#quantities;
    const headers = this.#headersFor(petId);
    const tries = 'Idempotency-Key' in headers ? MAX_TRIES : 1;
    let outcome: SentUpdate['outcome'] = 'refused';
    let answer: Answer | undefined;
    for (let attempt = 0; attempt < tries && outcome !== 'done'; attempt++) {
      answer = await this.#patch(key, api, petId, quantity, headers);
      const known = knownFrom(answer);
      // What an earlier try may have done, no refusal undoes.
      outcome = outcome === 'unknown' && known === 'refused' ? 'unknown' : known;
      if (outcome === 'refused') break;
    }
    const tag = answer && tagOf(answer);
    if (tag !== undefined) this.#tags.set(petId, tag);
    this.updates.push({ petId, quantity, outcome, version: tag?.slice(1, -1) });
  }

  #headersFor(petId: string): Record<string, string> {
    const tag = this.#tags.get(petId);
    const kind = this.#random.below(3);
    return {
      'Content-Type': 'application/json',
      ...(kind === 0 && tag !== undefined && { 'If-Match': tag }),
      ...(kind === 1 && { 'Idempotency-Key': `"${randomUUID()}"` }),
      ...(this.#random.isLikely(0.05) && { 'X-Fault-Update': 'crashes afterwards' }),
    };
  }

  async #patch(key: StormKey, api: ApiClient, petId: string, quantity: number, headers: Record<string, string>) {
    try {
      const answer = await api.send('PATCH', `/inventory/${petId}`, { headers, body: JSON.stringify({ quantity }) });
      this.#note(key, answer, 'updateInventory');
      return answer;
    } catch (error) {
      this.faults.push(`PATCH of ${petId}: ${String(error)}`);
      return undefined;
    }
  }

  #note({ token }: StormKey, { status, error, headers }: Answer, operation: OperationId | undefined): void {
    const window = `${token} ${headers.get('X-RateLimit-Limit')} ${headers.get('X-RateLimit-Reset')}`;
    if (status < 300) this.#admitted.set(window, (this.#admitted.get(window) ?? 0) + 1);
    if (!error) return;
    const own: readonly ErrorCode[] = operation === undefined ? unrouted : operations[operation].errors;
    const isDeclared = own.includes(error.code) || everyOperationErrors.some((code) => code === error.code);
    // Nothing in the storm takes so long.
    if (!isDeclared || error.code === 'GATEWAY_TIMEOUT') this.faults.push(`${operation}: ${error.code}`);
  }
}

/** What a client knows of its update from one answer. */
function knownFrom(answer: Answer | undefined): SentUpdate['outcome'] {
  if (!answer || answer.status >= 500 || answer.status === 409) return 'unknown';
  if (answer.status !== 200) return 'refused';
  // Others have replaced it, or came first.
  return tagOf(answer) === undefined ? 'unknown' : 'done';
}

/** The tag of a version; undefined where the answer has none. */
function tagOf({ headers }: Answer): string | undefined {
  return /^"[\w-]+"$/.exec(headers.get('ETag') ?? '')?.[0];
}

/** An update that a client sent, with a quantity that no other has. */
export interface SentUpdate {
  readonly petId: string;
  readonly quantity: number;
  /** What the client knows of it. */
  readonly outcome: 'done' | 'refused' | 'unknown';
  /** As its answer tells it. */
  readonly version: string | undefined;
}

const number = v.pipe(
  v.object({ N: v.string() }),
  v.transform(({ N }) => Number(N)),
);
const updateSchema = v.object({
  TableName: v.string(),
  Key: v.object({ petId: v.object({ N: v.string() }) }),
  ExpressionAttributeValues: v.object({ ':quantity': number, ':version': v.object({ S: v.string() }) }),
});
const transactionSchema = v.object({ TransactItems: v.tuple([v.unknown(), v.object({ Update: updateSchema })]) });

/** Every version that updates have given stock entries, as the engine itself tells it. */
export class StockHistory {
  /** Quantities by version, of each pet. */
  readonly #versions = new Map<string, Map<string, number>>();
  readonly #tableName: string;

  constructor(tableName: string) {
    this.#tableName = tableName;
  }

  note({ action, body, status }: CarriedOut): void {
    if (status !== 200 || !body.includes(this.#tableName)) return;
    if (action === 'UpdateItem') this.#add(v.parse(updateSchema, JSON.parse(body)));
    if (action === 'TransactWriteItems')
      this.#add(v.parse(transactionSchema, JSON.parse(body)).TransactItems[1].Update);
  }

  #add({ Key, ExpressionAttributeValues }: v.InferOutput<typeof updateSchema>): void {
    const { ':quantity': quantity, ':version': version } = ExpressionAttributeValues;
    const versions = this.#versions.get(Key.petId.N) ?? new Map<string, number>();
    this.#versions.set(Key.petId.N, versions.set(version.S, quantity));
  }

  /** The quantity of a version; undefined where no update made it. */
  quantityOf(petId: string, version: string): number | undefined {
    return this.#versions.get(petId)?.get(version);
  }

  /** What is wrong with the versions, given all updates that were sent; empty where nothing is. */
  faults(updates: readonly SentUpdate[]): string[] {
    return updates.flatMap((update) => this.#faultsOf(update));
  }

  #faultsOf(update: SentUpdate): string[] {
    const { petId, quantity, outcome, version } = update;
    const versions = [...(this.#versions.get(petId) ?? [])]
      .filter(([, each]) => each === quantity)
      .map(([made]) => made);
    const isWrong =
      versions.length > 1 ||
      (outcome === 'done' && versions[0] !== version) ||
      (outcome === 'refused' && versions.length > 0);
    return isWrong ? [`${JSON.stringify(update)} was done as ${JSON.stringify(versions)}`] : [];
  }
}
