import { marshall } from '@aws-sdk/util-dynamodb';
import type { KeyRecord } from '../../shared/keys/key-record.ts';
import { UNTIL_RESUMED } from '../../shared/keys/verdict.ts';
import type { Random } from '../support/random.ts';
import type { Item, VirtualTables } from './virtual-tables.ts';

const CHANGES = [
  ...(['limits', 'limits', 'limits', 'rotate', 'rotate', 'rotate', 'resume', 'resume', 'enable'] as const),
  ...(['disable', 'suspend', 'revoke'] as const),
];

/** Graces of a rotated key, in milliseconds. */
const GRACES = [0, 2_000, 100_000] as const;

/** Admins who change keys while these are used. Each change is one write, as those of the admin command are. */
export class KeyAdmin {
  readonly #tables: VirtualTables;
  readonly #table: string;
  readonly #first: readonly KeyRecord[];
  /** Every key, by the key that it was made in place of at the end. */
  readonly #chains: string[][];

  constructor(tables: VirtualTables, table: string, keys: readonly KeyRecord[]) {
    this.#tables = tables;
    this.#table = table;
    this.#first = keys;
    this.#chains = keys.map(({ keyHash }) => [keyHash]);
  }

  putAll(at: number): void {
    for (const key of this.#first) this.#tables.put(this.#table, marshall(key, { removeUndefinedValues: true }), at);
  }

  /** Hashes that the requests of a while come with: mostly those of one customer. */
  someHashes(random: Random): string[] {
    const alive = this.#chains.filter((chain) => this.#isAlive(chain.at(-1) ?? ''));
    const chain = random.pick(alive.length > 0 && random.isLikely(0.9) ? alive : this.#chains);
    return random.isLikely(0.6) ? [...chain] : this.#chains.flat();
  }

  /** The newest key in place of a key. */
  successorOf(keyHash: string): string {
    return this.#chains.find((chain) => chain.includes(keyHash))?.at(-1) ?? keyHash;
  }

  act(random: Random, at: number): void {
    const chain = random.pick(this.#chains);
    const newest = chain.at(-1) ?? '';
    const what = random.pick(CHANGES);
    if (what === 'rotate') this.#rotate(chain, random, at);
    else if (what === 'disable' || what === 'enable') this.#set(newest, { enabled: what === 'enable' }, at);
    else if (what === 'revoke') this.#set(newest, { revoked: true, enabled: random.isLikely(0.5) }, at);
    else if (what === 'suspend') this.#set(newest, { suspendedUntil: UNTIL_RESUMED, suspendedByAdmin: true }, at);
    else if (what === 'resume') this.#set(newest, { suspendedUntil: 0, suspendedByAdmin: false, minuteRefused: 0 }, at);
    else {
      const perMinute = 1 + random.below(random.pick([5, 60, 1_500]));
      this.#set(newest, { perMinute, perDay: perMinute * (1 + random.below(20)) }, at);
    }
  }

  #itemOf(keyHash: string): Item | undefined {
    return this.#tables.itemAt(this.#table, { keyHash: { S: keyHash } });
  }

  #isAlive(keyHash: string): boolean {
    const item = this.#itemOf(keyHash);
    return item?.['enabled']?.BOOL === true && item['revoked']?.BOOL !== true;
  }

  /** From one moment on, the successor counts on from where the key was. */
  #rotate(chain: string[], random: Random, at: number): void {
    const old = chain.at(-1) ?? '';
    if (chain.length > 4) return;
    const item = this.#itemOf(old);
    if (!item || item['enabled']?.BOOL !== true) return;
    const keyHash = random.next().toString(16).slice(2).padEnd(64, '0');
    this.#tables.put(this.#table, { ...item, keyHash: { S: keyHash }, keyId: { S: keyHash.slice(0, 8) } }, at);
    this.#set(old, { replacedBy: keyHash, expiresAt: Math.floor(at + random.pick(GRACES)) }, at);
    chain.push(keyHash);
  }

  #set(keyHash: string, attributes: Record<string, unknown>, at: number): void {
    const item = this.#itemOf(keyHash);
    if (item) this.#tables.put(this.#table, { ...item, ...marshall(attributes) }, at);
  }
}
