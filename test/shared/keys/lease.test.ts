import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import {
  giveBack,
  isLeased,
  LEASE_MS,
  Leases,
  leaseSize,
  nothingToSettle,
  type Terms,
} from '../../../shared/keys/lease.ts';
import { type RateLimit, refusal } from '../../../shared/keys/verdict.ts';
import { aKey } from '../../support/key-records.ts';

const NOW = Date.UTC(2025, 5, 15, 12, 34, 30);
const MINUTE = Math.floor(NOW / 60_000);
const END_OF_MINUTE = Date.UTC(2025, 5, 15, 12, 35);
const HASH = 'ab'.repeat(32);

/** A leased key after a write took some requests. */
const key = (differences: Partial<KeyRecord> = {}): KeyRecord =>
  aKey({ perMinute: 6_000, perDay: 1_000_000, currentMinute: MINUTE, minuteUsed: 10, dayUsed: 500, ...differences });

const terms = (differences: Partial<Terms> = {}): Terms => ({
  taken: 10,
  wanted: 10,
  now: NOW,
  until: Infinity,
  ...differences,
});

/** Leases that remember one of these terms. */
function granted(record = key(), differences: Partial<Terms> = {}): Leases {
  const leases = new Leases();
  leases.grant(HASH, record, terms(differences));
  return leases;
}

const full = key({ minuteUsed: 6_000, minuteRefused: 1 });

function refused(record = full, now = NOW): Leases {
  const leases = new Leases();
  leases.refuse(HASH, refusal(record, now), terms({ now }));
  return leases;
}

function useTimes(times: number, leases: Leases, now = NOW): (RateLimit | undefined)[] {
  return Array.from({ length: times }, () => {
    const verdict = leases.use(HASH, now);
    return verdict && verdict.kind !== 'denied' ? verdict.rateLimit : undefined;
  });
}

test.each([
  ['is not', 1_000, false],
  ['is', 1_001, true],
])('A key %s leased at %i requests a minute', (_, perMinute, leased) => {
  expect(isLeased(aKey({ perMinute }))).toBe(leased);
});

describe('The size of a lease is', () => {
  test.each([
    ['what is wanted, where there is plenty', 64_000, 50, 50],
    ['a 64th of what is left, where more is wanted', 6_400, 500, 100],
    ['rounded up, so that the last of a window can be taken', 65, 500, 2],
    ['the request at hand, where one is left', 1, 500, 1],
    ['the request at hand, where nothing is left', 0, 500, 1],
    ['the request at hand, where the limit was lowered below what is used', -200, 500, 1],
  ])('%s', (_, room, wanted, size) => {
    expect(leaseSize(room, wanted)).toBe(size);
  });

  test('never more than there is, nor more than is wanted', () => {
    const positive = fc.integer({ min: 1, max: 10_000_000 });
    fc.assert(
      fc.property(positive, positive, (room, wanted) => {
        expect(leaseSize(room, wanted)).toBeLessThanOrEqual(Math.min(room, wanted));
      }),
    );
  });
});

describe('Unused requests', () => {
  const lastOfDay = Math.floor(Date.UTC(2025, 5, 15, 23, 59) / 60_000);

  test.each([
    ['go back to both windows within their minute', MINUTE, MINUTE, { ofMinute: 7, ofDay: 7 }],
    ['go back to the day in a later minute', MINUTE, MINUTE + 1, { ofMinute: 0, ofDay: 7 }],
    ['go back to the day in its last minute', MINUTE, lastOfDay, { ofMinute: 0, ofDay: 7 }],
    ['are gone with their day', lastOfDay, lastOfDay + 1, { ofMinute: 0, ofDay: 0 }],
    ['do not go back to the same minute of the next day', MINUTE, MINUTE + 1_440, { ofMinute: 0, ofDay: 0 }],
  ])('%s', (_, takenIn, writtenIn, expected) => {
    const settlement = { ...nothingToSettle, key: key({ currentMinute: takenIn }), unused: 7 };

    expect(giveBack(settlement, writtenIn)).toEqual(expected);
  });

  test('are none where nothing is remembered', () => {
    expect(giveBack(nothingToSettle, MINUTE)).toEqual({ ofMinute: 0, ofDay: 0 });
  });
});

describe('A lease', () => {
  test('admits as many requests as were taken, the one at hand included', () => {
    expect(useTimes(4, granted(key(), { taken: 3 })).map((verdict) => verdict !== undefined)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  test('gives each request the count that it would have with a write of its own', () => {
    const leases = new Leases();
    const verdicts = [leases.grant(HASH, key(), terms({ taken: 3 })), leases.use(HASH, NOW), leases.use(HASH, NOW)];

    expect(verdicts).toMatchObject(
      [
        { minuteUsed: 8, dayUsed: 498 },
        { minuteUsed: 9, dayUsed: 499 },
        { minuteUsed: 10, dayUsed: 500 },
      ].map((counters) => ({
        kind: 'admitted',
        key: counters,
        rateLimit: { limit: 6_000, remaining: 6_000 - counters.minuteUsed, resetsAt: END_OF_MINUTE },
      })),
    );
  });

  test('admits requests of its own key only', () => {
    expect(granted().use('cd'.repeat(32), NOW)).toBeUndefined();
  });

  test('admits a request that comes late', () => {
    expect(granted().use(HASH, NOW - 60_000)).toMatchObject({ key: { currentMinute: MINUTE } });
  });

  const lastMoment = END_OF_MINUTE - 1;
  test.each([
    ['after its time', NOW + LEASE_MS, key(), {}],
    ['with its minute', END_OF_MINUTE, key(), { now: lastMoment }],
    ['with its key', NOW + 300, key({ expiresAt: NOW + 300 }), {}],
    ['with the key that the request came with', NOW + 200, key({ expiresAt: NOW + 300 }), { until: NOW + 200 }],
  ])('ends %s, to the millisecond', (_, end, record, differences) => {
    const leases = granted(record, differences);

    expect(leases.use(HASH, end - 1)).toMatchObject({ kind: 'admitted' });
    expect(leases.use(HASH, end)).toBeUndefined();
  });

  test('leaves what was not used to the next write, once', () => {
    const leases = granted();
    useTimes(3, leases);

    expect(leases.end(HASH, NOW + LEASE_MS)).toMatchObject({ key: { minuteUsed: 10 }, unused: 6 });
    expect(leases.end(HASH, NOW + LEASE_MS)).toEqual(nothingToSettle);
  });

  test('is forgotten when it ends', () => {
    const leases = granted();
    leases.end(HASH, NOW);

    expect(leases.use(HASH, NOW)).toBeUndefined();
  });

  test.each([
    ['for as many as half a second needs', { used: 101, after: 1_000, wanted: 200 }, 51],
    ['for no more than eight times as many', { used: 5, after: 1, wanted: 5 }, 40],
    ['for no more than eight times as many, where all come at once', { used: 5, after: 0, wanted: 5 }, 40],
    ['for one, where there are few', { used: 3, after: 900_000, wanted: 200 }, 1],
    ['as for one instant, where the last request is late', { used: 5, after: -5_000, wanted: 5 }, 40],
  ])('asks %s', (_, { used, after, wanted }, next) => {
    const leases = granted(key(), { taken: 1_000, wanted });
    useTimes(used - 1, leases);

    expect(leases.end(HASH, NOW + after).wanted).toBe(next);
  });
});

describe('A refusal', () => {
  test('answers all requests, and leaves their number to the next write', () => {
    const leases = refused();

    const answer = { limit: 6_000, remaining: 0, resetsAt: END_OF_MINUTE };
    expect(useTimes(3, leases)).toEqual([answer, answer, answer]);
    expect(leases.end(HASH, NOW + LEASE_MS)).toMatchObject({ key: full, refused: 3, unused: 0, wanted: 10 });
  });

  const suspended = key({ suspendedUntil: NOW + 400 });
  test.each([
    ['after its time', NOW + LEASE_MS, full, NOW],
    ['with its window', END_OF_MINUTE, full, END_OF_MINUTE - 10],
    ['with the suspension', NOW + 400, suspended, NOW],
    ['with its key', NOW + 300, { ...full, expiresAt: NOW + 300 }, NOW],
  ])('ends %s, to the millisecond', (_, end, record, now) => {
    const leases = refused(record, now);

    expect(leases.use(HASH, end - 1)).toMatchObject({ kind: 'refused' });
    expect(leases.use(HASH, end)).toBeUndefined();
  });

  test('ends with the key that the request came with, to the millisecond', () => {
    const leases = new Leases();
    leases.refuse(HASH, refusal(full, NOW), terms({ until: NOW + 200 }));

    expect(leases.use(HASH, NOW + 199)).toMatchObject({ kind: 'refused' });
    expect(leases.use(HASH, NOW + 200)).toBeUndefined();
  });

  test('for a suspension leaves nothing to the next write: these are not counted', () => {
    const leases = refused(suspended);
    useTimes(3, leases);

    expect(leases.end(HASH, NOW)).toMatchObject({ refused: 0 });
  });

  test('does not stand in the way of requests that were taken at the same time', () => {
    const leases = granted();
    leases.refuse(HASH, refusal(full, NOW), terms());

    expect(leases.use(HASH, NOW)).toMatchObject({ kind: 'admitted' });
  });
});

describe('Answers to concurrent writes of one environment', () => {
  test('add up what they took', () => {
    const leases = granted();
    leases.grant(HASH, key({ minuteUsed: 15 }), terms({ taken: 5 }));

    expect(leases.end(HASH, NOW)).toMatchObject({ unused: 13 });
  });

  test('add up what they took with what was used meanwhile', () => {
    const leases = granted();
    useTimes(4, leases);
    leases.grant(HASH, key({ minuteUsed: 15 }), terms({ taken: 5 }));

    expect(leases.end(HASH, NOW)).toMatchObject({ unused: 9 });
  });

  test('do not carry requests of one minute into the next', () => {
    const leases = granted();
    leases.grant(HASH, key({ currentMinute: MINUTE + 1, minuteUsed: 5 }), terms({ taken: 5, now: END_OF_MINUTE }));

    expect(leases.end(HASH, END_OF_MINUTE)).toMatchObject({ key: { currentMinute: MINUTE + 1 }, unused: 4 });
  });

  test('that overtake each other promise no more than is left', () => {
    const leases = granted(key({ minuteUsed: 20, dayUsed: 520 }));
    const verdict = leases.grant(HASH, key({ minuteUsed: 10, dayUsed: 510 }), terms());

    expect(verdict).toMatchObject({ key: { minuteUsed: 2, dayUsed: 502 }, rateLimit: { remaining: 5_998 } });
  });

  test.each([
    ['another refusal', (leases: Leases) => leases.refuse(HASH, refusal(full, NOW), terms())],
    ['requests that were taken', (leases: Leases) => void leases.grant(HASH, full, terms())],
  ])('forget no refusal: %s', (_, answer) => {
    const leases = refused();
    useTimes(3, leases);
    answer(leases);

    expect(leases.end(HASH, NOW)).toMatchObject({ refused: 3 });
  });
});

test('Leases remember a thousand keys, and forget the one that was written longest ago', () => {
  const leases = new Leases();
  const hashes = Array.from({ length: 1_001 }, (_, index) => index.toString(16).padStart(64, '0'));
  const [first = '', second = '', ...others] = hashes;
  for (const hash of hashes.slice(0, -1)) leases.grant(hash, key(), terms());
  leases.end(first, NOW);
  leases.grant(first, key(), terms());
  leases.grant(others.at(-1) ?? '', key(), terms());

  expect(leases.use(second, NOW)).toBeUndefined();
  expect([first, ...others].filter((hash) => leases.use(hash, NOW)?.kind !== 'admitted')).toEqual([]);
});
