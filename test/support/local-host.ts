import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { localClient } from '../../infra/local-endpoint.ts';
import type { Engine } from '../../infra/local/dynamodb/engine.ts';
import { type LocalServer, type LocalServerOptions, startLocalServer } from '../../infra/local/local-server.ts';
import { templatePlanOf } from '../../infra/local/prepare-data.ts';
import { exactNumbers } from '../../shared/item-attributes.ts';
import { type KeyRecord, parseKeyRecord } from '../../shared/keys/key-record.ts';
import { generateToken } from '../../shared/keys/token.ts';
import { anApiKey } from './gateway-records.ts';
import { scanLogs } from './secrets.ts';
import { synthesizedOnce } from './synthesize-once.ts';
import { aKey, parsed, StockTable } from './tables.ts';
import { until } from './until.ts';

/** A local server in this process, in memory and on a free port, with the keys to its database. */
export class LocalHost {
  readonly host: LocalServer;
  /** Client of the engine behind the server. */
  readonly documents: DynamoDBDocumentClient;
  readonly stock: StockTable;
  /** Keys that were issued beside those that the gateway knows. None may ever be logged. */
  readonly issuedKeys = new Set<string>();

  private constructor(host: LocalServer) {
    this.host = host;
    this.documents = documentsAt(host.engineEndpoint);
    this.stock = new StockTable(this.documents, this.#output('StockTableName'));
  }

  /** @param engine in the place of the embedded one, such as one with faults */
  static async start(options: Partial<LocalServerOptions> = {}, engine?: Engine): Promise<LocalHost> {
    const assembly = synthesizedOnce();
    const defaults = {
      assembly,
      host: '127.0.0.1',
      port: 0,
      dataDirectory: undefined,
      sampleData: true,
    };
    return new LocalHost(await startLocalServer({ ...defaults, ...options }, engine && Promise.resolve(engine)));
  }

  get baseUrl(): string {
    return this.host.baseUrl;
  }

  get origin(): string {
    return new URL(this.host.baseUrl).origin;
  }

  get keysTable(): string {
    return this.#output('KeysTableName');
  }

  get log(): string {
    const directory = this.host.logDirectory;
    return readdirSync(directory)
      .map((file) => readFileSync(join(directory, file), 'utf8'))
      .join('');
  }

  /** The log, once it has the text. Log files are written late. */
  async logWith(text: string): Promise<string> {
    await until(`the log has ${text}`, () => this.log.includes(text));
    return this.log;
  }

  /** @throws Error where there is a secret in its logs */
  async close(): Promise<void> {
    this.documents.destroy();
    const { keys, records, logDirectory } = this.host;
    const secrets = new Set([...this.issuedKeys, ...Object.values(keys), ...records.apiKeys.map(({ value }) => value)]);
    const expectNoSecrets = scanLogs(logDirectory);
    await this.host.close();
    expectNoSecrets(secrets);
  }

  #output(name: string): string {
    const value = this.host.outputs[name];
    if (value === undefined) throw new Error(`The server has no output ${name}`);
    return value;
  }
}

export function documentsAt(endpoint: URL | string): DynamoDBDocumentClient {
  const client = new DynamoDBClient({ ...localClient, endpoint: new URL(endpoint).href });
  return DynamoDBDocumentClient.from(client, { unmarshallOptions: { ...exactNumbers } });
}

/** A key of a local server, with its record in the keys table, and its only token. */
export class IssuedKey {
  /** What the service does not store. */
  readonly token: string;
  readonly #host: LocalHost;
  readonly #recordId: string;

  constructor(host: LocalHost, token: string) {
    this.token = token;
    this.#host = host;
    this.#recordId = parsed(token).recordId;
  }

  async read(): Promise<KeyRecord> {
    const { documents, keysTable } = this.#host;
    const { Item } = await documents.send(
      new GetCommand({ TableName: keysTable, Key: { recordId: this.#recordId }, ConsistentRead: true }),
    );
    return parseKeyRecord(Item, this.#host.keysTable);
  }

  async put(record: KeyRecord): Promise<void> {
    await this.#host.documents.send(new PutCommand({ TableName: this.#host.keysTable, Item: record }));
  }
}

/** Limits that no test comes near. */
const PLENTY = { perMinute: 1_000, perDay: 1_000 };

/**
 * Issues a key as an admin would: a record in the keys table and a place on the usage plan of its plan. By default it
 * is an Enterprise key with more room than a test needs.
 */
export async function issueKey(
  host: LocalHost,
  differences: Partial<KeyRecord> = {},
  token: string = generateToken(),
): Promise<IssuedKey> {
  const keyId = randomUUID();
  const record = aKey({ keyId, plan: 'enterprise', ...PLENTY, ...differences }, token);
  host.issuedKeys.add(token);
  putOnUsagePlan(host, record, token);
  const key = new IssuedKey(host, token);
  await key.put(record);
  return key;
}

function putOnUsagePlan({ host }: LocalHost, { keyId = '', plan }: KeyRecord, token: string): void {
  const { records } = host;
  const usagePlan = templatePlanOf(records, plan);
  if (!usagePlan) throw new Error(`The server has no usage plan for ${plan}`);
  records.putApiKey(anApiKey({ id: keyId, value: parsed(token).usageIdentifier, planId: usagePlan.id }));
}
