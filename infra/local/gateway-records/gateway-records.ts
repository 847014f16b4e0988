import { randomInt } from 'node:crypto';
import * as v from 'valibot';
import { unusable } from '../data-folder.ts';
import { DailyUsage, dateOf, type Day, parseDate } from './daily-usage.ts';
import { type ApiKey, apiKeySchema, type ApiStage, isSameStage, type UsagePlan, usagePlanSchema } from './records.ts';
import { RecordsFile } from './records-file.ts';

const ID_ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyz';

/** The records as they are in a file. */
const contentSchema = v.strictObject({
  apiKeys: v.array(apiKeySchema),
  usagePlans: v.array(usagePlanSchema),
  planKeys: v.array(v.tuple([v.string(), v.string()])),
  usage: v.array(v.tuple([v.string(), v.string(), v.string(), v.number()])),
  notes: v.array(v.tuple([v.string(), v.string()])),
});
type Content = v.InferOutput<typeof contentSchema>;

/**
 * What API Gateway keeps of an account: API keys, usage plans, which key is on which plan, what each has used there.
 * Reads and changes are of the working set in memory, at once; {@link save} writes them to disk.
 */
export class GatewayRecords {
  #file: RecordsFile | undefined;
  readonly #keys = new Map<string, ApiKey>();
  readonly #keyIdOfValue = new Map<string, string>();
  readonly #plans = new Map<string, UsagePlan>();
  /** The ids of the plans that a key is on, by its id. */
  readonly #plansOfKey = new Map<string, Set<string>>();
  /** By the plan, then by the key. */
  readonly #usage = new Map<string, Map<string, DailyUsage>>();
  readonly #notes = new Map<string, string>();

  private constructor() {}

  /** Records that are gone with the host. */
  static inMemory(): GatewayRecords {
    return new GatewayRecords();
  }

  /** The records in a data folder. @throws HostError where the folder cannot be used */
  static open(dataFolder: string): GatewayRecords {
    const records = new GatewayRecords();
    const file = new RecordsFile(dataFolder, () => records.#content());
    try {
      const content = file.read();
      if (content !== undefined) records.#load(v.parse(contentSchema, content));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw unusable(dataFolder, `its gateway.json is broken or of another version (${reason})`);
    }
    records.#file = file;
    return records;
  }

  /** Writes all changes so far. @throws Error where they cannot be written */
  save(): void {
    this.#file?.save();
  }

  close(): void {
    this.#file?.close();
  }

  /** Ten small letters and digits, which no key and no plan has as its id. */
  newId(): string {
    const id = Array.from({ length: 10 }, () => ID_ALPHABET.charAt(randomInt(ID_ALPHABET.length))).join('');
    return this.#keys.has(id) || this.#plans.has(id) ? this.newId() : id;
  }

  apiKey(id: string): ApiKey | undefined {
    return this.#keys.get(id);
  }

  apiKeyWithValue(value: string): ApiKey | undefined {
    const id = this.#keyIdOfValue.get(value);
    return id === undefined ? undefined : this.#keys.get(id);
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
    this.#file?.changed();
  }

  /** Removes a key from the plans that it is on too, with all it has used. */
  deleteApiKey(id: string): void {
    const key = this.#keys.get(id);
    if (!key) return;
    this.#plansOfKey.delete(id);
    for (const ofPlan of this.#usage.values()) ofPlan.delete(id);
    this.#keys.delete(id);
    this.#keyIdOfValue.delete(key.value);
    this.#file?.changed();
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
    this.#file?.changed();
  }

  /** Removes a plan, with what its keys have used. The keys stay. */
  deleteUsagePlan(id: string): void {
    for (const planIds of this.#plansOfKey.values()) planIds.delete(id);
    this.#usage.delete(id);
    this.#plans.delete(id);
    this.#file?.changed();
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
    this.#file?.changed();
  }

  /** What the key has used stays, so that leaving a plan and coming back gains it nothing. */
  removeFromPlan(planId: string, keyId: string): void {
    this.#plansOfKey.get(keyId)?.delete(planId);
    this.#file?.changed();
  }

  usage(planId: string, keyId: string): DailyUsage {
    const ofPlan = this.#usage.get(planId) ?? new Map<string, DailyUsage>();
    const usage = ofPlan.get(keyId) ?? new DailyUsage();
    this.#usage.set(planId, ofPlan.set(keyId, usage));
    return usage;
  }

  /** Counts a request. It is on disk about a second later. */
  countRequest(planId: string, keyId: string, day: Day): void {
    const usage = this.usage(planId, keyId);
    usage.set(day, usage.on(day) + 1);
    this.#file?.changed();
    this.#file?.saveSoon();
  }

  /** What the host itself has to remember. */
  note(name: string): string | undefined {
    return this.#notes.get(name);
  }

  /** Names of notes that begin so. */
  notesBelow(prefix: string): string[] {
    return [...this.#notes.keys()].filter((name) => name.startsWith(prefix));
  }

  /** @param text undefined to forget it */
  setNote(name: string, text: string | undefined): void {
    if (text === undefined) this.#notes.delete(name);
    else this.#notes.set(name, text);
    this.#file?.changed();
  }

  #content(): Content {
    return {
      apiKeys: this.apiKeys,
      usagePlans: this.usagePlans,
      planKeys: [...this.#plansOfKey].flatMap(([keyId, planIds]) =>
        [...planIds].map((planId): [string, string] => [planId, keyId]),
      ),
      usage: [...this.#usage].flatMap(([planId, ofPlan]) =>
        [...ofPlan].flatMap(([keyId, { counts }]) =>
          [...counts].map(([day, count]): Content['usage'][number] => [planId, keyId, dateOf(day), count]),
        ),
      ),
      notes: [...this.#notes],
    };
  }

  #load({ apiKeys, usagePlans, planKeys, usage, notes }: Content): void {
    for (const key of apiKeys) this.putApiKey(key);
    for (const plan of usagePlans) this.putUsagePlan(plan);
    for (const [planId, keyId] of planKeys) this.putOnPlan(planId, keyId);
    for (const [planId, keyId, date, count] of usage) this.usage(planId, keyId).set(parseDate(date) ?? 0, count);
    for (const [name, text] of notes) this.setNote(name, text);
  }
}
