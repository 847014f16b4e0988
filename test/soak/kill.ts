import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CreateApiKeyCommand, paginateGetApiKeys } from '@aws-sdk/client-api-gateway';
import * as v from 'valibot';
import { sampleStock } from '../../infra/local/sample-data.ts';
import { HostProcess } from '../end-to-end/host-process.ts';
import { ApiClient } from '../support/api-client.ts';
import { gatewayAt } from '../support/gateway-records.ts';
import { Random } from '../support/random.ts';
import { synthesizedOnce } from '../support/synthesize-once.ts';
import type { Outcome } from './models.ts';

/** Times that the host of one round is killed. */
const KILLS = 2;
const CLIENTS = 3;
/** Acknowledged updates after which the host is killed, at most. */
const MOST_UPDATES = 30;
/** API keys that are created meanwhile, at most. */
const MOST_KEYS = 10;

/** `kill -9` of a local host in a storm of writes, and while it starts: all that it has acknowledged is there after the next start. */
export async function killRound(seed: number): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'pet-store-soak-'));
  try {
    const random = new Random(seed);
    const host = new KilledHost(folder, random);
    for (let kill = 0; kill < KILLS; kill++) {
      // Every other round begins with a folder that a killed start has left behind.
      if ((kill === 0 && seed % 2 === 0) || random.isLikely(0.2)) await host.killWhileStarting();
      else await host.killWhileServing();
    }
    await host.inspectAndStop();
    return { violations: host.violations, counts: { kills: KILLS, acknowledged: host.acknowledged } };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A pet that one client alone updates, one update after the other. */
interface Pet {
  readonly petId: string;
  /** As the last update that was acknowledged has made it. */
  quantity: number;
  etag: string;
  /** Quantity of an update that the kill has cut off. */
  unknown: number | undefined;
}

const keySchema = v.object({
  limits: v.array(v.object({ window: v.string(), limit: v.number(), remaining: v.number() })),
});

/** A host that is killed again and again, and what it has acknowledged by then. */
class KilledHost {
  /** What was wrong; empty where nothing was. */
  readonly violations: string[] = [];
  /** Updates. */
  acknowledged = 0;
  readonly #folder: string;
  readonly #random: Random;
  readonly #pets = sampleStock
    .slice(0, CLIENTS)
    .map(({ petId, quantity }): Pet => ({ petId, quantity, etag: '*', unknown: undefined }));
  /** Ids of the API keys whose creation was acknowledged. */
  readonly #keyIds = new Set<string>();
  #startMs = 500;
  /** No two updates have the same. */
  #lastQuantity = 10_000;
  #isKilled = false;

  constructor(folder: string, random: Random) {
    this.#folder = folder;
    this.#random = random;
    mkdirSync(join(folder, 'tmp'));
  }

  /** Starts the host and kills it at once, at some moment of its start. */
  async killWhileStarting(): Promise<void> {
    const process = this.#start();
    await sleep(this.#random.next() * this.#startMs);
    await process.stop('SIGKILL');
  }

  /** Starts the host, looks whether all is there, and kills it in a storm of writes. */
  async killWhileServing(): Promise<void> {
    const { process, api, origin } = await this.#startAndInspect();
    const target = this.acknowledged + this.#random.below(MOST_UPDATES);
    this.#isKilled = false;
    const writing = [...this.#pets.map((pet) => this.#updateAgainAndAgain(api, pet)), this.#createKeys(origin)];
    // After a violation nothing more may be acknowledged.
    while (this.acknowledged < target && this.violations.length === 0) await sleep(1);
    await sleep(this.#random.next() * 10);
    this.#isKilled = true;
    await process.stop('SIGKILL');
    await Promise.all(writing);
  }

  async inspectAndStop(): Promise<void> {
    await (await this.#startAndInspect()).process.stop();
  }

  #start(): HostProcess {
    const args = ['--json', '--port', '0', '--data', join(this.#folder, 'data'), '--assembly', synthesizedOnce()];
    return new HostProcess(args, join(this.#folder, 'tmp'));
  }

  async #startAndInspect() {
    const startedAt = performance.now();
    const process = this.#start();
    const { baseUrl, keys } = await process.ready();
    this.#startMs = performance.now() - startedAt;
    const api = ApiClient.withKey(baseUrl, keys.enterprise);
    const { origin } = new URL(baseUrl);
    await this.#inspectStock(api);
    await this.#inspectCount(api);
    await this.#inspectKeys(origin);
    return { process, api, origin };
  }

  /** Every pet has the quantity of its last acknowledged update, or of the one after it that was cut off. */
  async #inspectStock(api: ApiClient): Promise<void> {
    const { text } = await api.list();
    for (const pet of this.#pets) {
      const stored = Number(new RegExp(`"petId":${pet.petId},"quantity":(\\d+)`).exec(text)?.[1]);
      if (pet.quantity !== stored && pet.unknown !== stored)
        this.violations.push(`pet ${pet.petId} has ${stored}, not as in ${JSON.stringify(pet)}`);
      Object.assign(pet, { quantity: stored, unknown: undefined });
    }
  }

  /** Each update that was acknowledged has counted. */
  async #inspectCount(api: ApiClient): Promise<void> {
    const { limits } = v.parse(keySchema, JSON.parse((await api.send('GET', '/key')).text));
    const day = limits.find(({ window }) => window === 'day');
    const counted = day ? day.limit - day.remaining : 0;
    if (counted < this.acknowledged) this.violations.push(`of ${this.acknowledged} updates ${counted} have counted`);
  }

  async #inspectKeys(origin: string): Promise<void> {
    const lost = new Set(this.#keyIds);
    for await (const { items = [] } of paginateGetApiKeys({ client: gatewayAt(origin) }, { limit: 500 })) {
      for (const { id = '' } of items) lost.delete(id);
    }
    this.violations.push(...[...lost].map((id) => `the API key ${id} is lost`));
  }

  async #updateAgainAndAgain(api: ApiClient, pet: Pet): Promise<void> {
    while (!this.#isKilled) {
      const quantity = ++this.#lastQuantity;
      const condition = this.#random.pick([{}, { 'If-Match': pet.etag }, { 'Idempotency-Key': `"${randomUUID()}"` }]);
      const headers: Record<string, string> = { 'Content-Type': 'application/json', ...condition };
      const update = api.send('PATCH', `/inventory/${pet.petId}`, { headers, body: JSON.stringify({ quantity }) });
      const answer = await this.#unlessKilled(update);
      if (answer?.status === 200) {
        this.acknowledged += 1;
        Object.assign(pet, { quantity, etag: answer.headers.get('ETag') });
      } else if (answer) this.violations.push(`pet ${pet.petId}: ${answer.text}`);
      else pet.unknown = quantity;
    }
  }

  /** Creates API keys, one after the other, unless the host is gone. */
  async #createKeys(origin: string): Promise<void> {
    const gateway = gatewayAt(origin);
    for (let count = 0; count < MOST_KEYS && !this.#isKilled; count++) {
      const command = new CreateApiKeyCommand({ name: 'in the storm', value: randomUUID(), enabled: true });
      const key = await this.#unlessKilled(gateway.send(command));
      if (key) this.#keyIds.add(key.id ?? '');
    }
    gateway.destroy();
  }

  /** @returns the answer; undefined where none came, which is a violation unless the host was killed */
  async #unlessKilled<Answer>(call: Promise<Answer>): Promise<Answer | undefined> {
    try {
      return await call;
    } catch (error) {
      if (!this.#isKilled) this.violations.push(String(error));
      return undefined;
    }
  }
}
