import { marshall } from '@aws-sdk/util-dynamodb';
import type { KeyRecord } from '../../shared/keys/key-record.ts';
import { UNTIL_RESUMED } from '../../shared/keys/verdict.ts';
import type { Random } from '../support/random.ts';
import type { Item, VirtualTables } from './virtual-tables.ts';

/** Graces of a rotated key, in milliseconds. */
const GRACES = [0, 2_000, 100_000];

/** What an admin changes of a record, beside rotating the key. */
const changes: readonly ((random: Random) => Partial<KeyRecord>)[] = [
  ...Array.from({ length: 3 }, () => (random: Random) => {
    const perMinute = 1 + random.below(random.pick([5, 60, 1_500]));
    return { perMinute, perDay: perMinute * (1 + random.below(20)) };
  }),
  () => ({ suspendedUntil: 0, suspendedByAdmin: false, minuteRefused: 0 }),
  () => ({ suspendedUntil: UNTIL_RESUMED, suspendedByAdmin: true }),
  () => ({ enabled: true }),
  () => ({ enabled: false }),
  (random) => ({ revoked: true, enabled: random.isLikely(0.5) }),
];

/** Admins who change keys while these are used. Each change is one write, as those of the admin command are. */
export class KeyAdmin {
  readonly #tables: VirtualTables;
  readonly #table: string;
  /** Every key, by the key that it was made in place of at the end. */
  readonly #chains: string[][];

  /** Puts the keys into the table. */
  constructor(tables: VirtualTables, table: string, keys: readonly KeyRecord[], at: number) {
    this.#tables = tables;
    this.#table = table;
    this.#chains = keys.map(({ keyHash }) => [keyHash]);
    for (const key of keys) tables.put(table, marshall(key, { removeUndefinedValues: true }), at);
  }

  /** Hashes that the requests of a while come with: mostly those of one customer. */
  someHashes(random: Random): string[] {
    const alive = this.#chains.filter((chain) => this.#isAlive(this.#itemOf(chain.at(-1))));
    const chain = random.pick(alive.length > 0 && random.isLikely(0.9) ? alive : this.#chains);
    return random.isLikely(0.6) ? [...chain] : this.#chains.flat();
  }

  /** The newest key in place of a key. */
  successorOf(keyHash: string): string {
    return this.#chains.find((chain) => chain.includes(keyHash))?.at(-1) ?? keyHash;
  }

  act(random: Random, at: number): void {
    const chain = random.pick(this.#chains);
    const item = this.#itemOf(chain.at(-1));
    if (random.isLikely(0.7)) this.#set(item, random.pick(changes)(random), at);
    else if (chain.length <= 4 && item['enabled']?.BOOL === true) {
      // From one moment on, the successor counts on from where the key was.
      const keyHash = random.next().toString(16).slice(2).padEnd(64, '0');
      this.#set(item, { keyHash, keyId: keyHash.slice(0, 8) }, at);
      this.#set(item, { replacedBy: keyHash, expiresAt: Math.floor(at + random.pick(GRACES)) }, at);
      chain.push(keyHash);
    }
  }

  #itemOf(keyHash = ''): Item {
    return this.#tables.itemAt(this.#table, { keyHash: { S: keyHash } }) ?? {};
  }

  #isAlive({ enabled, revoked }: Item): boolean {
    return enabled?.BOOL === true && revoked?.BOOL !== true;
  }

  #set(item: Item, attributes: Partial<KeyRecord>, at: number): void {
    this.#tables.put(this.#table, { ...item, ...marshall(attributes) }, at);
  }
}
