import { ConditionalCheckFailedException, ThrottlingException } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { type KeyRecord, UNTIL_RESUMED } from '../../../shared/keys/key-record.ts';
import { CachedKey, Limiter } from '../../../shared/keys/limiter.ts';
import { clientOver } from '../../model/virtual-table.ts';
import { aKey, tokenOf } from '../../support/tables.ts';

const NOW = Date.UTC(2025, 5, 15, 12, 34, 30);
const MINUTE = Math.floor(NOW / 60_000);
const { recordId, tokens } = aKey();
const { hash } = tokenOf({ recordId, tokens });

/** A key whose 5 requests per minute are exhausted, with one refusal. */
const exhausted = (differences: Partial<KeyRecord> = {}): KeyRecord =>
  aKey({ tokens, perMinute: 5, minuteUsed: 5, minuteRefused: 1, currentMinute: MINUTE, ...differences });

function cachedKey(key: KeyRecord | undefined): CachedKey {
  const memory = new CachedKey();
  memory.update(key, NOW);
  return memory;
}

/** The cached verdict; none if a write must decide. */
function verdictOf(memory: CachedKey, now = NOW, token = hash): string | undefined {
  const verdict = memory.denyOrRefuse(token, now);
  return verdict?.kind === 'refused' ? verdict.reason : verdict?.kind;
}

const suspended = { suspendedUntil: NOW + 300_000, currentMinute: MINUTE - 2 };

describe('an environment refuses from its cache for one second', () => {
  test.each<[string, KeyRecord | undefined, string]>([
    ['an unknown key', undefined, 'denied'],
    ['a key that is suspended until it is resumed', exhausted({ suspendedUntil: UNTIL_RESUMED }), 'denied'],
    ['a key that is suspended since an earlier minute', exhausted(suspended), 'suspended'],
    ['an exhausted key', exhausted(), 'minute'],
  ])('%s', (_, key, outcome) => {
    const memory = cachedKey(key);

    expect([0, 999, -999].map((later) => verdictOf(memory, NOW + later))).toEqual([outcome, outcome, outcome]);
    expect([1_000, -1_000].map((later) => verdictOf(memory, NOW + later))).toEqual([undefined, undefined]);
  });

  test('a wrong token, without counting it', () => {
    const memory = cachedKey(exhausted());
    const outcomes = Array.from({ length: 9 }, () => verdictOf(memory, NOW, 'wrong'));

    expect(new Set(outcomes)).toEqual(new Set(['denied']));
    expect(verdictOf(cachedKey(aKey({ tokens })), NOW, 'wrong')).toBe('denied');
    expect(memory.takeRefusals(MINUTE)).toEqual({ ofMinute: 1, ofDay: 1 });
  });
});

test.each<[string, KeyRecord]>([
  ['has remaining quota', aKey({ tokens, currentMinute: MINUTE })],
  ['has not ended yet at the time of the request', aKey({ tokens, expiresAtMs: NOW + 1 })],
  ['begins a minute with a refusal', exhausted({ dayUsed: 1_000, currentMinute: MINUTE - 1 })],
])('the table is asked if a key %s', (_, key) => {
  expect(verdictOf(cachedKey(key))).toBeUndefined();
});

/** A key that was refused from memory three times: once more, and it is suspended, by a write. */
function refused(): CachedKey {
  const memory = cachedKey(exhausted());
  expect(Array.from({ length: 4 }, () => verdictOf(memory))).toEqual(['minute', 'minute', 'minute', undefined]);
  return memory;
}

describe('refusals from the cache', () => {
  test('are counted with the next write, once', () => {
    const memory = refused();

    expect([memory.takeRefusals(MINUTE), memory.takeRefusals(MINUTE)]).toEqual([
      { ofMinute: 4, ofDay: 4 },
      { ofMinute: 1, ofDay: 1 },
    ]);
    expect(refused().takeRefusals(MINUTE + 1)).toEqual({ ofMinute: 1, ofDay: 4 });
  });

  test.each<[string, Partial<KeyRecord>, number, number]>([
    ['count in their day only, in another minute', { currentMinute: MINUTE + 1 }, 1, 4],
    ['are not counted on another day', { currentMinute: MINUTE + 1_440 }, 1, 1],
    ['count in their day only, if the key was changed: it may have been resumed', { revision: 7 }, 1, 4],
    ['are counted even if others were admitted or refused', { minuteRefused: 2 }, 4, 4],
  ])('%s', (_, change, ofMinute, ofDay) => {
    const memory = refused();
    memory.update(exhausted(change), NOW);

    expect(memory.takeRefusals(change.currentMinute ?? MINUTE)).toEqual({ ofMinute, ofDay });
  });
});

/** A limiter whose calls end so, one after the other. */
function limiterOver(endings: Iterable<object>, onCall = () => undefined) {
  const left = [...endings];
  const client = clientOver(async () => {
    onCall();
    const ending = left.shift() ?? new Error('one call too many');
    if (ending instanceof Error) throw ending;
    return { ...ending };
  });
  return { limiter: new Limiter(client, 'keys'), left };
}

const unknown = new ConditionalCheckFailedException({ message: 'unknown', $metadata: {} });
const busy = new ThrottlingException({ message: 'busy', $metadata: {} });

test('a key is evicted after requests of a thousand others', async () => {
  const { limiter, left } = limiterOver(Array.from({ length: 1_003 }, () => unknown));
  const token = tokenOf(aKey());
  for (const next of [token, token, ...Array.from({ length: 1_000 }, () => tokenOf(aKey()))])
    await limiter.admit(next, NOW);
  expect(left).toHaveLength(2);

  await limiter.admit(token, NOW);
  expect(left).toHaveLength(1);
});

describe('a key whose writes are throttled', () => {
  afterEach(() => void jest.restoreAllMocks());

  test.each([
    ['50 ms', [0], 50],
    ['a second if another write was throttled less than a second before', [0, 999], 1_000],
    ['50 ms if another was throttled a second before', [0, 1_000], 50],
    ['a second also by the clock of another request', [0, -999], 1_000],
  ])('is not written for %s', (_, throttledAt, pause) => {
    const memory = new CachedKey();
    for (const at of throttledAt) {
      memory.update(aKey({ tokens, currentMinute: MINUTE }), NOW + at);
      memory.throttled(busy, NOW + at);
    }
    const last = NOW + (throttledAt.at(-1) ?? 0);

    for (const later of [0, pause - 1, 1 - pause]) expect(() => verdictOf(memory, last + later)).toThrow(busy);
    for (const later of [pause, -pause]) expect(verdictOf(memory, last + later)).toBeUndefined();
  });

  test('is refused from the cache until then if it was refused before', () => {
    const memory = cachedKey(exhausted());
    memory.throttled(busy, NOW);

    expect(new Set(Array.from({ length: 9 }, () => verdictOf(memory, NOW + 49)))).toEqual(new Set(['minute']));
    expect(verdictOf(memory, NOW + 50)).toBeUndefined();
  });

  // The clock, and the time of the request.
  test.each<[string, Error[], number, number, number]>([
    ['is not retried if it was written less than 20 ms ago', [unknown], 19, 1_000, 1],
    ['is not retried if that write was throttled too', [busy, busy, busy], 19, 1_000, 1],
    ['is not retried if it was throttled less than a second ago', [busy, busy, busy], 999, 999, 1],
    ['is attempted three times if it was written earlier', [unknown], 20, 1_000, 3],
    ['is attempted three times if it was throttled a second ago', [busy, busy, busy], 1_000, 1_000, 3],
  ])('%s', async (_, before, later, requestLater, attempts) => {
    const clock = jest.spyOn(Date, 'now').mockReturnValue(NOW);
    const { limiter, left } = limiterOver([...before, busy, busy, busy]);
    const token = tokenOf(aKey());
    await limiter.admit(token, NOW).catch(() => undefined);
    clock.mockReturnValue(NOW + later);

    await expect(limiter.admit(token, NOW + requestLater)).rejects.toBe(busy);
    expect(left).toHaveLength(3 - attempts);
  });
});

const lost = (key: KeyRecord) =>
  new ConditionalCheckFailedException({ message: 'lost', $metadata: {}, Item: marshall(key) });
const counted = (key: KeyRecord) => ({ Attributes: marshall(key) });

test.each<[string, number, string]>([
  ['the suspension of another request', NOW + 300_000, 'suspended'],
  ['one that has ended', NOW, 'minute'],
  ['one by an admin until it is resumed', UNTIL_RESUMED, 'minute'],
])('a refusal that reaches the limit handles a suspension that finds %s', async (_, suspendedUntil, reason) => {
  const last = exhausted({ minuteRefused: 5 });
  const { limiter, left } = limiterOver([lost(last), counted(last), lost({ ...last, suspendedUntil })]);

  expect(await limiter.admit(tokenOf(last), NOW)).toMatchObject({ kind: 'refused', reason });
  expect(left).toEqual([]);
});

const usable = aKey({ currentMinute: MINUTE, minuteRefused: 60 });
const full = { ...usable, minuteUsed: 60 };
const [LOST, LOST_FULL, COUNTED_FULL] = [lost(usable), lost(full), counted(full)];
const GONE = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
const LATE = Object.assign(new Error('too late'), { name: 'TimeoutError' });
/** After three writes of so long, a fourth would begin more than five seconds after the first. */
const SLOW = 2_450;

// The function has ten seconds, and no response takes longer than three.
test.each<[string, number, object[]]>([
  ['one that may have arrived', 0, [LATE]],
  ['two whose connection was gone', 0, [GONE, GONE]],
  ['16 that lose a race', 0, Array.from({ length: 16 }, () => LOST)],
  ['an admission that loses all races', SLOW, [LOST, LOST, LOST]],
  ['an admission that loses races, and is throttled then', SLOW, [LOST, LOST, busy]],
  ['one whose connection was gone, and that loses races then', SLOW, [GONE, LOST, busy]],
  ['a refusal that is counted late, and would suspend the key', SLOW, [LOST_FULL, LOST_FULL, COUNTED_FULL]],
  ['a suspension that is throttled', SLOW, [LOST_FULL, COUNTED_FULL, busy]],
])('the limiter gives up after writes that are too many or too late: %s', async (_, duration, endings) => {
  let now = NOW;
  const clock = jest.spyOn(Date, 'now').mockImplementation(() => now);
  const { limiter, left } = limiterOver([...endings, counted(usable)], () => void (now += duration));
  await limiter.admit(tokenOf(usable), NOW).catch(() => undefined);
  clock.mockRestore();

  expect(left).toHaveLength(1);
});
