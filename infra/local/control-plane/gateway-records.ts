import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as v from 'valibot';
import { messageOf } from '../../../shared/log.ts';
import { DAY_MS, isoDay } from '../../../shared/keys/window.ts';
import { makeDirectory, stateFile, unusable } from '../data-directory.ts';
import { writeNotice } from '../host-error.ts';

/** Max delay of writing counts, which a killed server loses. */
const SAVE_DELAY_MS = 1_000;

/** Retention of usage, in days. */
export const USAGE_DAYS = 90;

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
});

/** An API key of the gateway. Requests are metered by its value. */
export type ApiKey = v.InferOutput<typeof apiKeySchema>;

/** A stage of an API in a usage plan. */
export interface ApiStage {
  readonly apiId: string;
  readonly stage: string;
}

/** A usage plan of the template. */
export interface UsagePlan {
  readonly id: string;
  readonly name: string;
  readonly apiStages: readonly ApiStage[];
  /** A token bucket per key: requests per second, and bucket size. */
  readonly throttle?: { readonly rateLimit: number; readonly burstLimit: number } | undefined;
  /** Max requests of a key per UTC day. */
  readonly quota?: { readonly limit: number } | undefined;
  readonly tags: Readonly<Record<string, string>>;
}

/** The stored records, without those of the template. */
const contentSchema = v.object({
  apiKeys: v.array(apiKeySchema),
  /** The plan of each key, by their ids. */
  planOfKey: v.array(v.tuple([text, text])),
  /** Requests by `PLAN/KEY/DAY`, per UTC day. */
  usage: v.array(v.tuple([text, v.number()])),
  notes: v.array(v.tuple([text, text])),
});

/**
 * API Gateway's state of an account: API keys, usage plans, the keys of each plan, and their usage. Reads and
 * changes use memory; {@link save} writes them to one JSON file, which is replaced atomically: a killed server
 * leaves the old or the new file.
 */
export class GatewayRecords {
  /** The server's own entries, by name. */
  readonly notes = new Map<string, string>();
  /** Whether there was no file. */
  areNew = true;
  /** The usage plans of the template, by their ids. */
  readonly plans = new Map<string, UsagePlan>();
  readonly #file: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #saving: Promise<unknown> = Promise.resolve();
  readonly #keys = new Map<string, ApiKey>();
  readonly #templateKeyIds = new Set<string>();
  readonly #planOfKey = new Map<string, string>();
  readonly #usage = new Map<string, number>();

  private constructor(file?: string) {
    this.#file = file;
  }

  /** Records in memory only. */
  static inMemory(): GatewayRecords {
    return new GatewayRecords();
  }

  /** The records in a data directory; in memory without one. @throws HostError if the directory cannot be used */
  static open(dataDirectory: string | undefined): GatewayRecords {
    if (dataDirectory === undefined) return GatewayRecords.inMemory();
    const file = stateFile(makeDirectory(dataDirectory, ''));
    const records = new GatewayRecords(file);
    try {
      if (existsSync(file)) records.#load(JSON.parse(readFileSync(file, 'utf8')));
    } catch (error) {
      throw unusable(dataDirectory, `its gateway.json is broken or of another version (${messageOf(error)})`);
    }
    return records;
  }

  /** Writes all changes so far, after writes in progress. @throws HostError if that fails */
  save(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const saved = this.#saving.then(() => this.#write());
    this.#saving = saved.catch(() => undefined);
    return saved;
  }

  /** A new id of a key. */
  newId(): string {
    return randomBytes(5).toString('hex');
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

  /** Adds a key, or replaces the one with its id. Its value must be unique. */
  putApiKey(key: ApiKey): void {
    this.#keys.set(key.id, key);
  }

  /** Adds a key of the template, which is not saved. */
  putApiKeyOfTemplate(key: ApiKey): void {
    this.#templateKeyIds.add(key.id);
    this.putApiKey(key);
  }

  /** Removes a key, its plan memberships and its usage. */
  deleteApiKey(id: string): void {
    this.#keys.delete(id);
    this.#planOfKey.delete(id);
    for (const name of this.#usage.keys()) if (name.split('/')[1] === id) this.#usage.delete(name);
  }

  get usagePlans(): UsagePlan[] {
    return [...this.plans.values()];
  }

  putUsagePlan(plan: UsagePlan): void {
    this.plans.set(plan.id, plan);
  }

  isOnPlan(planId: string, keyId: string): boolean {
    return this.#planOfKey.get(keyId) === planId;
  }

  keysOnPlan(planId: string): ApiKey[] {
    return this.apiKeys.filter(({ id }) => this.isOnPlan(planId, id));
  }

  /** At most one: all plans of the template are for its only stage. */
  plansOfKey(keyId: string): UsagePlan[] {
    return this.usagePlans.filter(({ id }) => this.isOnPlan(id, keyId));
  }

  /** The plan that meters a key's requests to a stage. */
  planOnStage(keyId: string, { apiId, stage }: ApiStage): UsagePlan | undefined {
    const isForStage = (each: ApiStage): boolean => each.apiId === apiId && each.stage === stage;
    return this.plansOfKey(keyId).find(({ apiStages }) => apiStages.some(isForStage));
  }

  putOnPlan(planId: string, keyId: string): void {
    this.#planOfKey.set(keyId, planId);
  }

  /** Keeps the usage, so that leaving and rejoining a plan does not reset it. */
  removeFromPlan(planId: string, keyId: string): void {
    if (this.isOnPlan(planId, keyId)) this.#planOfKey.delete(keyId);
  }

  /** Requests of a key on a plan on a UTC day, `yyyy-MM-dd`. */
  requestsOn(date: string, planId: string, keyId: string): number {
    return this.#usage.get(`${planId}/${keyId}/${date}`) ?? 0;
  }

  /** Counts a request. Saved about a second later. */
  countRequest(date: string, planId: string, keyId: string): void {
    this.#usage.set(`${planId}/${keyId}/${date}`, this.requestsOn(date, planId, keyId) + 1);
    this.#timer ??= setTimeout(() => void this.save().catch(reportUnsaved), SAVE_DELAY_MS).unref();
  }

  async #write(): Promise<void> {
    if (this.#file === undefined) return;
    const oldest = isoDay(Date.now() - USAGE_DAYS * DAY_MS);
    const isOwn = (id: string): boolean => !this.#templateKeyIds.has(id);
    const content: v.InferOutput<typeof contentSchema> = {
      apiKeys: this.apiKeys.filter(({ id }) => isOwn(id)),
      planOfKey: [...this.#planOfKey].filter(([id]) => isOwn(id)),
      usage: [...this.#usage].filter(([name]) => name.slice(-oldest.length) >= oldest),
      notes: [...this.notes],
    };
    try {
      await writeFile(`${this.#file}.new`, JSON.stringify(content), { mode: 0o600 });
      await rename(`${this.#file}.new`, this.#file);
    } catch (error) {
      throw unusable(dirname(this.#file), messageOf(error));
    }
  }

  #load(content: unknown): void {
    const { apiKeys, planOfKey, usage, notes } = v.parse(contentSchema, content);
    for (const key of apiKeys) this.putApiKey(key);
    for (const [keyId, planId] of planOfKey) this.putOnPlan(planId, keyId);
    for (const [name, requests] of usage) this.#usage.set(name, requests);
    for (const [name, note] of notes) this.notes.set(name, note);
    this.areNew = false;
  }
}

const reportUnsaved = (error: unknown): void => writeNotice(`The usage of API keys is not saved: ${messageOf(error)}`);
