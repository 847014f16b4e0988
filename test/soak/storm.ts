import { randomUUID } from 'node:crypto';
import { sampleStock } from '../../infra/local/sample-data.ts';
import type { KeyRecord } from '../../shared/keys/key-record.ts';
import { type Answer, ApiClient, type RequestParts } from '../support/api-client.ts';
import type { Random } from '../support/random.ts';

const DAY_MS = 86_400_000;

const reads = ['/inventory', '/inventory?limit=5', '/inventory?status=sold', '/pets/101', '/store/orders', '/nowhere'];

/** A pet that one client alone updates, one update after the other. */
interface Pet {
  readonly petId: string;
  /** As the last update that was acknowledged has made it. */
  quantity: number;
  etag: string;
  /** Quantity of an update that the kill has cut off. */
  unknown: number | undefined;
}

/** Clients that send requests of all operations at once, and compare the answers with what is stored later. */
export class Storm {
  /** What was wrong; empty where nothing was. */
  readonly violations: string[] = [];
  /** Updates. */
  acknowledged = 0;
  readonly #random: Random;
  readonly #pets: readonly Pet[];
  /** Admitted requests of each window of a token, by the end of the window in Unix seconds. */
  readonly #admitted = new Map<string, { readonly token: string; readonly reset: number; count: number }>();
  /** No two updates have the same. */
  #lastQuantity = 10_000;
  #isOver = false;

  constructor(random: Random, clients: number) {
    this.#random = random;
    const pets = sampleStock.slice(0, clients);
    this.#pets = pets.map(({ petId, quantity }) => ({ petId, quantity, etag: '*', unknown: undefined }));
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
        const token = this.#random.pick(tokens);
        const api = ApiClient.withKey(baseUrl, token);
        if (this.#random.isLikely(0.5)) await this.#update(api, token, pet);
        else await this.#send(api, token, 'GET', this.#random.pick(reads));
        onAnswer();
      }
    };
    await Promise.all(this.#pets.map(client));
  }

  /** From now on no client sends another request, and one that breaks off is no violation. */
  end(): void {
    this.#isOver = true;
  }

  /** Every pet has the quantity of its last acknowledged update, or of the one after it that was cut off. */
  async inspectStock(api: ApiClient): Promise<void> {
    const { text } = await api.list();
    for (const pet of this.#pets) {
      const stored = Number(new RegExp(`"petId":${pet.petId},"quantity":(\\d+)`).exec(text)?.[1]);
      if (pet.quantity !== stored && pet.unknown !== stored)
        this.violations.push(`pet ${pet.petId} has ${stored}, not as in ${JSON.stringify(pet)}`);
      Object.assign(pet, { quantity: stored, unknown: undefined });
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

  async #update(api: ApiClient, token: string, pet: Pet): Promise<void> {
    const quantity = ++this.#lastQuantity;
    const headers = { 'Content-Type': 'application/json', ...this.#condition(pet) };
    const body = JSON.stringify({ quantity });
    const answer = await this.#send(api, token, 'PATCH', `/inventory/${pet.petId}`, { headers, body });
    if (!answer) pet.unknown = quantity;
    if (answer?.status !== 200) return;
    this.acknowledged += 1;
    Object.assign(pet, { quantity, etag: answer.headers.get('ETag') });
  }

  #condition({ etag }: Pet): Record<string, string> {
    return this.#random.pick([{}, { 'If-Match': etag }, { 'Idempotency-Key': `"${randomUUID()}"` }]);
  }

  /** @returns the answer; undefined where none came */
  async #send(api: ApiClient, token: string, method: string, path: string, parts?: RequestParts) {
    try {
      const answer = await api.send(method, path, parts);
      if (answer.status >= 500) this.violations.push(`${method} ${path}: ${answer.text}`);
      if (answer.status < 300) this.#admit(token, answer);
      return answer;
    } catch (error) {
      // What the client finds wrong with an answer is an error too.
      return this.brokenOff(`${method} ${path}`, error);
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
