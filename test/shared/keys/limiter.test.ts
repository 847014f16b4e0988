import { beforeAll, describe, expect, test } from '@jest/globals';
import { Limiter } from '../../../shared/keys/limiter.ts';
import { describeOnEachEngine, patientClient } from '../../support/engines.ts';
import { KeysTable } from '../../support/tables.ts';
import { recordCalls } from '../../support/recorded-calls.ts';

const MINUTE_MS = 60_000;
const NOW = Date.UTC(2025, 5, 15, 12, 34, 30);
const MINUTE = Math.floor(NOW / MINUTE_MS);
const END_OF_MINUTE = Date.UTC(2025, 5, 15, 12, 35);
const END_OF_DAY = Date.UTC(2025, 5, 16);

describeOnEachEngine('The limiter', () => {
  let table: KeysTable;
  let limiter: Limiter;

  beforeAll(async () => {
    const client = patientClient();
    table = await KeysTable.create(client);
    limiter = new Limiter(client, table.name);
  });

  async function admit(times: number, keyHash: string, now: number): Promise<void> {
    for (let time = 0; time < times; time++) {
      expect(await limiter.admit(keyHash, now)).toMatchObject({ kind: 'admitted' });
    }
  }

  describe('denies', () => {
    test('an unknown key', async () => {
      expect(await limiter.admit('00'.repeat(32), NOW)).toEqual({ kind: 'denied' });
    });

    test('a key from the next request on after it was disabled', async () => {
      const key = await table.issue();
      await admit(1, key.keyHash, NOW);
      await table.setEnabled(key, false);

      expect(await limiter.admit(key.keyHash, NOW)).toEqual({ kind: 'denied' });
    });

    test('a key from the millisecond on in which it expires', async () => {
      const { keyHash } = await table.issue({ expiresAt: NOW });

      expect(await limiter.admit(keyHash, NOW - 1)).toMatchObject({ kind: 'admitted' });
      expect(await limiter.admit(keyHash, NOW)).toEqual({ kind: 'denied' });
    });
  });

  describe('admits', () => {
    test('the first request ever of a key, and counts it in its minute and its day', async () => {
      const key = await table.issue();
      const counted = { ...key, currentMinute: MINUTE, minuteUsed: 1, dayUsed: 1 };

      expect(await limiter.admit(key.keyHash, NOW)).toEqual({
        kind: 'admitted',
        key: counted,
        rateLimit: { limit: 60, remaining: 59, resetsAt: END_OF_MINUTE },
      });
      expect(await table.read(key)).toEqual(counted);
    });

    test('a request with one write unit and no read', async () => {
      const { keyHash } = await table.issue();
      await admit(1, keyHash, NOW);
      const client = patientClient();
      const calls = recordCalls(client);
      await new Limiter(client, table.name).admit(keyHash, NOW);

      expect(calls).toMatchObject([{ command: 'UpdateItemCommand', consumed: { CapacityUnits: 1 } }]);
    });
  });

  describe('refuses', () => {
    test('a request over the minute limit, until the minute ends', async () => {
      const { keyHash } = await table.issue({ perMinute: 2 });
      await admit(2, keyHash, NOW);

      expect(await limiter.admit(keyHash, NOW)).toMatchObject({
        kind: 'refused',
        reason: 'minute',
        rateLimit: { limit: 2, remaining: 0, resetsAt: END_OF_MINUTE },
      });
    });

    test('a request over the day limit, until the day ends', async () => {
      const { keyHash } = await table.issue({ perDay: 2 });
      await admit(2, keyHash, NOW);

      expect(await limiter.admit(keyHash, NOW)).toMatchObject({
        kind: 'refused',
        reason: 'day',
        rateLimit: { limit: 2, remaining: 0, resetsAt: END_OF_DAY },
      });
    });

    test('a request without counting it as used, but as refused', async () => {
      const key = await table.issue({ perMinute: 3 });
      await admit(3, key.keyHash, NOW);
      await limiter.admit(key.keyHash, NOW);

      expect(await table.read(key)).toMatchObject({ minuteUsed: 3, dayUsed: 3, minuteRefused: 1 });
    });
  });

  describe('when a window ends', () => {
    test('a full minute makes room for the next in its first millisecond, not before', async () => {
      const { keyHash } = await table.issue({ perMinute: 2 });
      await admit(2, keyHash, NOW);

      expect(await limiter.admit(keyHash, END_OF_MINUTE - 1)).toMatchObject({ kind: 'refused' });
      expect(await limiter.admit(keyHash, END_OF_MINUTE)).toMatchObject({ kind: 'admitted' });
    });

    test('a day that is used up makes room for the next in its first millisecond, not before', async () => {
      const { keyHash } = await table.issue({ perDay: 2 });
      await admit(2, keyHash, NOW);

      expect(await limiter.admit(keyHash, END_OF_DAY - 1)).toMatchObject({ kind: 'refused', reason: 'day' });
      expect(await limiter.admit(keyHash, END_OF_DAY)).toMatchObject({ kind: 'admitted' });
    });

    test('a new minute of a day that is used up refuses, and counts its refusals anew', async () => {
      const key = await table.issue({ perDay: 2 });
      await admit(2, key.keyHash, NOW);
      await limiter.admit(key.keyHash, NOW);
      const verdict = await limiter.admit(key.keyHash, END_OF_MINUTE);

      expect(verdict).toMatchObject({ kind: 'refused', reason: 'day', rateLimit: { resetsAt: END_OF_DAY } });
      expect(await table.read(key)).toMatchObject({
        currentMinute: MINUTE + 1,
        minuteUsed: 0,
        dayUsed: 2,
        minuteRefused: 1,
      });
    });
  });

  describe('when a request comes late', () => {
    test('it counts in the minute that the key has moved on to', async () => {
      const key = await table.issue();
      await admit(1, key.keyHash, END_OF_MINUTE);
      await admit(1, key.keyHash, NOW);

      expect(await table.read(key)).toMatchObject({ currentMinute: MINUTE + 1, minuteUsed: 2, dayUsed: 2 });
    });

    test('it is refused where that minute is full, though its own had room', async () => {
      const { keyHash } = await table.issue({ perMinute: 2 });
      await admit(2, keyHash, END_OF_MINUTE);

      expect(await limiter.admit(keyHash, NOW)).toMatchObject({
        kind: 'refused',
        reason: 'minute',
        rateLimit: { resetsAt: END_OF_MINUTE + MINUTE_MS },
      });
    });
  });
});

const NEXT_MINUTE = Date.UTC(2025, 5, 15, 12, 35);
const FIVE_MINUTES = 300_000;

describeOnEachEngine('A key that is refused as often within a minute as its minute limit', () => {
  let table: KeysTable;
  let limiter: Limiter;

  beforeAll(async () => {
    const client = patientClient();
    table = await KeysTable.create(client);
    limiter = new Limiter(client, table.name);
  });

  /** Sends requests one after the other and says what became of them: `admitted`, `denied` or the reason of refusal. */
  async function outcomes(count: number, keyHash: string, now: number): Promise<string[]> {
    const seen: string[] = [];
    for (let time = 0; time < count; time++) {
      const verdict = await limiter.admit(keyHash, now);
      seen.push(verdict.kind === 'refused' ? verdict.reason : verdict.kind);
    }
    return seen;
  }

  test('is suspended by the last of these refusals, not by the one before', async () => {
    const { keyHash } = await table.issue({ perMinute: 3 });
    await outcomes(3, keyHash, NOW);

    expect(await outcomes(4, keyHash, NOW)).toEqual(['minute', 'minute', 'suspended', 'suspended']);
  });

  test('is told to wait for five minutes', async () => {
    const { keyHash } = await table.issue({ perMinute: 1 });
    await limiter.admit(keyHash, NOW);

    expect(await limiter.admit(keyHash, NOW)).toMatchObject({
      kind: 'refused',
      reason: 'suspended',
      rateLimit: { limit: 1, remaining: 0, resetsAt: NOW + FIVE_MINUTES },
    });
  });

  test('stays refused in new minutes, and is admitted again after five, to the millisecond', async () => {
    const { keyHash } = await table.issue({ perMinute: 2 });
    await outcomes(4, keyHash, NOW);

    expect(await outcomes(1, keyHash, NEXT_MINUTE)).toEqual(['suspended']);
    expect(await outcomes(1, keyHash, NOW + FIVE_MINUTES - 1)).toEqual(['suspended']);
    expect(await outcomes(2, keyHash, NOW + FIVE_MINUTES)).toEqual(['admitted', 'admitted']);
  });

  describe('by concurrent requests', () => {
    test('is suspended by exactly that refusal', async () => {
      const { keyHash } = await table.issue({ perMinute: 20 });
      const seen = await Promise.all(Array.from({ length: 120 }, () => outcomes(1, keyHash, NOW)));
      const count = (outcome: string) => seen.flat().filter((one) => one === outcome).length;

      expect({ admitted: count('admitted'), minute: count('minute'), suspended: count('suspended') }).toEqual({
        admitted: 20,
        minute: 19,
        suspended: 81,
      });
    });
  });
});
