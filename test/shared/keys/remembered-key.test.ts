import { ThrottlingException } from '@aws-sdk/client-dynamodb';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { NEVER } from '../../../shared/keys/verdict.ts';
import { REMEMBERED_MS } from '../../../shared/keys/remembered-key.ts';
import { Limiter } from '../../../shared/keys/limiter.ts';
import { recordCalls } from '../../support/recorded-calls.ts';
import { EmbeddedDatabase } from '../../support/engines.ts';
import { generateToken, type Token } from '../../../shared/keys/token.ts';
import { aKey, KeysTable, outcomesOf, parsed } from '../../support/tables.ts';

const NOW = Date.UTC(2025, 5, 15, 12, 34, 30);
const MINUTE = Math.floor(NOW / 60_000);

const database = new EmbeddedDatabase();
let table: KeysTable;
let limiter: Limiter;
let calls: ReturnType<typeof recordCalls>;
/** Calls that DynamoDB throttles from now on. */
let throttled = 0;

beforeAll(async () => {
  table = await KeysTable.create(database.client);
  calls = recordCalls(database.client);
  database.client.middlewareStack.add(
    (next) => (args) => {
      if (throttled-- > 0) throw new ThrottlingException({ message: 'busy', $metadata: {} });
      return next(args);
    },
    { step: 'initialize' },
  );
});

beforeEach(() => {
  limiter = new Limiter(database.client, table.name);
});

const outcomes = (count: number, key: KeyRecord, now = NOW, token?: Token) =>
  outcomesOf(limiter, count, key, now, token);

async function writesOf(work: () => Promise<unknown>): Promise<number> {
  const before = calls.length;
  await work();
  return calls.slice(before).filter(({ command }) => command === 'UpdateItemCommand').length;
}

describe('A key that is used up', () => {
  const usedUp = { perMinute: 5, minuteUsed: 5, currentMinute: MINUTE } as const;

  test('is refused without a write for a second, and no longer', async () => {
    const key = await table.issue(usedUp);
    await outcomes(1, key);
    await table.issue({ ...(await table.read(key)), perMinute: 6 });

    expect(await writesOf(() => outcomes(2, key, NOW + REMEMBERED_MS - 1))).toBe(0);
    expect(await outcomes(1, key, NOW + REMEMBERED_MS)).toEqual(['admitted']);
  });

  test('has refusals from memory counted with the next write, and is suspended for them too', async () => {
    const key = await table.issue(usedUp);

    expect(await outcomes(4, key)).toEqual(['minute', 'minute', 'minute', 'minute']);
    expect(await table.read(key)).toMatchObject({ minuteRefused: 1 });
    expect(await outcomes(1, key)).toEqual(['suspended']);
    expect(await table.read(key)).toMatchObject({ minuteUsed: 5, minuteRefused: 5 });
  });

  test('is not suspended again for refusals from before it was resumed, by a token that is new either', async () => {
    const key = await table.issue(usedUp);
    await outcomes(4, key);
    // A resumption within the same minute.
    await table.issue({ ...(await table.read(key)), minuteRefused: 0, revision: key.revision + 1 });
    const token = await table.addToken(key, { label: 'new' });

    expect(await outcomes(4, key, NOW + REMEMBERED_MS, token)).toEqual(['minute', 'minute', 'minute', 'minute']);
    expect(await outcomes(1, key, NOW + REMEMBERED_MS, token)).toEqual(['suspended']);
  });
});

describe('A key that is denied, or suspended,', () => {
  const suspended = { suspendedUntil: NOW + 300_000, currentMinute: MINUTE - 2, minuteUsed: 60, dayUsed: 60 } as const;

  test.each<[string, Partial<KeyRecord> | undefined, string]>([
    ['unknown', undefined, 'denied'],
    ['suspended until it is resumed', { suspendedUntil: NEVER, suspendedByAdmin: true }, 'denied'],
    ['suspended since an earlier minute', suspended, 'suspended'],
  ])('is so with one write a second, and no longer than that: %s', async (_, state, outcome) => {
    const key = state ? await table.issue(state) : aKey();

    expect(await writesOf(() => outcomes(1, key))).toBe(1);
    expect(await writesOf(async () => expect(await outcomes(1, key, NOW + REMEMBERED_MS - 1)).toEqual([outcome]))).toBe(
      0,
    );
    await table.issue(aKey({ recordId: key.recordId, tokens: key.tokens }));
    expect(await outcomes(1, key, NOW + REMEMBERED_MS)).toEqual(['admitted']);
    expect(await outcomes(1, key, NOW + REMEMBERED_MS - 1)).toEqual(['admitted']);
  });

  test('is forgotten once a thousand others were asked for since, however many there are', async () => {
    const key = aKey();
    await outcomes(1, key);
    expect(await writesOf(() => outcomes(1, key))).toBe(0);
    await Promise.all(Array.from({ length: 1_000 }, () => limiter.admit(parsed(generateToken()), NOW)));

    expect(await writesOf(() => outcomes(1, key))).toBe(1);
  });

  test('is not for a request from before its end, or from another second', async () => {
    const key = await table.issue({ expiresAt: NOW });

    expect(await outcomes(1, key)).toEqual(['denied']);
    expect(await outcomes(1, key, NOW - 1)).toEqual(['admitted']);
    const unknown = aKey();
    await outcomes(1, unknown);
    await table.issue(unknown);
    expect(await outcomes(1, unknown, NOW - REMEMBERED_MS - 1)).toEqual(['admitted']);
  });
});

const wrongTokenFor = ({ recordId }: KeyRecord): Token => parsed(generateToken(recordId));

describe('A token that is wrong', () => {
  test('counts nothing and suspends nothing where the key is used up', async () => {
    const key = await table.issue({ perMinute: 3, minuteUsed: 3, currentMinute: MINUTE });
    const token = wrongTokenFor(key);
    const before = await table.read(key);
    for (let second = 0; second < 5; second++) {
      expect(await outcomes(2, key, NOW + second * REMEMBERED_MS, token)).toEqual(['denied', 'denied']);
    }

    expect(await table.read(key)).toEqual(before);
    expect(await outcomes(2, key, NOW + 5 * REMEMBERED_MS)).toEqual(['minute', 'minute']);
  });

  test('is refused without a write until one second after a good one has read the item', async () => {
    const key = await table.issue();
    const token = wrongTokenFor(key);
    expect(await writesOf(() => outcomes(1, key))).toBeGreaterThan(0);
    const refusals = async () => {
      for (const later of [0, 500, REMEMBERED_MS - 1])
        expect(await outcomes(1, key, NOW + later, token)).toEqual(['denied']);
    };

    expect(await writesOf(refusals)).toBe(0);
    const tokens = { [token.hash]: { until: NEVER, access: 'full', label: 'new', last: '0000', since: NOW } } as const;
    await table.issue({ ...(await table.read(key)), tokens });
    expect(await outcomes(1, key, NOW + REMEMBERED_MS, token)).toEqual(['admitted']);
  });
});
