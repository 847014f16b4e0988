import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { allRecords } from '../keys/find-key.ts';
import { type KeyView, keyView } from '../keys/key-view.ts';
import type { Target } from '../target.ts';

/** Records that are older are read again. */
const FRESH_MS = 10_000;

interface Listing {
  readonly readAt: number;
  readonly records: Promise<readonly KeyRecord[]>;
}

/** All keys that are not revoked, kept in memory for some seconds. */
export class KeyList {
  readonly #target: Target;
  #listing: Listing | undefined;

  constructor(target: Target) {
    this.#target = target;
  }

  async read(): Promise<{ readonly views: readonly KeyView[]; readonly ageMs: number }> {
    if (!this.#listing || Date.now() - this.#listing.readAt > FRESH_MS)
      this.#listing = { readAt: Date.now(), records: this.#readAll() };
    const listing = this.#listing;
    try {
      const records = await listing.records;
      const now = Date.now();
      return { views: records.map((record) => keyView(record, now)), ageMs: now - listing.readAt };
    } catch (error) {
      if (this.#listing === listing) this.forget();
      throw error;
    }
  }

  /** The counters of a key at this moment; undefined where it is not listed, or revoked. */
  async readOne(id: string): Promise<KeyView | undefined> {
    const listed = (await this.#listing?.records)?.find(({ keyId }) => keyId === id);
    const record = listed && (await this.#target.keyTable.get(listed.recordId));
    return record && !record.revoked ? keyView(record) : undefined;
  }

  /** To be called after a change of a key: what was read before does not count. */
  forget(): void {
    this.#listing = undefined;
  }

  async #readAll(): Promise<KeyRecord[]> {
    return (await allRecords(this.#target)).filter(({ revoked }) => !revoked);
  }
}
