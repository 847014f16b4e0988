import { randomInt } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as v from 'valibot';
import { makeFolder, unusable } from '../data-folder.ts';
import { type ApiKey, apiKeySchema, type ApiStage, isSameStage, type UsagePlan, usagePlanSchema } from './records.ts';

/** How long counts may wait until they are written: what a host that is killed loses at most. */
const SAVE_DELAY_MS = 1_000;

const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyz';

const usageSchema = v.tuple([v.string(), v.string(), v.string(), v.number()]);

/** The requests that a key has made on a plan on a UTC day (`yyyy-MM-dd`). */
type Usage = [planId: string, keyId: string, date: string, requests: number];

/** The records as they are in a file. */
const contentSchema = v.strictObject({
  apiKeys: v.array(apiKeySchema),
  usagePlans: v.array(usagePlanSchema),
  planKeys: v.array(v.tuple([v.string(), v.string()])),
  usage: v.array(usageSchema),
  notes: v.array(v.tuple([v.string(), v.string()])),
});

/**
 * What API Gateway keeps of an account: API keys, usage plans, which key is on which plan, what each has used there.
 * Reads and changes are of the records in memory, at once; {@link save} writes them to disk, into one JSON file that is
 * written whole: a host that is killed leaves the one before or the one after.
 */
export class GatewayRecords {
  readonly #file: string | undefined;
  /** What is in the file, as far as this host has written it. */
  #saved: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #keys = new Map<string, ApiKey>();
  readonly #keyIdOfValue = new Map<string, string>();
  readonly #plans = new Map<string, UsagePlan>();
  /** The ids of the plans that a key is on, by its id. */
  readonly #plansOfKey = new Map<string, Set<string>>();
  /** By plan, key and date. */
  readonly #usage = new Map<string, Usage>();
  readonly #notes = new Map<string, string>();

  private constructor(file?: string) {
    this.#file = file;
  }

  /** Records that are gone with the host. */
  static inMemory(): GatewayRecords {
    return new GatewayRecords();
  }

  /** The records in a data folder; in memory without one. @throws HostError where the folder cannot be used */
  static open(dataFolder: string | undefined): GatewayRecords {
    if (dataFolder === undefined) return GatewayRecords.inMemory();
    const file = join(makeFolder(dataFolder, ''), 'gateway.json');
    const records = new GatewayRecords(file);
    try {
      if (existsSync(file)) records.#load(JSON.parse(readFileSync(file, 'utf8')));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw unusable(dataFolder, `its gateway.json is broken or of another version (${reason})`);
    }
    return records;
  }

  /** Writes all changes so far. @throws HostError where they cannot be written */
  save(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const content = JSON.stringify(this.#content());
    if (this.#file === undefined || content === this.#saved) return;
    try {
      writeFileSync(`${this.#file}.new`, content, { mode: 0o600 });
      renameSync(`${this.#file}.new`, this.#file);
    } catch (error) {
      throw unusable(dirname(this.#file), error instanceof Error ? error.message : String(error));
    }
    this.#saved = content;
  }

  /** Ten small letters and digits, which no key and no plan has as its id. */
  newId(): string {
    const id = Array.from({ length: 10 }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join('');
    return this.#keys.has(id) || this.#plans.has(id) ? this.newId() : id;
  }

  apiKey(id: string): ApiKey | undefined {
    return this.#keys.get(id);
  }

  apiKeyWithValue(value: string): ApiKey | undefined {
    return this.#keys.get(this.#keyIdOfValue.get(value) ?? '');
  }

  get apiKeys(): ApiKey[] {
    return [...this.#keys.values()];
  }

  /** Adds a key, or replaces the one with its id. Its value must be no other key's. */
  putApiKey(key: ApiKey): void {
    const former = this.#keys.get(key.id);
    if (former) this.#keyIdOfValue.delete(former.value);
    this.#keys.set(key.id, key);
    this.#keyIdOfValue.set(key.value, key.id);
  }

  /** Removes a key from the plans that it is on too, with all it has used. */
  deleteApiKey(id: string): void {
    this.#keyIdOfValue.delete(this.#keys.get(id)?.value ?? '');
    this.#keys.delete(id);
    this.#plansOfKey.delete(id);
    this.#forgetUsage(([, keyId]) => keyId === id);
  }

  usagePlan(id: string): UsagePlan | undefined {
    return this.#plans.get(id);
  }

  get usagePlans(): UsagePlan[] {
    return [...this.#plans.values()];
  }

  /** Adds a plan, or replaces the one with its id. */
  putUsagePlan(plan: UsagePlan): void {
    this.#plans.set(plan.id, plan);
  }

  /** Removes a plan, with what its keys have used. The keys stay. */
  deleteUsagePlan(id: string): void {
    for (const planIds of this.#plansOfKey.values()) planIds.delete(id);
    this.#plans.delete(id);
    this.#forgetUsage(([planId]) => planId === id);
  }

  isOnPlan(planId: string, keyId: string): boolean {
    return this.#plansOfKey.get(keyId)?.has(planId) ?? false;
  }

  keysOnPlan(planId: string): ApiKey[] {
    return this.apiKeys.filter(({ id }) => this.isOnPlan(planId, id));
  }

  plansOfKey(keyId: string): UsagePlan[] {
    return [...(this.#plansOfKey.get(keyId) ?? [])].flatMap((id) => this.#plans.get(id) ?? []);
  }

  /** The plan that a key's requests to a stage are metered on. */
  planOnStage(keyId: string, stage: ApiStage): UsagePlan | undefined {
    return this.plansOfKey(keyId).find(({ apiStages }) => apiStages.some((other) => isSameStage(other, stage)));
  }

  putOnPlan(planId: string, keyId: string): void {
    const planIds = this.#plansOfKey.get(keyId) ?? new Set();
    this.#plansOfKey.set(keyId, planIds.add(planId));
  }

  /** What the key has used stays, so that leaving a plan and coming back gains it nothing. */
  removeFromPlan(planId: string, keyId: string): void {
    this.#plansOfKey.get(keyId)?.delete(planId);
  }

  /** Requests of a key on a plan on a UTC day, `yyyy-MM-dd`. */
  requestsOn(date: string, planId: string, keyId: string): number {
    return this.#usage.get(`${planId}/${keyId}/${date}`)?.[3] ?? 0;
  }

  /** Counts a request. It is on disk about a second later. */
  countRequest(date: string, planId: string, keyId: string): void {
    const requests = this.requestsOn(date, planId, keyId) + 1;
    this.#usage.set(`${planId}/${keyId}/${date}`, [planId, keyId, date, requests]);
    this.#timer ??= setTimeout(() => this.#trySave(), SAVE_DELAY_MS);
  }

  /** What the host itself has to remember, by name. */
  get notes(): Map<string, string> {
    return this.#notes;
  }

  #forgetUsage(isGone: (usage: Usage) => boolean): void {
    for (const [name, usage] of this.#usage) if (isGone(usage)) this.#usage.delete(name);
  }

  #trySave(): void {
    try {
      this.save();
    } catch (error) {
      process.stderr.write(
        `The usage of API keys is not saved: ${error instanceof Error ? error.message : String(error)}\n`,
      );
    }
  }

  #content(): v.InferOutput<typeof contentSchema> {
    return {
      apiKeys: this.apiKeys,
      usagePlans: this.usagePlans,
      planKeys: [...this.#plansOfKey].flatMap(([keyId, planIds]) =>
        [...planIds].map((planId): [string, string] => [planId, keyId]),
      ),
      usage: [...this.#usage.values()],
      notes: [...this.#notes],
    };
  }

  #load(content: unknown): void {
    const { apiKeys, usagePlans, planKeys, usage, notes } = v.parse(contentSchema, content);
    for (const key of apiKeys) this.putApiKey(key);
    for (const plan of usagePlans) this.putUsagePlan(plan);
    for (const [planId, keyId] of planKeys) this.putOnPlan(planId, keyId);
    for (const each of usage) this.#usage.set(each.slice(0, 3).join('/'), each);
    for (const [name, text] of notes) this.#notes.set(name, text);
  }
}
