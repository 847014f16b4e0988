import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { failureText } from '../admin-error.ts';
import { type KeyView, keyView } from '../keys/key-view.ts';
import { keyRecords } from '../keys/list-keys.ts';
import type { Target } from '../target.ts';

/** Whoever looks at records that are older has them read again. */
const FRESH_MS = 10_000;

export interface ListedKeys {
  readonly views: readonly KeyView[];
  readonly ageMs: number;
  /** Why they could not be read again. */
  readonly failure: string | undefined;
}

/** All keys, read once and kept in memory. While they are read again, those that were read before are shown. */
export class KeyList {
  readonly #target: Target;
  #records: ReadonlyMap<string, KeyRecord> = new Map();
  #readAt: number | undefined;
  #reading: Promise<void> | undefined;
  #failure: string | undefined;

  constructor(target: Target) {
    this.#target = target;
  }

  async read(): Promise<ListedKeys> {
    const now = Date.now();
    if (this.#readAt === undefined) await this.#readAgain();
    else if (now - this.#readAt > FRESH_MS)
      void this.#readAgain().catch((error: unknown) => {
        this.#failure = failureText(error, 'wait') ?? String(error);
      });
    const views = [...this.#records.values()].map((record) => keyView(record, now));
    return { views, ageMs: now - (this.#readAt ?? now), failure: this.#failure };
  }

  /** The counters of a key at this moment; undefined where it is not listed, or revoked. */
  async readOne(id: string): Promise<KeyView | undefined> {
    const keyHash = this.#records.get(id)?.keyHash;
    const record = keyHash === undefined ? undefined : await this.#target.keyTable.get(keyHash);
    return record && !record.revoked ? keyView(record, Date.now()) : undefined;
  }

  /** Has keys listed as they are now: those with the ids, and new ones by their hashes. */
  async update(ids: readonly string[], keyHashes: readonly string[] = []): Promise<void> {
    await this.#reading?.catch(() => undefined);
    const known = ids.flatMap((id) => this.#records.get(id)?.keyHash ?? []);
    const records = new Map(this.#records);
    for (const keyHash of [...known, ...keyHashes]) {
      const record = await this.#target.keyTable.get(keyHash);
      if (record?.revoked === false) records.set(record.keyId, record);
      else for (const [id, listed] of records) if (listed.keyHash === keyHash) records.delete(id);
    }
    this.#records = records;
  }

  #readAgain(): Promise<void> {
    this.#reading ??= this.#readAll().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  async #readAll(): Promise<void> {
    const readAt = Date.now();
    const records = await keyRecords(this.#target);
    this.#records = new Map(records.map((record) => [record.keyId, record]));
    [this.#readAt, this.#failure] = [readAt, undefined];
  }
}
