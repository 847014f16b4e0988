import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { failureText } from '../admin-error.ts';
import { allRecords } from '../keys/find-key.ts';
import { type KeyView, keyView } from '../keys/key-view.ts';
import type { Target } from '../target.ts';

/** Records that are older are read again. */
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
  #records: readonly KeyRecord[] = [];
  #readAt: number | undefined;
  #reading: Promise<void> | undefined;
  #failure: string | undefined;

  constructor(target: Target) {
    this.#target = target;
  }

  async read(): Promise<ListedKeys> {
    const now = Date.now();
    if (this.#readAt === undefined) await this.#readAgain();
    else if (!this.#reading && now - this.#readAt > FRESH_MS) void this.refresh();
    const views = this.#records.map((record) => keyView(record, now));
    return { views, ageMs: now - (this.#readAt ?? now), failure: this.#failure };
  }

  /** The counters of a key at this moment; undefined where it is not listed, or revoked. */
  async readOne(id: string): Promise<KeyView | undefined> {
    const listed = this.#records.find(({ keyId }) => keyId === id);
    const record = listed && (await this.#target.keyTable.get(listed.recordId));
    if (!record || record.revoked) return undefined;
    return keyView(record);
  }

  /** Has the keys listed as they are from now on, after a change. Where that fails, those that were read before stay. */
  async refresh(): Promise<void> {
    // One that is under way may have passed the change already.
    await this.#reading?.catch(() => undefined);
    await this.#readAgain().catch((error: unknown) => {
      this.#failure = failureText(error, 'wait') ?? String(error);
    });
  }

  #readAgain(): Promise<void> {
    this.#reading ??= this.#readAll().finally(() => (this.#reading = undefined));
    return this.#reading;
  }

  async #readAll(): Promise<void> {
    const readAt = Date.now();
    this.#records = (await allRecords(this.#target)).filter(({ revoked }) => !revoked);
    [this.#readAt, this.#failure] = [readAt, undefined];
  }
}
