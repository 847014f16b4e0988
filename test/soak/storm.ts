import { randomUUID } from 'node:crypto';
import { sampleStock } from '../../infra/local/sample-data.ts';
import type { KeyRecord } from '../../shared/keys/key-record.ts';
import { type Answer, ApiClient } from '../support/api-client.ts';
import type { Random } from '../support/random.ts';

/** Tries of an update with an Idempotency-Key. */
const MAX_TRIES = 3;
const DAY_MS = 86_400_000;

const reads = ['/inventory', '/inventory?limit=5', '/inventory?status=sold', '/pets/101', '/store/orders', '/nowhere'];

/** A pet that one client alone updates, one update after the other. */
interface Pet {
  readonly petId: string;
  /** As the last update that was acknowledged has made it. */
  quantity: number;
  etag: string;
  /** Quantities of updates whose outcome is unknown. */
  unknown: number[];
}

/** Where a client sends its requests, and with which token. */
interface Access {
  readonly baseUrl: string;
  readonly token: string;
}

/** Clients that send requests of all operations at once, and compare the answers with what is stored later. */
export class Storm {
  /** What was wrong; empty where nothing was. */
  readonly violations: string[] = [];
  /** Updates. */
  readonly counts = { acknowledged: 0, unacknowledged: 0 };
  readonly #random: Random;
  readonly #failures: readonly number[];
  readonly #pets: readonly Pet[];
  /** Admitted requests of each window of a token, by the end of the window in Unix seconds. */
  readonly #admitted = new Map<string, { readonly token: string; readonly reset: number; count: number }>();
  /** No two updates have the same. */
  #lastQuantity = 10_000;
  #isOver = false;

  /** @param failures statuses that are expected of a fault */
  constructor(random: Random, clients: number, failures: readonly number[]) {
    this.#random = random;
    this.#failures = failures;
    const pets = sampleStock.slice(0, clients);
    this.#pets = pets.map(({ petId, quantity }) => ({ petId, quantity, etag: '*', unknown: [] }));
  }

  /**
   * Lets every client send one request after the other until {@link end}.
   *
   * @param tokens keys, each as often as it is to be used compared with the others
   * @param onAnswer called after every request
   */
  async run(baseUrl: string, tokens: readonly string[], onAnswer: () => void = () => undefined): Promise<void> {
    this.#isOver = false;
    const client = async (pet: Pet): Promise<void> => {
      while (!this.#isOver) {
        const access = { token: this.#random.pick(tokens), baseUrl };
        if (this.#random.isLikely(0.5)) await this.#update(access, pet);
        else await this.#send(access, 'GET', this.#random.pick(reads));
        onAnswer();
      }
    };
    await Promise.all(this.#pets.map(client));
  }

  /** From now on no client sends another request, and one that breaks off is no violation. */
  end(): void {
    this.#isOver = true;
  }

  /** Every pet has the quantity of its last acknowledged update, or of one whose outcome is unknown. */
  async inspectStock(api: ApiClient): Promise<void> {
    const { text } = await api.list();
    for (const pet of this.#pets) {
      const stored = Number(new RegExp(`"petId":${pet.petId},"quantity":(\\d+)`).exec(text)?.[1]);
      if (pet.quantity !== stored && !pet.unknown.includes(stored))
        this.violations.push(`pet ${pet.petId} has ${stored}, not as in ${JSON.stringify(pet)}`);
      Object.assign(pet, { quantity: stored, unknown: [] });
    }
  }

  /** Each request that was admitted is counted, and no more are than the day has room for. */
  inspectKey(token: string, { dayUsed, perDay }: KeyRecord): void {
    const midnight = (Date.now() - (Date.now() % DAY_MS)) / 1_000;
    const today = [...this.#admitted.values()].filter((window) => window.token === token && window.reset > midnight);
    const admitted = today.reduce((sum, { count }) => sum + count, 0);
    if (admitted > dayUsed) this.violations.push(`${admitted} requests of a key were admitted, and ${dayUsed} counted`);
    if (dayUsed > perDay) this.violations.push(`${dayUsed} requests of a key were counted, of ${perDay} a day`);
  }

  async #update(access: Access, pet: Pet): Promise<void> {
    const quantity = ++this.#lastQuantity;
    const headers = this.#headersFor(pet);
    const tries = 'Idempotency-Key' in headers ? MAX_TRIES : 1;
    let isUnknown = false;
    for (let attempt = 0; attempt < tries; attempt++) {
      const answer = await this.#send(access, 'PATCH', `/inventory/${pet.petId}`, headers, quantity);
      if (answer?.status === 200) {
        this.counts.acknowledged += 1;
        Object.assign(pet, { quantity, etag: answer.headers.get('ETag') });
        return;
      }
      // A refusal does not undo an earlier try.
      if (answer && answer.status < 500) break;
      isUnknown = true;
    }
    if (!isUnknown) return;
    this.counts.unacknowledged += 1;
    pet.unknown.push(quantity);
  }

  #headersFor({ etag }: Pet): Record<string, string> {
    const kind = this.#random.below(3);
    return {
      'Content-Type': 'application/json',
      ...(kind === 0 && { 'If-Match': etag }),
      ...(kind === 1 && { 'Idempotency-Key': `"${randomUUID()}"` }),
      // Only a function in which this fault was planted looks at it.
      ...(this.#random.isLikely(0.05) && { 'X-Fault-Update': 'crashes afterwards' }),
    };
  }

  /** @returns the answer; undefined where none came, or a list broke off */
  async #send(
    { token, baseUrl }: Access,
    method: string,
    path: string,
    headers: Record<string, string> = {},
    quantity?: number,
  ): Promise<Answer | undefined> {
    const body = quantity === undefined ? {} : { body: JSON.stringify({ quantity }) };
    try {
      const answer = await ApiClient.withKey(baseUrl, token).send(method, path, { headers, ...body });
      const { status } = answer;
      if (status >= 500 && !this.#failures.includes(status)) this.violations.push(`${method} ${path}: ${answer.text}`);
      if (status < 300) this.#admit(token, answer);
      return answer;
    } catch (error) {
      // A list may break off. What the client finds wrong with an answer is an error too.
      const isBrokenList = this.#failures.length > 0 && error instanceof TypeError && error.message === 'terminated';
      return isBrokenList ? undefined : this.brokenOff(`${method} ${path}`, error);
    }
  }

  /** Takes a request that got no answer for a violation, unless it is over. */
  brokenOff(request: string, error: unknown): undefined {
    if (!this.#isOver) this.violations.push(`${request}: ${String(error)}`);
  }

  #admit(token: string, { rateLimit: { limit, reset } }: Answer): void {
    const name = `${token}, ${limit} until ${reset}`;
    const window = this.#admitted.get(name) ?? { token, reset, count: 0 };
    this.#admitted.set(name, window);
    window.count += 1;
    if (window.count > limit) this.violations.push(`${window.count} requests were admitted, of ${limit}`);
  }
}
