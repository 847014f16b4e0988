import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as v from 'valibot';
import { ApiClient } from '../support/api-client.ts';
import { type Fault, FaultyEngine } from '../support/faulty-engine.ts';
import { HostProcess } from '../support/host-process.ts';
import { Random } from '../support/random.ts';
import { synthesizedOnce } from '../support/synthesize-once.ts';
import type { Outcome } from './models.ts';

const CLIENTS = 100;
const STOCK = 60;
const AT_ONCE = 10;
/** Times that the host of one round is killed while clients take. */
const KILLS = 3;
/** Of a call of DynamoDB. */
const FAULT_PROBABILITY = 0.05;
const FAULTS: readonly Fault[] = [
  { kind: 'lostAnswer' },
  { kind: 'halfAnswer' },
  { kind: 'falseFailure' },
  { kind: 'hangUp' },
  { kind: 'late', milliseconds: 50 },
];

/**
 * 100 clients take one each of a pet that has 60, with an Idempotency-Key and without, while the host is killed with
 * `kill -9`; every second round also while answers of DynamoDB are lost.
 */
export async function adjustmentRound(seed: number): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'pet-store-soak-'));
  const engine = seed % 2 === 0 ? await FaultyEngine.start() : undefined;
  try {
    return await new Round(folder, new Random(seed), engine).run();
  } finally {
    await engine?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

class Round {
  readonly #folder: string;
  readonly #random: Random;
  readonly #engine: FaultyEngine | undefined;
  readonly #sales = [new Sale('101', true), new Sale('102', false)];
  #selling: Promise<unknown> = Promise.resolve();

  constructor(folder: string, random: Random, engine: FaultyEngine | undefined) {
    this.#folder = folder;
    this.#random = random;
    this.#engine = engine;
    mkdirSync(join(folder, 'tmp'));
  }

  async run(): Promise<Outcome> {
    await this.#withHost('SIGKILL', async (api) => {
      for (const { petId } of this.#sales) await api.setQuantity(petId, STOCK);
    });
    for (let kill = 0; kill < KILLS; kill++)
      await this.#withHost('SIGKILL', (api) => this.#sell(api, this.#random.below(CLIENTS)));
    const violations: string[] = [];
    await this.#withHost('SIGTERM', async (api) => {
      while (this.#sales.some((sale) => sale.isOpen)) await this.#sell(api, Infinity);
      for (const sale of this.#sales) violations.push(...sale.violations(await quantityOf(api, sale.petId)));
    });
    const [withKeys, without] = this.#sales.map(({ counts }) => counts);
    return { violations, counts: { kills: KILLS + 1, ...withKeys, ...without } };
  }

  /** Runs a host, which ends with the signal once the work is done; then nothing of it is under way any more. */
  async #withHost(signal: NodeJS.Signals, work: (api: ApiClient) => Promise<void>): Promise<void> {
    const args = ['--json', '--port', '0', '--data', join(this.#folder, 'data'), '--assembly', synthesizedOnce()];
    if (this.#engine) args.push('--dynamodb', this.#engine.endpoint.href);
    const process = new HostProcess(args, join(this.#folder, 'tmp'));
    try {
      const { baseUrl, keys } = await process.ready();
      await work(ApiClient.withKey(baseUrl, keys.enterprise));
    } finally {
      await process.stop(signal);
      await this.#selling;
    }
  }

  /** Lets all clients take whose outcome is open, until there were so many answers: others are then under way. */
  async #sell(api: ApiClient, answers: number): Promise<void> {
    const enough = Promise.withResolvers<void>();
    let left = answers;
    const mayGoOn = (): boolean => {
      if (left <= 0) enough.resolve();
      return left-- > 0;
    };
    const engine = this.#engine;
    if (engine)
      engine.faults = () => (this.#random.isLikely(FAULT_PROBABILITY) ? this.#random.pick(FAULTS) : undefined);
    this.#selling = Promise.all(this.#sales.map((sale) => sale.sell(api, mayGoOn)));
    await Promise.race([this.#selling, enough.promise]);
    if (!engine) return;
    engine.faults = () => undefined;
    await engine.settled();
  }
}

const entrySchema = v.object({ quantity: v.number() });
const quantityIn = (text: string): number => v.parse(entrySchema, JSON.parse(text)).quantity;

async function quantityOf(api: ApiClient, petId: string): Promise<number> {
  return quantityIn((await api.send('GET', `/inventory/${petId}`)).text);
}

/** 100 clients that take one each of a pet. Those with an Idempotency-Key try again until they know the outcome. */
class Sale {
  readonly petId: string;
  readonly #withKeys: boolean;
  readonly #open = new Set(Array.from({ length: CLIENTS }, (_, client) => client));
  /** The quantities of the answers with 200. */
  readonly #taken: number[] = [];
  readonly #faults: string[] = [];
  #refused = 0;
  #unknown = 0;

  constructor(petId: string, withKeys: boolean) {
    this.petId = petId;
    this.#withKeys = withKeys;
  }

  get isOpen(): boolean {
    return this.#open.size > 0;
  }

  get counts(): Record<string, number> {
    const how = this.#withKeys ? 'with keys' : 'without';
    return {
      [`taken ${how}`]: this.#taken.length,
      [`refused ${how}`]: this.#refused,
      [`not known ${how}`]: this.#unknown,
    };
  }

  async sell(api: ApiClient, mayGoOn: () => boolean): Promise<void> {
    const clients = [...this.#open].values();
    const work = async (): Promise<void> => {
      for (const client of clients) {
        if (!mayGoOn()) return;
        await this.#take(api, client);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  }

  async #take(api: ApiClient, client: number): Promise<void> {
    const key = this.#withKeys ? { 'Idempotency-Key': `"client ${client}"` } : undefined;
    const parts = { headers: { 'Content-Type': 'application/json', ...key }, body: '{"by":-1}' };
    const answer = await api.send('POST', `/inventory/${this.petId}/adjustments`, parts).catch((error: unknown) => {
      // The host was killed; anything else is what was wrong with the answer.
      if (!(error instanceof TypeError)) this.#faults.push(String(error));
    });
    if (answer && answer.status < 500 && ![200, 409].includes(answer.status)) this.#faults.push(answer.text);
    if (answer?.status === 200) this.#taken.push(quantityIn(answer.text));
    else if (answer?.status === 409) this.#refused += 1;
    else {
      this.#unknown += 1;
      if (this.#withKeys) return;
    }
    this.#open.delete(client);
  }

  /** What the answers and the quantity that is left contradict each other in. */
  violations(left: number): string[] {
    const taken = this.#taken.length;
    const gone = STOCK - left;
    const numbers = `${JSON.stringify(this.counts)}, and ${left} are left`;
    const isExact = taken === STOCK && this.#refused === CLIENTS - STOCK && left === 0;
    // Without a key each 200 has the quantity that its own write made.
    const isPossible =
      new Set(this.#taken).size === taken &&
      left >= 0 &&
      taken <= gone &&
      gone <= taken + this.#unknown &&
      (left === 0 || this.#refused === 0);
    return (this.#withKeys ? isExact : isPossible) ? this.#faults : [...this.#faults, numbers];
  }
}
