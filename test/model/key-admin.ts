import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { exactNumbers } from '../../shared/dynamodb.ts';
import type { KeyChange } from '../../shared/key-registry/key-table.ts';
import {
  hasRoom,
  tokenEntry,
  type Tokens,
  tokensLabelled,
  withEnd,
  withShown,
  withToken,
  workingTokens,
} from '../../shared/key-registry/key-tokens.ts';
import { type KeyRecord, parseKeyRecord } from '../../shared/keys/key-record.ts';
import { NEVER } from '../../shared/keys/working-token.ts';
import { hashToken, type Token } from '../../shared/keys/token.ts';
import type { Random } from '../support/random.ts';
import type { VirtualTables } from './virtual-tables.ts';
import type { VirtualTime } from './virtual-time.ts';

/** Graces of a rotated token, in milliseconds. */
const GRACES = [0, 2_000, 100_000];
/** A rotation waits so long before it shows the new token and ends the old one, in milliseconds. */
const SHOWN_AFTER_MS = 1_500;

function newLimits(random: Random): KeyChange {
  const perMinute = 1 + random.below(random.pick([5, 60, 1_500]));
  return { perMinute, perDay: perMinute * (1 + random.below(20)) };
}

/** What an admin changes of a record, beside its tokens. */
const changes: readonly ((random: Random, now: number) => KeyChange)[] = [
  ...Array.from({ length: 3 }, () => newLimits),
  () => ({ suspendedUntil: 0, suspendedByAdmin: false, minuteRefused: 0 }),
  () => ({ suspendedUntil: NEVER, suspendedByAdmin: true }),
  (random, now) => ({ expiresAt: random.isLikely(0.5) ? now + random.below(100_000) : undefined }),
  () => ({ enabled: true }),
  () => ({ enabled: false }),
  (random) => ({ revoked: true, enabled: random.isLikely(0.5) }),
];

/** Admins who change keys while these are used. Each change is one write, as those of the admin command are. */
export class KeyAdmin {
  readonly #time: VirtualTime;
  readonly #tables: VirtualTables;
  readonly #table: string;
  /** Tokens that each key ever had, by the key's record id, the newest last. */
  readonly #issued: ReadonlyMap<string, Token[]>;

  /** Puts the keys into the table, each with one token. */
  constructor(time: VirtualTime, tables: VirtualTables, table: string, keys: readonly KeyRecord[]) {
    this.#time = time;
    this.#tables = tables;
    this.#table = table;
    this.#issued = new Map(keys.map(({ recordId }) => [recordId, [tokenNumber(recordId, 1)]]));
    for (const key of keys) this.#put({ ...key, tokens: tokenEntry(textOf(1), {}, 0) });
  }

  /** Tokens that the requests of a while come with, ended ones too: mostly those of one customer. */
  someTokens(random: Random): Token[] {
    const all = [...this.#issued.keys()];
    const open = all.filter((recordId) => {
      const { enabled, revoked } = this.#read(recordId);
      return enabled && !revoked;
    });
    const one = random.pick(open.length > 0 && random.isLikely(0.9) ? open : all);
    return (random.isLikely(0.6) ? [one] : all).flatMap((recordId) => this.#tokensOf(recordId));
  }

  /** The newest token of the same key, which may not be shown yet. */
  newestBeside(token: Token): Token {
    return this.#tokensOf(token.recordId).at(-1) ?? token;
  }

  /** @param onlyLimits changes nothing but the limits */
  act(random: Random, onlyLimits: boolean): void {
    const recordId = random.pick([...this.#issued.keys()]);
    const now = Date.now();
    if (onlyLimits) this.#set(recordId, newLimits(random));
    else if (random.isLikely(0.55)) this.#set(recordId, random.pick(changes)(random, now));
    else if (random.isLikely(0.5)) this.#rotate(recordId, random);
    else if (random.below(2) === 0) this.#add(recordId, random);
    else this.#end(recordId, random);
  }

  /** Adds a pending token. Once it has been shown, it takes the place of the old one. */
  #rotate(recordId: string, random: Random): void {
    const working = workingTokens(this.#read(recordId), Date.now());
    if (working.length === 0) return;
    const old = random.pick(working);
    const { label, access, until } = old;
    const text = this.#issue(recordId);
    this.#addEntry(recordId, tokenEntry(text, { label, access, until, pending: true }, Date.now()));
    const grace = random.pick(GRACES);
    this.#time.at(this.#time.now + SHOWN_AFTER_MS, () => this.#confirm(recordId, hashToken(text), grace));
  }

  #confirm(recordId: string, hash: string, grace: number): void {
    const now = Date.now();
    const record = this.#read(recordId);
    const added = record.tokens[hash];
    if (!added || record.revoked) return;
    const { current, inGrace } = tokensLabelled(record, added.label, now);
    const ending = [...(current ? [current] : []), ...(grace === 0 ? inGrace : [])].map((token) => token.hash);
    const tokens = withShown(withEnd(record.tokens, ending, now + grace), hash);
    this.#set(recordId, { tokens });
  }

  #add(recordId: string, random: Random): void {
    const now = Date.now();
    if (!hasRoom(this.#read(recordId), now)) return;
    const text = this.#issue(recordId);
    const until = random.isLikely(0.5) ? NEVER : now + random.below(100_000);
    this.#addEntry(recordId, tokenEntry(text, { label: text, access: random.pick(['full', 'read']), until }, now));
  }

  #end(recordId: string, random: Random): void {
    const now = Date.now();
    const { tokens } = this.#read(recordId);
    this.#set(recordId, { tokens: withEnd(tokens, [random.pick(Object.keys(tokens))], now) });
  }

  /** Makes a token. Those of all keys have the same texts: what the tables understand of an expression goes by them. */
  #issue(recordId: string): string {
    const issued = this.#tokensOf(recordId);
    issued.push(tokenNumber(recordId, issued.length + 1));
    return textOf(issued.length);
  }

  #addEntry(recordId: string, entry: Tokens): void {
    this.#set(recordId, { tokens: withToken(this.#read(recordId), entry, Date.now()) });
  }

  #tokensOf(recordId: string): Token[] {
    return this.#issued.get(recordId) ?? [];
  }

  #read(recordId: string): KeyRecord {
    const item = this.#tables.itemAt(this.#table, { recordId: { S: recordId } }) ?? {};
    return parseKeyRecord(unmarshall(item, { ...exactNumbers }));
  }

  #set(recordId: string, change: KeyChange): void {
    this.#put({ ...this.#read(recordId), ...change });
  }

  #put(record: object): void {
    this.#tables.put(this.#table, marshall(record, { removeUndefinedValues: true }), this.#time.now);
  }
}

const textOf = (number: number): string => `token ${number}`;

const tokenNumber = (recordId: string, number: number): Token => ({
  recordId,
  hash: hashToken(textOf(number)),
  usageIdentifier: recordId,
});
