import { isSameDay, type Minute, minuteOf } from '../../shared/keys/window.ts';

/** A version of a stock entry. */
export interface Version {
  readonly quantity: number;
  readonly version: string;
}

/** Of a pet that only one client writes to, one request after the other. */
interface Account {
  acknowledged: Version | undefined;
  /** The quantity of an update whose answer has not come. */
  pending: number | undefined;
}

interface Admitted {
  readonly minute: Minute;
  count: number;
}

/** What a service has acknowledged, to be compared with what it knows after it was killed. */
export class WriteLedger {
  acknowledgements = 0;
  readonly #accounts = new Map<string, Account>();
  readonly #keyIds = new Set<string>();
  readonly #admitted = new Map<string, Admitted>();
  readonly #perWindow = new Map<string, number>();

  /** An update is on its way. */
  begin(petId: string, quantity: number): void {
    this.#account(petId).pending = quantity;
  }

  acknowledge(petId: string, version: Version): void {
    this.acknowledgements += 1;
    Object.assign(this.#account(petId), { acknowledged: version, pending: undefined });
  }

  refuse(petId: string): void {
    this.#account(petId).pending = undefined;
  }

  keyCreated(keyId: string): void {
    this.#keyIds.add(keyId);
  }

  /** A request was admitted. @param windowEnd in Unix seconds; its minute's, as the answer tells it */
  admit(keyHash: string, windowEnd: string): void {
    const minute = minuteOf(Date.now());
    const admitted = this.#admitted.get(keyHash);
    if (admitted && isSameDay(admitted.minute, minute)) admitted.count += 1;
    else this.#admitted.set(keyHash, { minute, count: 1 });
    const key = `${keyHash} ${windowEnd}`;
    this.#perWindow.set(key, (this.#perWindow.get(key) ?? 0) + 1);
  }

  get keyHashes(): string[] {
    return [...this.#admitted.keys()];
  }

  /** The most requests of a key that were admitted in one window. */
  mostAdmitted(keyHash: string): number {
    const counts = [...this.#perWindow].filter(([key]) => key.startsWith(keyHash)).map(([, count]) => count);
    return Math.max(0, ...counts);
  }

  /** What of the acknowledged writes is not there. Of those whose answer never came, each is taken for what it is. */
  missingFrom(stored: ReadonlyMap<string, Version>): string[] {
    return [...this.#accounts].flatMap(([petId, account]) => this.#check(petId, account, stored.get(petId)));
  }

  keysMissingFrom(keyIds: ReadonlySet<string>): string[] {
    return [...this.#keyIds].filter((id) => !keyIds.has(id)).map((id) => `API key ${id}`);
  }

  /** Whether fewer requests of a key were counted than were admitted. */
  isUndercounted(keyHash: string, currentMinute: Minute, dayUsed: number): boolean {
    const admitted = this.#admitted.get(keyHash);
    return admitted !== undefined && isSameDay(admitted.minute, currentMinute) && dayUsed < admitted.count;
  }

  #account(petId: string): Account {
    const account = this.#accounts.get(petId) ?? { acknowledged: undefined, pending: undefined };
    this.#accounts.set(petId, account);
    return account;
  }

  #check(petId: string, account: Account, stored: Version | undefined): string[] {
    const { acknowledged, pending } = account;
    account.pending = undefined;
    if (!acknowledged) {
      account.acknowledged = stored;
      return [];
    }
    const isAcknowledged = stored?.quantity === acknowledged.quantity && stored.version === acknowledged.version;
    const isPending = stored !== undefined && stored.quantity === pending && stored.version !== acknowledged.version;
    if (isPending) account.acknowledged = stored;
    return isAcknowledged || isPending
      ? []
      : [`pet ${petId}: ${JSON.stringify({ acknowledged, pending, stored: stored ?? null })}`];
  }
}
