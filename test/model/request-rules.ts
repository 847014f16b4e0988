import { tokenEntry, withEnd, withToken } from '../../shared/key-registry/key-tokens.ts';
import type { KeyChange } from '../../shared/key-registry/key-table.ts';
import type { KeyRecord } from '../../shared/keys/key-record.ts';
import { NEVER } from '../../shared/keys/working-token.ts';
import { hashToken } from '../../shared/keys/token.ts';
import type { Verdict } from '../../shared/keys/verdict.ts';
import { minuteOf } from '../../shared/keys/window.ts';
import { aKey } from '../support/tables.ts';

export const RECORD_ID = 'petstoreinventory0123456789abcdef';
export const PLACE = { recordId: { S: RECORD_ID } };
/** Half a second before a minute ends. */
export const START = Date.UTC(2026, 10, 21, 12, 0, 59, 500);
/** The token of each request. */
export const TOKENS = ['good', 'ended', 'read'] as const;
export const KEY = aKey({
  recordId: RECORD_ID,
  perMinute: 2,
  minuteUsed: 1,
  dayUsed: 1,
  currentMinute: minuteOf(START),
  tokens: {
    ...tokenEntry('good', {}, 0),
    ...tokenEntry('ended', { label: 'ended', until: START - 1 }, 0),
    ...tokenEntry('read', { label: 'read', access: 'read' }, 0),
  },
});

const ended = (tokens: KeyRecord['tokens'], text: string, now: number) => withEnd(tokens, [hashToken(text)], now);

export const MINUTE_CHANGE = 'minute change';

/** What happens once, at any moment; the first is no change of the key. */
export const incidents: Readonly<Record<string, (key: KeyRecord, now: number) => KeyChange>> = {
  [MINUTE_CHANGE]: () => ({}),
  revoke: () => ({ revoked: true, enabled: false }),
  suspend: () => ({ enabled: false, suspendedUntil: NEVER, suspendedByAdmin: true }),
  'limit change': () => ({ perMinute: 1 }),
  rotate: (key, now) => ({ tokens: ended(withToken(key, tokenEntry('new', {}, now), now), 'good', now) }),
  add: (key, now) => ({ tokens: withToken(key, tokenEntry('new', { label: 'new' }, now), now) }),
  end: (key, now) => ({ tokens: ended(key.tokens, 'good', now) }),
};

/** What must hold in every schedule of the three requests. */
export class RequestRules {
  /** The first rule that was broken. */
  broken: string | undefined;
  readonly #incident: string;
  /** Requests counted in each minute, as the table last had it; and whether one had no room. */
  readonly #counted = new Map([[KEY.currentMinute, KEY.minuteUsed]]);
  readonly #full = new Set<number>();
  readonly #admitted = new Map<number, number>();

  constructor(incident: string) {
    this.#incident = incident;
  }

  /** What later checks go by. */
  get state(): unknown[] {
    return [[...this.#counted], [...this.#full]];
  }

  /** @param before the key as a write found it */
  checkWrite(text: string, before: KeyRecord, after: KeyRecord): void {
    const isSame = before.currentMinute === after.currentMinute;
    const used = isSame ? before.minuteUsed : 0;
    const isOpen = before.enabled && !before.revoked && before.suspendedUntil < NEVER;
    this.#check(`${text} changed a key that is closed`, isOpen);
    this.#check(`${text} changed a key that it does not open`, isWorking(before, text, START));
    this.#check(`${text} lowered a counter`, after.minuteUsed >= used && after.dayUsed >= before.dayUsed);
    this.#check(`${text} took more than there is`, after.minuteUsed <= Math.max(used, before.perMinute));
    this.#check(`${text} began a minute that is over`, after.currentMinute >= before.currentMinute);
    if (after.minuteRefused > (isSame ? before.minuteRefused : 0))
      this.#check(`${text} was counted as refused, with room`, used >= before.perMinute);
    this.#counted.set(after.currentMinute, Math.max(after.minuteUsed, this.#counted.get(after.currentMinute) ?? 0));
    if (after.minuteUsed >= after.perMinute) this.#full.add(after.currentMinute);
  }

  /** @param hasHappened whether the incident has @param isOutlasted whether no environment remembered the key as before when the request began */
  checkVerdict(text: string, verdict: Verdict, hasHappened: boolean, isOutlasted: boolean): void {
    const incident = this.#incident;
    const closes = incident === 'revoke' || incident === 'suspend';
    const ends = closes || (text === 'good' && (incident === 'rotate' || incident === 'end'));
    if (verdict.kind === 'denied') return this.#check(`${text} was denied`, text === 'ended' || (ends && hasHappened));
    this.#check(`${text} was not denied`, text !== 'ended' && !(ends && isOutlasted));
    const { currentMinute, tokens } = verdict.key;
    this.#check(`${text} has another access`, (tokens[hashToken(text)]?.access === 'read') === (text === 'read'));
    if (verdict.kind === 'refused') {
      const isFull = this.#full.has(currentMinute) || (incident === 'limit change' && hasHappened);
      return this.#check(`${text} was refused with room`, verdict.reason === 'suspended' || isFull);
    }
    const admitted = (this.#admitted.get(currentMinute) ?? 0) + 1;
    this.#admitted.set(currentMinute, admitted);
    const before = currentMinute === KEY.currentMinute ? KEY.minuteUsed : 0;
    const counted = this.#counted.get(currentMinute) ?? 0;
    this.#check(`${text} was admitted and not counted`, before + admitted <= counted);
    this.#check(`${text} was admitted over the limit`, before + admitted <= KEY.perMinute);
  }

  #check(rule: string, holds: boolean): void {
    if (!holds) this.broken ??= rule;
  }
}

const isWorking = ({ tokens }: KeyRecord, text: string, now: number): boolean =>
  (tokens[hashToken(text)]?.until ?? 0) > now;
