import { randomInt } from 'node:crypto';
import * as v from 'valibot';
import { unusable } from '../data-folder.ts';
import { type ApiKey, apiKeySchema } from './api-key.ts';
import type { DailyUsage } from './daily-usage.ts';
import { PlanKeys } from './plan-keys.ts';
import { type Day, dateOf, parseDate } from './quota-period.ts';
import { RecordStore } from './record-store.ts';
import { type CountedDay, UsageLedger } from './usage-ledger.ts';
import { type ApiStage, isSameStage, type UsagePlan, usagePlanSchema } from './usage-plan.ts';

const ID_ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyz';

/**
 * What API Gateway keeps of an account: API keys, usage plans, which key is on which plan, what each has used there.
 * Reads and changes are of the working set in memory, at once; {@link saved} waits until they are on disk.
 */
export class GatewayRecords {
  readonly #store: RecordStore;
  readonly #keys = new Map<string, ApiKey>();
  readonly #keyIdOfValue = new Map<string, string>();
  readonly #plans = new Map<string, UsagePlan>();
  readonly #planKeys = new PlanKeys();
  readonly #usage = new UsageLedger();
  readonly #notes = new Map<string, string>();

  private constructor(store: RecordStore) {
    this.#store = store;
  }

  /** Records that are gone with the host. */
  static inMemory(): GatewayRecords {
    return new GatewayRecords(RecordStore.inMemory());
  }

  /** The records in a data folder. @throws HostError where the folder cannot be used */
  static async open(dataFolder: string): Promise<GatewayRecords> {
    const store = await RecordStore.open(dataFolder);
    const records = new GatewayRecords(store);
    try {
      for (const [key, value] of await store.entries()) records.#load(key, value);
      return records;
    } catch (error) {
      await store.close();
      if (!v.isValiError(error)) throw error;
      throw unusable(dataFolder, `its gateway records are of another version (${error.message})`);
    }
  }

  /** Waits until all changes so far are on disk. */
  saved(): Promise<void> {
    return this.#store.saved();
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  /** An id that no key and no plan has. */
  newId(): string {
    const id = randomId();
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

  get apiKeyCount(): number {
    return this.#keys.size;
  }

  /** Adds a key, or replaces the one with its id. Its value must be no other key's. */
  putApiKey(key: ApiKey): void {
    const former = this.#keys.get(key.id);
    if (former) this.#keyIdOfValue.delete(former.value);
    this.#keys.set(key.id, key);
    this.#keyIdOfValue.set(key.value, key.id);
    this.#store.put(`apiKey/${key.id}`, key);
  }

  /** Removes a key from the plans that it is on too, with all it has used. */
  deleteApiKey(id: string): void {
    const key = this.#keys.get(id);
    if (!key) return;
    for (const plan of this.plansOfKey(id)) this.removeFromPlan(plan.id, id);
    this.#forgetUsage(this.#usage.drop({ keyId: id }));
    this.#keys.delete(id);
    this.#keyIdOfValue.delete(key.value);
    this.#store.delete(`apiKey/${id}`);
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
    this.#store.put(`usagePlan/${plan.id}`, plan);
  }

  /** Removes a plan, with what its keys have used. The keys stay. */
  deleteUsagePlan(id: string): void {
    for (const key of this.keysOnPlan(id)) this.removeFromPlan(id, key.id);
    this.#forgetUsage(this.#usage.drop({ planId: id }));
    this.#plans.delete(id);
    this.#store.delete(`usagePlan/${id}`);
  }

  isOnPlan(planId: string, keyId: string): boolean {
    return this.#planKeys.has(planId, keyId);
  }

  keysOnPlan(planId: string): ApiKey[] {
    return [...this.#planKeys.keysOf(planId)].flatMap((id) => this.#keys.get(id) ?? []);
  }

  plansOfKey(keyId: string): UsagePlan[] {
    return [...this.#planKeys.plansOf(keyId)].flatMap((id) => this.#plans.get(id) ?? []);
  }

  /** The plan that a key's requests to a stage are metered on. */
  planOnStage(keyId: string, stage: ApiStage): UsagePlan | undefined {
    return this.plansOfKey(keyId).find(({ apiStages }) => apiStages.some((other) => isSameStage(other, stage)));
  }

  putOnPlan(planId: string, keyId: string): void {
    this.#planKeys.add(planId, keyId);
    this.#store.put(`planKey/${planId}/${keyId}`, true);
  }

  /** What the key has used stays, so that leaving a plan and coming back gains it nothing. */
  removeFromPlan(planId: string, keyId: string): void {
    this.#planKeys.remove(planId, keyId);
    this.#store.delete(`planKey/${planId}/${keyId}`);
  }

  usage(planId: string, keyId: string): DailyUsage {
    return this.#usage.of(planId, keyId);
  }

  /** Counts a request. It is on disk about a second later. */
  countRequest(planId: string, keyId: string, day: Day): void {
    const usage = this.usage(planId, keyId);
    usage.set(day, usage.on(day) + 1);
    this.#store.put(usageEntry(planId, keyId, day), usage.on(day));
    this.#store.saveSoon();
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
    this.#store.put(`note/${name}`, text);
  }

  #forgetUsage(days: readonly CountedDay[]): void {
    for (const { planId, keyId, day } of days) this.#store.delete(usageEntry(planId, keyId, day));
  }

  #load(entry: string, value: unknown): void {
    const [kind = '', first = '', second = '', date = ''] = entry.split('/');
    if (kind === 'apiKey') this.#loadApiKey(v.parse(apiKeySchema, value));
    if (kind === 'usagePlan') this.#plans.set(first, v.parse(usagePlanSchema, value));
    if (kind === 'planKey') this.#planKeys.add(first, second);
    if (kind === 'usage') this.usage(first, second).set(parseDate(date) ?? 0, v.parse(v.number(), value));
    if (kind === 'note') this.#notes.set(entry.slice('note/'.length), v.parse(v.string(), value));
  }

  #loadApiKey(key: ApiKey): void {
    this.#keys.set(key.id, key);
    this.#keyIdOfValue.set(key.value, key.id);
  }
}

function usageEntry(planId: string, keyId: string, day: Day): string {
  return `usage/${planId}/${keyId}/${dateOf(day)}`;
}

/** Ten small letters and digits. */
function randomId(): string {
  return Array.from({ length: 10 }, () => ID_ALPHABET.charAt(randomInt(ID_ALPHABET.length))).join('');
}
