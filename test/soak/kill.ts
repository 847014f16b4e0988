import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { CreateApiKeyCommand, paginateGetApiKeys } from '@aws-sdk/client-api-gateway';
import { type DynamoDBDocumentClient, GetCommand, paginateQuery } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { demoKey, limitsOfDemoKey } from '../../infra/demo-keys.ts';
import { hashApiKey } from '../../shared/keys/api-key.ts';
import { stockItem } from '../../infra/table-items.ts';
import { writeItems } from '../../infra/write-items.ts';
import { safeNumberSchema } from '../../shared/dynamodb.ts';
import { parseKeyRecord } from '../../shared/keys/key-record.ts';
import { minuteOf } from '../../shared/keys/window.ts';
import { STORE_ID } from '../../shared/stores/sorted-table.ts';
import { Random } from '../support/random.ts';
import { synthesizedOnce } from '../support/synthesize-once.ts';
import { gatewayAt } from '../support/gateway-records.ts';
import { HostProcess, type Ready } from '../support/host-process.ts';
import { documentsAt } from '../support/local-host.ts';
import { anEntry } from '../support/tables.ts';
import type { Outcome } from './models.ts';
import { type Version, WriteLedger } from './write-ledger.ts';

/** Times that the host of one round is killed. */
const KILLS = 2;

/**
 * `kill -9` of a local host in a storm of writes, and while it starts: all that it has acknowledged is there after the
 * next start, and no limit is exceeded.
 */
export async function killRound(seed: number): Promise<Outcome> {
  const folder = mkdtempSync(path.join(tmpdir(), 'pet-store-soak-'));
  try {
    const temporaryFolder = path.join(folder, 'tmp');
    mkdirSync(temporaryFolder);
    const random = new Random(seed);
    const data = path.join(folder, 'data');
    const host = new KilledHost({ assembly: synthesizedOnce(), data, temporaryFolder, random });
    // Every other round begins with a folder that a killed start has left behind.
    if (seed % 2 === 0) await host.killWhileStarting();
    while (host.kills < KILLS && host.violations.length === 0) {
      if (random.isLikely(0.2)) await host.killWhileStarting();
      else await host.killWhileServing();
    }
    await host.inspect();
    const { perMinute } = limitsOfDemoKey('free');
    const most = host.ledger.mostAdmitted(hashApiKey(demoKey('free')));
    const violations = [...host.violations];
    if (most > perMinute) violations.push(`${most} requests of a key were admitted in a minute that has ${perMinute}`);
    return { violations, counts: { kills: host.kills, acknowledged: host.ledger.acknowledgements } };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Clients that write at the same time, each to a pet of its own. */
const WRITERS = 3;
/** Those of them that use a key whose limit they reach. */
const LIMITED_WRITERS = 1;
/** Acknowledged updates after which the host is killed, at most. */
const MOST_UPDATES = 30;
const FIRST_PET = 1_000;

const itemSchema = v.object({ petId: safeNumberSchema, quantity: safeNumberSchema, version: v.string() });
const outputsSchema = v.object({ StockTableName: v.string(), KeysTableName: v.string() });

export interface KilledHostSettings {
  /** Folder of a cloud assembly. */
  readonly assembly: string;
  /** Where the host keeps its data. */
  readonly data: string;
  readonly temporaryFolder: string;
  readonly random: Random;
}

/** A running host, and what the test talks to. */
interface Running {
  readonly process: HostProcess;
  readonly ready: Ready;
  readonly origin: string;
  readonly documents: DynamoDBDocumentClient;
  readonly tables: v.InferOutput<typeof outputsSchema>;
}

/** A host that is killed again and again, and what it has acknowledged by then. */
export class KilledHost {
  readonly ledger = new WriteLedger();
  /** What is wrong after a restart; empty where nothing is. */
  readonly violations: string[] = [];
  kills = 0;
  readonly #settings: KilledHostSettings;
  #startMs = 500;
  #quantities = 0;
  #isKilled = false;
  /** The minute in which the limited key has no requests left. */
  #usedUpMinute = 0;

  constructor(settings: KilledHostSettings) {
    this.#settings = settings;
  }

  /** Starts the host and kills it at once, at some moment of its start. */
  async killWhileStarting(): Promise<void> {
    const process = this.#start();
    await sleep(this.#settings.random.next() * this.#startMs);
    await process.stop('SIGKILL');
    this.kills += 1;
  }

  /** Starts the host, looks whether all is there, and kills it in a storm of writes. */
  async killWhileServing(): Promise<void> {
    const running = await this.#running();
    if (this.ledger.acknowledgements === 0) await this.#importPets(running);
    await this.#inspect(running);
    const { random } = this.#settings;
    const target = this.ledger.acknowledgements + random.below(MOST_UPDATES);
    this.#isKilled = false;
    const enough = Promise.withResolvers<void>();
    const onAnswer = (): void => {
      // With a fault it is over: there may be nothing more to be acknowledged.
      if (this.ledger.acknowledgements >= target || this.violations.length > 0) enough.resolve();
    };
    const clients = Array.from({ length: WRITERS }, (_, writer) => this.#write(running, writer, onAnswer));
    if (random.isLikely(0.1)) clients.push(this.#createKeys(running));
    await Promise.race([enough.promise, Promise.all(clients)]);
    await sleep(random.next() * 10);
    this.#isKilled = true;
    await running.process.stop('SIGKILL');
    await Promise.all(clients);
    running.documents.destroy();
    this.kills += 1;
  }

  /** Starts the host a last time, looks whether all is there, and stops it as one should. */
  async inspect(): Promise<void> {
    const running = await this.#running();
    await this.#inspect(running);
    running.documents.destroy();
    await running.process.stop();
  }

  #start(): HostProcess {
    const { assembly, data, temporaryFolder } = this.#settings;
    const args = ['--json', '--port', '0', '--data', data, '--assembly', assembly];
    return new HostProcess(args, temporaryFolder);
  }

  async #running(): Promise<Running> {
    const startedAt = performance.now();
    const process = this.#start();
    const ready = await process.ready();
    this.#startMs = performance.now() - startedAt;
    const { origin } = new URL(ready.baseUrl);
    const response = await fetch(`${origin}/outputs.json`);
    const tables = v.parse(outputsSchema, await response.json());
    return { process, ready, origin, documents: documentsAt(origin), tables };
  }

  async #inspect({ documents, origin, tables }: Running): Promise<void> {
    const stored = await storedIn(documents, tables.StockTableName);
    this.violations.push(...this.ledger.missingFrom(stored));
    const keyIds = new Set<string>();
    for await (const { items = [] } of paginateGetApiKeys({ client: gatewayAt(origin) }, { limit: 500 })) {
      for (const { id = '' } of items) keyIds.add(id);
    }
    this.violations.push(...this.ledger.keysMissingFrom(keyIds));
    for (const keyHash of this.ledger.keyHashes) {
      const Key = { keyHash };
      const { Item } = await documents.send(new GetCommand({ TableName: tables.KeysTableName, Key }));
      const { currentMinute, dayUsed } = parseKeyRecord(Item);
      const isUndercounted = this.ledger.isUndercounted(keyHash, currentMinute, dayUsed);
      if (isUndercounted) this.violations.push(`key ${keyHash} has ${dayUsed} requests, and more were admitted`);
    }
  }

  /** Updates one pet after the other until the host is gone. */
  async #write({ ready }: Running, writer: number, onAnswer: () => void): Promise<void> {
    const petId = String(FIRST_PET + writer);
    while (!this.#isKilled) {
      const isLimited = writer < LIMITED_WRITERS && minuteOf(Date.now()) !== this.#usedUpMinute;
      const key = isLimited ? ready.keys.free : ready.keys.enterprise;
      const quantity = ++this.#quantities;
      this.ledger.begin(petId, quantity);
      const answer = await this.#whileAlive(this.#patch(ready.baseUrl, petId, quantity, key));
      if (!answer) return;
      if (answer.status === 200) {
        this.ledger.admit(hashApiKey(key), answer.windowEnd);
        this.ledger.acknowledge(petId, { quantity, version: answer.version });
      } else {
        this.ledger.refuse(petId);
        if (answer.status === 429 && isLimited) this.#usedUpMinute = minuteOf(Date.now());
        else this.violations.push(`PATCH was answered with ${answer.status}`);
      }
      onAnswer();
    }
  }

  async #patch(baseUrl: string, petId: string, quantity: number, key: string) {
    const isRetried = this.#settings.random.isLikely(0.2);
    const response = await fetch(`${baseUrl}/inventory/${petId}`, {
      method: 'PATCH',
      headers: {
        Authorization: `Bearer ${key}`,
        'Content-Type': 'application/json',
        ...(isRetried && { 'Idempotency-Key': `"${randomUUID()}"` }),
      },
      body: JSON.stringify({ quantity }),
    });
    await response.text();
    const { status, headers } = response;
    return {
      status,
      version: headers.get('ETag')?.slice(1, -1) ?? '',
      windowEnd: headers.get('X-RateLimit-Reset') ?? '',
    };
  }

  async #importPets({ documents, tables }: Running): Promise<void> {
    const entries = Array.from({ length: WRITERS }, (_, index) => anEntry(FIRST_PET + index));
    await writeItems(documents, tables.StockTableName, entries, stockItem);
  }

  async #createKeys({ origin }: Running): Promise<void> {
    const gateway = gatewayAt(origin);
    for (let count = 0; count < 3 && !this.#isKilled; count++) {
      const command = new CreateApiKeyCommand({ name: 'in the storm', value: randomUUID(), enabled: true });
      const key = await this.#whileAlive(gateway.send(command));
      if (key?.id !== undefined) this.ledger.keyCreated(key.id);
    }
    gateway.destroy();
  }

  /** What a call to the host gave; undefined where it failed because the host was killed. */
  async #whileAlive<Result>(call: Promise<Result>): Promise<Result | undefined> {
    try {
      return await call;
    } catch (error) {
      if (!this.#isKilled) this.violations.push(`The host failed before it was killed: ${String(error)}`);
      return undefined;
    }
  }
}

async function storedIn(documents: DynamoDBDocumentClient, TableName: string): Promise<Map<string, Version>> {
  const stored = new Map<string, Version>();
  const query = {
    TableName,
    KeyConditionExpression: 'storeId = :store',
    ExpressionAttributeValues: { ':store': STORE_ID },
    ConsistentRead: true,
  };
  for await (const { Items = [] } of paginateQuery({ client: documents }, query)) {
    for (const item of Items) {
      const { petId, ...version } = v.parse(itemSchema, item);
      stored.set(String(petId), version);
    }
  }
  return stored;
}
