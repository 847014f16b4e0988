import type { UsagePlan as ApiUsagePlan } from '@aws-sdk/client-api-gateway';
import { DeleteCommand, type DynamoDBDocumentClient, paginateScan, PutCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import type { TableSettings } from '../dynamodb/tables.ts';
import { LocalServerError } from '../local-server-error.ts';
import type { ServedStack } from '../template/stack.ts';

const text = v.string();
export const tagsSchema = v.record(text, text);

const apiKeySchema = v.object({
  id: text,
  value: text,
  name: v.optional(text),
  description: v.optional(text),
  enabled: v.boolean(),
  /** Unix milliseconds. */
  createdAt: v.number(),
  tags: tagsSchema,
  /** Its usage plan. At most one: all plans of the template are for its only stage. */
  planId: v.optional(text),
});

/** An API key of the gateway. Requests are metered by its value. */
export type ApiKey = v.InferOutput<typeof apiKeySchema>;

/** A usage plan of the template, as the API returns it: max requests per UTC day, and a token bucket, of each key. */
export type UsagePlan = ApiUsagePlan & { readonly id: string; readonly tags: Readonly<Record<string, string>> };

/** The local server's own table for API Gateway's state, next to the tables of the template. */
export const gatewayTable: TableSettings = {
  TableName: 'local-api-gateway',
  AttributeDefinitions: ['kind', 'id'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
  KeySchema: [
    { AttributeName: 'kind', KeyType: 'HASH' },
    { AttributeName: 'id', KeyType: 'RANGE' },
  ],
};

const { TableName } = gatewayTable;

/** The items of the table. Their content is JSON, which has optional members, numbers and empty text as they are. */
const itemSchema = v.variant('kind', [
  v.object({ kind: v.literal('apiKey'), id: text, content: v.pipe(text, v.parseJson(), apiKeySchema) }),
  /** The plan of a demo key that was issued; without content. */
  v.object({ kind: v.literal('demoKey'), id: text }),
]);
type Kind = v.InferOutput<typeof itemSchema>['kind'];

/**
 * API Gateway's state of an account: API keys and usage plans. It is read from memory. Each change of a key is first
 * stored: a failed write leaves both as they were.
 */
export class GatewayRecords {
  /** The usage plans of the template, by their ids. */
  readonly plans = new Map<string, UsagePlan>();
  /** The plans whose demo key was issued, also if it was deleted since. */
  readonly issuedDemoKeys = new Set<string>();
  readonly #client: DynamoDBDocumentClient | undefined;
  readonly #keys = new Map<string, ApiKey>();
  readonly #templateKeyIds = new Set<string>();

  /** @param client of the engine that stores the records; in memory only without one */
  constructor(client?: DynamoDBDocumentClient) {
    this.#client = client;
  }

  /** @throws LocalServerError if an item is damaged */
  async load(): Promise<void> {
    if (!this.#client) return;
    for await (const { Items = [] } of paginateScan({ client: this.#client }, { TableName })) {
      const items = v.safeParse(v.array(itemSchema), Items);
      if (!items.success) {
        const reason = `the table ${TableName} has a damaged item (${items.issues[0].message})`;
        throw new LocalServerError(`The data directory cannot be used: ${reason}. Choose another with --data.`);
      }
      for (const item of items.output) {
        if (item.kind === 'apiKey') this.putApiKey(item.content);
        else this.issuedDemoKeys.add(item.id);
      }
    }
  }

  apiKey(id: string): ApiKey | undefined {
    return this.#keys.get(id);
  }

  apiKeyWithValue(value: string): ApiKey | undefined {
    return this.#keys.values().find((key) => key.value === value);
  }

  get apiKeys(): ApiKey[] {
    return [...this.#keys.values()];
  }

  /** Stores a key, or replaces the one with its id. Its value must be unique. Keys of the template are not stored. */
  async saveApiKey(key: ApiKey): Promise<void> {
    if (!this.#templateKeyIds.has(key.id)) await this.#put('apiKey', key.id, key);
    this.putApiKey(key);
  }

  /** Deletes a key, stored or not. */
  async removeApiKey(id: string): Promise<void> {
    await this.#client?.send(new DeleteCommand({ TableName, Key: { kind: 'apiKey' satisfies Kind, id } }));
    this.deleteApiKey(id);
  }

  async saveIssuedDemoKey(planId: string): Promise<void> {
    await this.#put('demoKey', planId);
    this.issuedDemoKeys.add(planId);
  }

  /** Changes a key in memory only, and likewise deletes one. */
  putApiKey(key: ApiKey): void {
    this.#keys.set(key.id, key);
  }

  deleteApiKey(id: string): void {
    this.#keys.delete(id);
  }

  /** Adds a key of the template, which is not stored. */
  putApiKeyOfTemplate(key: ApiKey): void {
    this.#templateKeyIds.add(key.id);
    this.putApiKey(key);
  }

  get usagePlans(): UsagePlan[] {
    return [...this.plans.values()];
  }

  putUsagePlan(plan: UsagePlan): void {
    this.plans.set(plan.id, plan);
  }

  keysOnPlan(planId: string): ApiKey[] {
    return this.apiKeys.filter((key) => key.planId === planId);
  }

  plansOfKey(keyId: string): UsagePlan[] {
    const planId = this.#keys.get(keyId)?.planId;
    return this.usagePlans.filter(({ id }) => id === planId);
  }

  async #put(kind: Kind, id: string, content: unknown = {}): Promise<void> {
    await this.#client?.send(new PutCommand({ TableName, Item: { kind, id, content: JSON.stringify(content) } }));
  }
}

const throttleSchema = v.pipe(
  v.object({ RateLimit: v.number(), BurstLimit: v.number() }),
  v.transform(({ RateLimit: rateLimit, BurstLimit: burstLimit }) => ({ rateLimit, burstLimit })),
);
/** With the throttles of its methods, such as `/inventory/PATCH`. */
const stageSchema = v.pipe(
  v.object({ ApiId: text, Stage: text, Throttle: v.optional(v.record(text, throttleSchema)) }),
  v.transform(({ ApiId: apiId, Stage: stage, Throttle: throttle }) => ({ apiId, stage, throttle })),
);
const quotaSchema = v.pipe(
  v.object({ Limit: v.number(), Period: v.literal('DAY') }),
  v.transform(({ Limit: limit, Period: period }) => ({ limit, offset: 0, period })),
);
/** CloudFormation's list of tags, as a map. */
const templateTagsSchema = v.pipe(
  v.optional(v.array(v.object({ Key: text, Value: text })), []),
  v.transform((list): Record<string, string> => Object.fromEntries(list.map(({ Key, Value }) => [Key, Value]))),
);

/**
 * Adds the template's usage plans and API keys to the records, and its keys to its plans.
 *
 * @throws LocalServerError for a reference to another stack, or a duplicate value of a key
 */
export function applyTemplate(records: GatewayRecords, stack: ServedStack): void {
  for (const plan of stack.resources('AWS::ApiGateway::UsagePlan')) {
    records.putUsagePlan({
      id: plan.ref,
      name: plan.text('UsagePlanName'),
      apiStages: plan.read('ApiStages', v.array(stageSchema)),
      throttle: plan.read('Throttle', v.optional(throttleSchema)),
      quota: plan.read('Quota', v.optional(quotaSchema)),
      tags: plan.read('Tags', templateTagsSchema),
    });
  }
  for (const key of stack.resources('AWS::ApiGateway::ApiKey')) {
    const { ref: id, logicalId } = key;
    const value = key.text('Value');
    const holder = records.apiKeyWithValue(value);
    if (holder && holder.id !== id) {
      throw new LocalServerError(
        `Resource ${logicalId}: the API key ${holder.id} in the data directory has the same value`,
      );
    }
    const enabled = key.read('Enabled', v.optional(v.boolean(), false));
    const description = key.read('Description', v.optional(text));
    const tags = key.read('Tags', templateTagsSchema);
    records.putApiKeyOfTemplate({ id, value, enabled, description, createdAt: Date.now(), tags });
  }
  for (const planKey of stack.resources('AWS::ApiGateway::UsagePlanKey')) {
    const plan = stack.find('AWS::ApiGateway::UsagePlan', planKey.text('UsagePlanId'));
    const key = records.apiKey(stack.find('AWS::ApiGateway::ApiKey', planKey.text('KeyId')).ref);
    if (key) records.putApiKey({ ...key, planId: plan.ref });
  }
}
