import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { beforeAll, expect, test } from '@jest/globals';
import { Limiter } from '../../../shared/keys/limiter.ts';
import { describeOnEachEngine } from '../../support/engines.ts';
import { KeysTable } from '../../support/keys-table.ts';
import { patientClient } from '../../support/patient-client.ts';

const NOW = Date.UTC(2025, 5, 15, 12, 34, 30);
const MINUTE = Math.floor(NOW / 60_000);
const FIVE_MINUTES = 300_000;

describeOnEachEngine('Between two writes for one request', () => {
  let table: KeysTable;
  let others: Limiter;

  beforeAll(async () => {
    const client = patientClient();
    table = await KeysTable.create(client);
    others = new Limiter(client, table.name);
  });

  /** A limiter whose second or later write is preceded by something else. */
  function interruptedBefore(write: number, interruption: () => Promise<unknown>): Limiter {
    const client = patientClient();
    beforeWrite(client, write, interruption);
    return new Limiter(client, table.name);
  }

  test('the last request of the day may be taken by another, which is then not exceeded', async () => {
    const key = await table.issue({ currentMinute: MINUTE - 1, perDay: 10, dayUsed: 9 });
    const limiter = interruptedBefore(2, () => others.admit(key.keyHash, NOW - 60_000));

    expect(await limiter.admit(key.keyHash, NOW)).toMatchObject({ kind: 'refused', reason: 'day' });
    expect(await table.read(key)).toMatchObject({ dayUsed: 10 });
  });

  test('the last request of a new minute may be taken by another, which is then not exceeded', async () => {
    const key = await table.issue({ currentMinute: MINUTE - 1, perMinute: 1 });
    const limiter = interruptedBefore(2, () => others.admit(key.keyHash, NOW));

    expect(await limiter.admit(key.keyHash, NOW)).toMatchObject({ kind: 'refused' });
    expect(await table.read(key)).toMatchObject({ currentMinute: MINUTE, minuteUsed: 1, dayUsed: 1 });
  });

  test('another may start the minute, which then goes on', async () => {
    const key = await table.issue();
    const limiter = interruptedBefore(2, () => others.admit(key.keyHash, NOW));

    expect(await limiter.admit(key.keyHash, NOW)).toMatchObject({ kind: 'admitted', key: { minuteUsed: 2 } });
  });

  test('the minute may end, and the refusal then is one of the new minute, if it still is one', async () => {
    const key = await table.issue({ currentMinute: MINUTE, perMinute: 2, minuteUsed: 2, dayUsed: 2 });
    const limiter = interruptedBefore(2, () => others.admit(key.keyHash, NOW + 60_000));

    expect(await limiter.admit(key.keyHash, NOW)).toMatchObject({
      kind: 'admitted',
      key: { currentMinute: MINUTE + 1, minuteUsed: 2, minuteRefused: 0 },
    });
  });

  test('an admin may raise the limit of a day that is used up, which then goes on', async () => {
    const key = await table.issue({ currentMinute: MINUTE - 1, perDay: 5, dayUsed: 5 });
    const limiter = interruptedBefore(2, () => table.setLimits(key, 60, 10));

    expect(await limiter.admit(key.keyHash, NOW)).toMatchObject({ kind: 'admitted', key: { dayUsed: 6 } });
  });

  test('an admin may disable the key, which then is denied', async () => {
    const key = await table.issue();
    const limiter = interruptedBefore(2, () => table.setEnabled(key, false));

    expect(await limiter.admit(key.keyHash, NOW)).toEqual({ kind: 'denied' });
    expect(await table.read(key)).toMatchObject({ minuteUsed: 0, dayUsed: 0 });
  });

  test('another may suspend the key, which then is not suspended for longer', async () => {
    const key = await table.issue({ currentMinute: MINUTE, perMinute: 2, minuteUsed: 2, minuteRefused: 1 });
    const limiter = interruptedBefore(3, () => others.admit(key.keyHash, NOW - 20_000));

    expect(await limiter.admit(key.keyHash, NOW)).toMatchObject({
      reason: 'suspended',
      rateLimit: { resetsAt: NOW - 20_000 + FIVE_MINUTES },
    });
    expect(await table.read(key)).toMatchObject({ suspendedUntil: NOW - 20_000 + FIVE_MINUTES });
  });
});

function beforeWrite(client: DynamoDBDocumentClient, write: number, interruption: () => Promise<unknown>): void {
  let writes = 0;
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        if (commandName === 'UpdateItemCommand') writes += 1;
        if (commandName === 'UpdateItemCommand' && writes === write) await interruption();
        return next(args);
      },
    { step: 'initialize' },
  );
}
