import { beforeAll, describe, expect, test } from '@jest/globals';
import { LEASE_MS } from '../../../shared/keys/lease.ts';
import { Limiter } from '../../../shared/keys/limiter.ts';
import { describeOnEachEngine } from '../../support/engines.ts';
import { KeysTable } from '../../support/keys-table.ts';
import { patientClient } from '../../support/patient-client.ts';

const NOW = Date.UTC(2025, 5, 15, 12, 34, 30);
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

  test('does not prolong its suspension by going on', async () => {
    const key = await table.issue({ perMinute: 2 });
    await outcomes(4, key.keyHash, NOW);
    await outcomes(5, key.keyHash, NEXT_MINUTE);

    expect(await table.read(key)).toMatchObject({ suspendedUntil: NOW + FIVE_MINUTES });
  });

  test('can be suspended again', async () => {
    const { keyHash } = await table.issue({ perMinute: 2 });
    await outcomes(4, keyHash, NOW);

    expect(await outcomes(4, keyHash, NOW + FIVE_MINUTES)).toEqual(['admitted', 'admitted', 'minute', 'suspended']);
  });

  test('is not suspended where the refusals are of several minutes', async () => {
    const { keyHash } = await table.issue({ perMinute: 2 });
    await outcomes(3, keyHash, NOW);

    expect(await outcomes(3, keyHash, NEXT_MINUTE)).toEqual(['admitted', 'admitted', 'minute']);
  });

  test('is suspended for refusals of the day limit too', async () => {
    const { keyHash } = await table.issue({ perMinute: 2, perDay: 1 });
    await outcomes(1, keyHash, NOW);

    expect(await outcomes(3, keyHash, NEXT_MINUTE)).toEqual(['day', 'suspended', 'suspended']);
  });

  test('is denied, not refused, within a second after it is disabled', async () => {
    const key = await table.issue({ perMinute: 1 });
    await outcomes(2, key.keyHash, NOW);
    await table.setEnabled(key, false);

    expect(await outcomes(1, key.keyHash, NOW + LEASE_MS)).toEqual(['denied']);
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
