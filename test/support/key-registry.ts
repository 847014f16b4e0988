import type { APIGatewayClient, APIGatewayClientConfig } from '@aws-sdk/client-api-gateway';
import { DeleteCommand, type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { GatewayRecords } from '../../infra/local/account/gateway-records.ts';
import type { ApiKey } from '../../infra/local/account/records.ts';
import { account, localCredentials } from '../../infra/local-endpoint.ts';
import { INTERNAL_PLAN } from '../../shared/key-registry/customer-plan.ts';
import { gatewayClient } from '../../shared/key-registry/gateway-client.ts';
import { KeyTable } from '../../shared/key-registry/key-table.ts';
import type { SyncReport } from '../../shared/key-registry/mirror.ts';
import { type SyncOptions, syncKeys } from '../../shared/key-registry/sync-keys.ts';
import type { KeyRecord } from '../../shared/keys/key-record.ts';
import { planIds } from '../../shared/keys/plans.ts';
import { ControlPlaneServer } from './control-plane-calls.ts';
import { anApiKey, apiStage, aUsagePlan } from './gateway-records.ts';
import { aKey, createKeysTable } from './tables.ts';

/** What requests and the admin command have left in a record, the latter a while ago. */
const usedCounters = {
  currentMinute: 29_000_000,
  minuteUsed: 7,
  dayUsed: 70,
  minuteRefused: 3,
  suspendedUntil: 1_900_000_000_000,
  suspendedByAdmin: true,
  interimUntil: 1_700_000_000_000,
} as const satisfies Partial<KeyRecord>;

/**
 * API Gateway with the usage plans of a stage, and a keys table, as an admin changes them in the AWS console. The usage
 * plan of Free has the id `free`; the one that no customer is on, `internal`.
 */
export class KeyRegistry {
  readonly records: GatewayRecords;
  readonly documents: DynamoDBDocumentClient;
  readonly keysTable: string;
  readonly table: KeyTable;
  readonly server: ControlPlaneServer;
  readonly #client: APIGatewayClient;

  private constructor(
    documents: DynamoDBDocumentClient,
    keysTable: string,
    records: GatewayRecords,
    server: ControlPlaneServer,
  ) {
    this.documents = documents;
    this.keysTable = keysTable;
    this.table = new KeyTable(documents, keysTable);
    this.records = records;
    this.server = server;
    this.#client = this.client();
    for (const id of planIds) records.putUsagePlan(aUsagePlan({ id, tags: { plan: id } }));
    records.putUsagePlan(aUsagePlan({ id: 'internal', tags: { plan: INTERNAL_PLAN } }));
  }

  /** One with a table of its own, and no keys. */
  static async start(documents: DynamoDBDocumentClient): Promise<KeyRegistry> {
    const records = GatewayRecords.inMemory();
    const server = await ControlPlaneServer.start(records, apiStage);
    return new KeyRegistry(documents, await createKeysTable(documents), records, server);
  }

  async close(): Promise<void> {
    this.#client.destroy();
    await this.server.close();
  }

  /** A client as the sync has it, but for its pace, which AWS needs and a laptop does not. */
  client(settings: APIGatewayClientConfig = {}): APIGatewayClient {
    const { endpoint } = this.server;
    const client = gatewayClient({ endpoint, region: account.region, credentials: localCredentials, ...settings });
    client.middlewareStack.remove('paced');
    return client;
  }

  sync(client = this.#client, options: SyncOptions = {}): Promise<SyncReport> {
    return syncKeys(client, this.table, apiStage, options);
  }

  /** Makes an API key as in the console, or puts it anew, on a usage plan where one is given. @returns its id */
  putKey(differences: Partial<ApiKey> = {}, planId?: string): string {
    const id = this.records.newId();
    const key = anApiKey({ id, name: 'acme', ...differences });
    this.records.putApiKey(key);
    if (planId !== undefined) this.records.putOnPlan(planId, key.id);
    return key.id;
  }

  /** Changes an API key. Tags that are undefined are taken away. */
  update(keyId: string, { tags = {}, ...differences }: Partial<Omit<ApiKey, 'tags'>> & { tags?: Tags } = {}): void {
    const key = this.records.apiKey(keyId);
    if (!key) throw new Error(`There is no key ${keyId}`);
    const all = Object.entries({ ...key.tags, ...tags }).flatMap(([name, text]) =>
      text === undefined ? [] : [[name, text]],
    );
    this.records.putApiKey({ ...key, ...differences, tags: Object.fromEntries(all) });
  }

  /** Takes a key off its usage plans, and puts it on another. */
  move(keyId: string, planId?: string): void {
    for (const { id } of this.records.plansOfKey(keyId)) this.records.removeFromPlan(id, keyId);
    if (planId !== undefined) this.records.putOnPlan(planId, keyId);
  }

  /** A key from the console that is in the table, used and suspended for a time. @returns its record */
  async usedKey(differences: Partial<ApiKey> = {}, planId = 'free'): Promise<KeyRecord> {
    const keyId = this.putKey(differences, planId);
    await this.sync();
    const record = (await this.all()).find((each) => each.keyId === keyId);
    if (!record) throw new Error(`The key ${keyId} has no record`);
    return this.put({ ...record, ...usedCounters });
  }

  /** A key that the admin command has made, on the Free plan, used and suspended for a time. @returns its record */
  async issuedKey(differences: Partial<KeyRecord> = {}, apiKey: Partial<ApiKey> = {}): Promise<KeyRecord> {
    const { createdAt } = anApiKey();
    const key = aKey({ keyId: this.records.newId(), revision: 1, createdAt, ...usedCounters, ...differences });
    this.putKey({ id: key.keyId, value: key.recordId, ...apiKey }, key.plan);
    return this.put(key);
  }

  /** Puts a record into the table as it is: a backup does. */
  async put(record: KeyRecord): Promise<KeyRecord> {
    await this.documents.send(new PutCommand({ TableName: this.keysTable, Item: record }));
    return record;
  }

  async delete({ recordId }: KeyRecord): Promise<void> {
    await this.documents.send(new DeleteCommand({ TableName: this.keysTable, Key: { recordId } }));
  }

  all(): Promise<KeyRecord[]> {
    return this.table.all(() => undefined);
  }
}

type Tags = Readonly<Record<string, string | undefined>>;
