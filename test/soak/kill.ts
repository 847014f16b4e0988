import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CreateApiKeyCommand, paginateGetApiKeys } from '@aws-sdk/client-api-gateway';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { parseKeyRecord } from '../../shared/keys/key-record.ts';
import { ApiClient } from '../support/api-client.ts';
import { gatewayAt } from '../support/gateway-records.ts';
import { HostProcess } from '../end-to-end/host-process.ts';
import { documentsAt } from '../support/local-host.ts';
import { Random } from '../support/random.ts';
import { synthesizedOnce } from '../support/synthesize-once.ts';
import { parsed } from '../support/tables.ts';
import type { Outcome } from './models.ts';
import { Storm } from './storm.ts';

/** Times that the host of one round is killed. */
const KILLS = 2;
/** Acknowledged updates after which the host is killed, at most. */
const MOST_UPDATES = 30;
/** API keys that are created meanwhile, at most. */
const MOST_KEYS = 10;

/**
 * `kill -9` of a local host in a storm of writes, and while it starts: all that it has acknowledged is there after the
 * next start, and no limit is exceeded.
 */
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
    const { process } = await host.startAndInspect();
    await process.stop();
    const { violations, acknowledged } = host.storm;
    return { violations, counts: { kills: KILLS, acknowledged } };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A host that is killed again and again, and what it has acknowledged by then. */
class KilledHost {
  readonly storm: Storm;
  readonly #folder: string;
  readonly #random: Random;
  /** Ids of the API keys whose creation was acknowledged. */
  readonly #keyIds = new Set<string>();
  #startMs = 500;

  constructor(folder: string, random: Random) {
    this.#folder = folder;
    this.#random = random;
    this.storm = new Storm(random, 3);
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
    const { process, baseUrl, tokens } = await this.startAndInspect();
    const { storm } = this;
    const target = storm.acknowledged + this.#random.below(MOST_UPDATES);
    const enough = Promise.withResolvers<void>();
    const running = storm.run(baseUrl, tokens, () => {
      // After a violation nothing more may be acknowledged.
      if (storm.acknowledged >= target || storm.violations.length > 0) enough.resolve();
    });
    const creating = this.#createKeys(new URL(baseUrl).origin);
    await enough.promise;
    await sleep(this.#random.next() * 10);
    storm.end();
    await process.stop('SIGKILL');
    await Promise.all([running, creating]);
  }

  async startAndInspect(): Promise<{ process: HostProcess; baseUrl: string; tokens: readonly string[] }> {
    const startedAt = performance.now();
    const process = this.#start();
    const { baseUrl, keys } = await process.ready();
    this.#startMs = performance.now() - startedAt;
    await this.storm.inspectStock(ApiClient.withKey(baseUrl, keys.enterprise));
    await this.#inspectKeys(new URL(baseUrl).origin, [keys.free, keys.enterprise]);
    return { process, baseUrl, tokens: [keys.free, keys.enterprise, keys.enterprise] };
  }

  #start(): HostProcess {
    const args = ['--json', '--port', '0', '--data', join(this.#folder, 'data'), '--assembly', synthesizedOnce()];
    return new HostProcess(args, join(this.#folder, 'tmp'));
  }

  async #inspectKeys(origin: string, tokens: readonly string[]): Promise<void> {
    const outputs = v.parse(
      v.object({ KeysTableName: v.string() }),
      await (await fetch(`${origin}/outputs.json`)).json(),
    );
    const documents = documentsAt(origin);
    for (const token of tokens) {
      const get = new GetCommand({ TableName: outputs.KeysTableName, Key: { recordId: parsed(token).recordId } });
      const { Item } = await documents.send(get);
      this.storm.inspectKey(token, parseKeyRecord(Item));
    }
    documents.destroy();
    const lost = new Set(this.#keyIds);
    for await (const { items = [] } of paginateGetApiKeys({ client: gatewayAt(origin) }, { limit: 500 })) {
      for (const { id = '' } of items) lost.delete(id);
    }
    this.storm.violations.push(...[...lost].map((id) => `the API key ${id} is lost`));
  }

  /** Creates API keys, one after the other, unless the host is gone. */
  async #createKeys(origin: string): Promise<void> {
    const gateway = gatewayAt(origin);
    for (let count = 0; count < MOST_KEYS; count++) {
      const command = new CreateApiKeyCommand({ name: 'in the storm', value: randomUUID(), enabled: true });
      const key = await gateway.send(command).catch((error: unknown) => this.storm.brokenOff('CreateApiKey', error));
      if (!key) break;
      this.#keyIds.add(key.id ?? '');
    }
    gateway.destroy();
  }
}
