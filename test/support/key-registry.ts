import {
  type APIGatewayClient,
  type APIGatewayClientConfig,
  CreateApiKeyCommand,
  type CreateApiKeyRequest,
  CreateUsagePlanCommand,
  type CreateUsagePlanRequest,
  CreateUsagePlanKeyCommand,
  DeleteApiKeyCommand,
  DeleteUsagePlanKeyCommand,
  type PatchOperation,
  TagResourceCommand,
  UntagResourceCommand,
  UpdateApiKeyCommand,
  UpdateUsagePlanCommand,
} from '@aws-sdk/client-api-gateway';
import { DeleteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { usagePlanOf } from '../../infra/local/issue-demo-keys.ts';
import type { UsagePlan } from '../../infra/local/gateway-records/records.ts';
import { account, localCredentials } from '../../infra/local-endpoint.ts';
import { type ApiStage, gatewayClient } from '../../shared/key-registry/gateway-client.ts';
import { KeyTable } from '../../shared/key-registry/key-table.ts';
import { valueOf } from '../../shared/key-registry/registered-key.ts';
import { type SyncOptions, syncKeys } from '../../shared/key-registry/sync-keys.ts';
import type { SyncReport } from '../../shared/key-registry/sync-report.ts';
import type { KeyRecord } from '../../shared/keys/key-record.ts';
import type { PlanId } from '../../shared/keys/plans.ts';
import { ControlPlaneServer } from './control-plane-calls.ts';
import { LocalHost } from './local-host.ts';

/** The pace that {@link gatewayClient} keeps, which AWS needs and a laptop does not. */
const PACE = 'paced';

/** What requests and the admin command have left in a record, the latter a while ago. */
export const usedCounters = {
  currentMinute: 29_000_000,
  minuteUsed: 7,
  dayUsed: 70,
  minuteRefused: 3,
  suspendedUntil: 1_900_000_000_000,
  suspendedByAdmin: true,
  interimUntil: 1_700_000_000_000,
} as const satisfies Partial<KeyRecord>;

/** API Gateway and the keys table of a local host, as an admin changes them in the AWS console. No sync runs by itself. */
export class KeyRegistry {
  readonly host: LocalHost;
  readonly server: ControlPlaneServer;
  readonly console: APIGatewayClient;
  readonly table: KeyTable;
  readonly apiStage: ApiStage;
  readonly #clients: APIGatewayClient[] = [];
  /** The API keys that were there at the start. */
  readonly #keys: ReadonlySet<string>;
  /** The usage plans as they were at the start. */
  readonly #plans: ReadonlyMap<string, UsagePlan>;

  private constructor(host: LocalHost, server: ControlPlaneServer, apiStage: ApiStage) {
    this.host = host;
    this.server = server;
    this.apiStage = apiStage;
    this.console = this.client();
    this.table = new KeyTable(host.documents, host.keysTable);
    this.#keys = new Set(host.host.records.apiKeys.map(({ id }) => id));
    this.#plans = new Map(host.host.records.usagePlans.map((plan) => [plan.id, plan]));
  }

  static async start(): Promise<KeyRegistry> {
    const host = await LocalHost.start();
    const { ApiId: apiId = '', ApiStage: stage = '' } = host.host.outputs;
    const server = await ControlPlaneServer.start(host.host.records, { apiId, stage });
    return new KeyRegistry(host, server, { apiId, stage });
  }

  /** A client as the sync has it, but for its pace. */
  client(settings: APIGatewayClientConfig = {}): APIGatewayClient {
    const client = this.pacedClient(settings);
    client.middlewareStack.remove(PACE);
    return client;
  }

  pacedClient(settings: APIGatewayClientConfig = {}): APIGatewayClient {
    const endpoint = this.server.endpoint;
    const client = gatewayClient({ endpoint, region: account.region, credentials: localCredentials, ...settings });
    this.#clients.push(client);
    return client;
  }

  sync(client = this.console, options: SyncOptions = {}): Promise<SyncReport> {
    return syncKeys(client, this.table, this.apiStage, options);
  }

  /** Makes an API key, enabled and on a usage plan where one is given. @returns its id */
  async createKey(request: CreateApiKeyRequest = {}, usagePlanId?: string): Promise<string> {
    const { id = '' } = await this.console.send(new CreateApiKeyCommand({ name: 'acme', enabled: true, ...request }));
    if (usagePlanId !== undefined) await this.putOnPlan(id, usagePlanId);
    return id;
  }

  /** A key on the Free plan that is in the table, used and suspended. @returns its record */
  async usedKey(request: CreateApiKeyRequest = {}, usagePlanId = this.plan('free')): Promise<KeyRecord> {
    const id = await this.createKey(request, usagePlanId);
    await this.sync();
    return this.use(id);
  }

  async deleteKey(apiKey: string): Promise<void> {
    await this.console.send(new DeleteApiKeyCommand({ apiKey }));
  }

  async updateKey(apiKey: string, member: 'enabled' | 'name', value: string): Promise<void> {
    const patchOperations = [{ op: 'replace' as const, path: `/${member}`, value }];
    await this.console.send(new UpdateApiKeyCommand({ apiKey, patchOperations }));
  }

  async putOnPlan(keyId: string, usagePlanId: string): Promise<void> {
    await this.console.send(new CreateUsagePlanKeyCommand({ usagePlanId, keyId, keyType: 'API_KEY' }));
  }

  async takeOffPlan(keyId: string, usagePlanId: string): Promise<void> {
    await this.console.send(new DeleteUsagePlanKeyCommand({ usagePlanId, keyId }));
  }

  async moveKey(keyId: string, from: string, to: string): Promise<void> {
    await this.takeOffPlan(keyId, from);
    await this.putOnPlan(keyId, to);
  }

  /** Makes a usage plan of the stage. @returns its id */
  async createPlan(tags: CreateUsagePlanRequest['tags'], settings: Partial<CreateUsagePlanRequest> = {}) {
    const { id = '' } = await this.console.send(
      new CreateUsagePlanCommand({ name: 'Acme', apiStages: [this.apiStage], tags, ...settings }),
    );
    return id;
  }

  async updatePlan(usagePlanId: string, ...patchOperations: PatchOperation[]): Promise<void> {
    await this.console.send(new UpdateUsagePlanCommand({ usagePlanId, patchOperations }));
  }

  /** Sets tags of a key or a usage plan; undefined takes one away. */
  async tag(kind: 'apikeys' | 'usageplans', id: string, tags: Readonly<Record<string, string | undefined>>) {
    const resourceArn = `arn:${account.partition}:apigateway:${account.region}::/${kind}/${id}`;
    const set = Object.fromEntries(
      Object.entries(tags).flatMap(([name, text]) => (text === undefined ? [] : [[name, text]])),
    );
    const tagKeys = Object.keys(tags).filter((name) => tags[name] === undefined);
    if (Object.keys(set).length > 0) await this.console.send(new TagResourceCommand({ resourceArn, tags: set }));
    if (tagKeys.length > 0) await this.console.send(new UntagResourceCommand({ resourceArn, tagKeys }));
  }

  /** The catalogue's usage plan for a plan. */
  plan(plan: PlanId): string {
    const usagePlan = usagePlanOf(this.host.host.records, plan);
    if (!usagePlan) throw new Error(`The host has no usage plan for ${plan}`);
    return usagePlan.id;
  }

  /** All records but those of the demo keys. */
  async records(): Promise<KeyRecord[]> {
    const records: KeyRecord[] = [];
    for await (const page of this.table.pages()) records.push(...page.filter(({ keyId }) => !isDemo(keyId)));
    return records;
  }

  /** The record of a key, by what API Gateway has as its value. */
  recordOf(keyId: string): Promise<KeyRecord | undefined> {
    return this.table.get(this.#keyHashOf(keyId));
  }

  /** Leaves what requests and the admin command leave in a record, without a new revision. @returns the record */
  async use(keyId: string): Promise<KeyRecord> {
    const keyHash = this.#keyHashOf(keyId);
    const names = Object.keys(usedCounters);
    await this.host.documents.send(
      new UpdateCommand({
        TableName: this.host.keysTable,
        Key: { keyHash },
        UpdateExpression: `SET ${names.map((name) => `${name} = :${name}`).join(', ')}`,
        ConditionExpression: 'attribute_exists(keyHash)',
        ExpressionAttributeValues: Object.fromEntries(
          Object.entries(usedCounters).map(([name, value]) => [`:${name}`, value]),
        ),
      }),
    );
    const record = await this.table.get(keyHash);
    if (!record) throw new Error(`The key ${keyId} has no record`);
    return record;
  }

  /** Forgets everything but the demo keys and the template's plans. */
  async clear(): Promise<void> {
    const { records } = this.host.host;
    this.server.faults = () => undefined;
    for (const { id } of records.apiKeys.filter((key) => !this.#keys.has(key.id))) records.deleteApiKey(id);
    for (const { id } of records.usagePlans.filter((plan) => !this.#plans.has(plan.id))) records.deleteUsagePlan(id);
    for (const plan of this.#plans.values()) records.putUsagePlan(plan);
    for (const record of await this.records()) await this.forget(record);
  }

  /** Deletes a record, as DynamoDB does once its time to live is over. */
  async forget({ keyHash }: Pick<KeyRecord, 'keyHash'>): Promise<void> {
    await this.host.documents.send(new DeleteCommand({ TableName: this.host.keysTable, Key: { keyHash } }));
  }

  async close(): Promise<void> {
    for (const client of this.#clients) client.destroy();
    await this.server.close();
    await this.host.close();
  }

  #keyHashOf(keyId: string): string {
    const key = this.host.host.records.apiKey(keyId);
    if (!key) throw new Error(`There is no key ${keyId}`);
    return valueOf(key.value).keyHash;
  }
}

const isDemo = (keyId: string): boolean => keyId.startsWith('demo-');
