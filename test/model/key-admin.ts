import { marshall } from '@aws-sdk/util-dynamodb';
import { type KeyChange, tokenEntry } from '../../shared/key-registry/record-changes.ts';
import { mayAddToken, withEnd, withToken, workingTokens } from '../../infra/admin/keys/tokens.ts';
import { type KeyRecord, NO_EXPIRY, UNTIL_RESUMED } from '../../shared/keys/key-record.ts';
import { hashToken, type Token } from '../../shared/keys/token.ts';
import type { Random } from '../support/random.ts';
import type { VirtualTable } from './virtual-table.ts';

/** Graces of a rotated token, in milliseconds. */
const GRACES = [0, 2_000, 100_000];
/** Makes a token of a key. @returns its text */
type Issue = () => string;
type Change = (random: Random, key: KeyRecord, now: number, issue: Issue) => KeyChange;

const newLimits: Change = (random) => {
  const perMinute = 1 + random.below(random.pick([5, 60, 1_500]));
  return { perMinute, perDay: perMinute * (1 + random.below(20)) };
};

/** What an admin changes of a record, beside its tokens. */
const changes: readonly Change[] = [
  ...Array.from({ length: 3 }, () => newLimits),
  () => ({ suspendedUntil: 0, suspendedByAdmin: false, minuteRefused: 0 }),
  () => ({ suspendedUntil: UNTIL_RESUMED, suspendedByAdmin: true }),
  (random, _, now) => ({ expiresAtMs: random.isLikely(0.5) ? now + random.below(100_000) : undefined }),
  () => ({ enabled: true }),
  () => ({ enabled: false }),
  (random) => ({ revoked: true, enabled: random.isLikely(0.5) }),
];

/** Puts a token in the place of another, which ends after a grace. */
const rotate: Change = (random, key, now, issue) => {
  const working = workingTokens(key, now);
  if (working.length === 0) return {};
  const { label, access, until, hash } = random.pick(working);
  const tokens = withToken(key, tokenEntry(issue(), { label, access, until }, now), now);
  return { tokens: withEnd(tokens, [hash], now + random.pick(GRACES)) };
};

const add: Change = (random, key, now, issue) => {
  if (!mayAddToken(key, now)) return {};
  const label = issue();
  const until = random.isLikely(0.5) ? NO_EXPIRY : now + random.below(100_000);
  return {
    tokens: withToken(key, tokenEntry(label, { label, access: random.pick(['full', 'read']), until }, now), now),
  };
};

const end: Change = (random, { tokens }, now) => ({
  tokens: withEnd(tokens, [random.pick(Object.keys(tokens))], now),
});

const tokenChanges = [rotate, rotate, add, end];

/** Admins who change keys while these are used. Each change is one write, as those of the admin command are. */
export class KeyAdmin {
  readonly #table: VirtualTable;
  /** Tokens that each key ever had, by the key's record id, the newest last. */
  readonly #issued: ReadonlyMap<string, Token[]>;

  constructor(table: VirtualTable, keys: readonly KeyRecord[], now: number) {
    this.#table = table;
    this.#issued = new Map(keys.map(({ recordId }) => [recordId, [tokenNumber(recordId, 1)]]));
    for (const key of keys) this.#put({ ...key, tokens: tokenEntry(textOf(1), {}, 0) }, now);
  }

  /** Tokens that the requests of a while come with, ended ones too: mostly those of one customer. */
  someTokens(random: Random): Token[] {
    const all = [...this.#issued.keys()];
    const open = all.filter((recordId) => {
      const { enabled, revoked } = this.#table.recordAt(recordId);
      return enabled && !revoked;
    });
    const one = random.pick(open.length > 0 && random.isLikely(0.9) ? open : all);
    return (random.isLikely(0.6) ? [one] : all).flatMap((recordId) => this.#tokensOf(recordId));
  }

  newestBeside(token: Token): Token {
    return this.#tokensOf(token.recordId).at(-1) ?? token;
  }

  act(random: Random): void {
    const now = Date.now();
    const recordId = random.pick([...this.#issued.keys()]);
    const change = random.pick(random.isLikely(0.55) ? changes : tokenChanges);
    const key = this.#table.recordAt(recordId);
    this.#put({ ...key, ...change(random, key, now, () => this.#issue(recordId)) }, now);
  }

  /** Makes a token. Those of all keys have the same texts: what the tables understand of an expression goes by them. */
  #issue(recordId: string): string {
    const issued = this.#tokensOf(recordId);
    issued.push(tokenNumber(recordId, issued.length + 1));
    return textOf(issued.length);
  }

  #tokensOf(recordId: string): Token[] {
    return this.#issued.get(recordId) ?? [];
  }

  #put(record: object, now: number): void {
    this.#table.put(marshall(record, { removeUndefinedValues: true }), now);
  }
}

const textOf = (number: number): string => `token ${number}`;

const tokenNumber = (recordId: string, number: number): Token => ({
  recordId,
  hash: hashToken(textOf(number)),
  usageIdentifier: recordId,
});
