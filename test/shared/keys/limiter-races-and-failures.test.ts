import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { beforeAll, expect, test } from '@jest/globals';
import { documentClient, isUnavailable } from '../../../shared/dynamodb.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { Limiter } from '../../../shared/keys/limiter.ts';
import type { Verdict } from '../../../shared/keys/verdict.ts';
import { describeOnEachEngine, localEndpoint, patientClient, pointSdkAt } from '../../support/engines.ts';
import { acceptForeignErrors } from '../../support/foreign-errors.ts';
import { aKey, KeysTable } from '../../support/tables.ts';
import { freePort } from '../../support/listening.ts';

acceptForeignErrors();

const NOW = Date.UTC(2025, 5, 15, 12, 34, 30);
const MINUTE = Math.floor(NOW / 60_000);
const YESTERDAY = MINUTE - 1_440;
const ENVIRONMENTS = 6;

const counters = (verdicts: readonly Verdict[], name: 'minuteUsed' | 'dayUsed') =>
  verdicts.flatMap((verdict) => (verdict.kind === 'denied' ? [] : verdict.key[name])).toSorted((a, b) => a - b);

const from = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => first + index);

describeOnEachEngine('Concurrent requests', () => {
  let table: KeysTable;
  /** One for each of the execution environments that Lambda would spread the requests over. */
  let limiters: Limiter[];

  beforeAll(async () => {
    table = await KeysTable.create(patientClient());
    limiters = Array.from({ length: ENVIRONMENTS }, () => new Limiter(patientClient(), table.name));
  });

  async function admittedOf(count: number, keyHash: string, timeOf = (_index: number) => NOW): Promise<Verdict[]> {
    const share = count / ENVIRONMENTS;
    const verdicts = await Promise.all(
      limiters.flatMap((limiter, environment) =>
        Array.from({ length: share }, (_, index) => limiter.admit(keyHash, timeOf(environment * share + index))),
      ),
    );
    return verdicts.filter(({ kind }) => kind === 'admitted');
  }

  test('300 on a key that was never used are admitted 60 times, each with a counter value of its own', async () => {
    const { keyHash } = await table.issue({ perMinute: 60 });
    const admitted = await admittedOf(300, keyHash);

    expect(counters(admitted, 'minuteUsed')).toEqual(from(1, 60));
    expect(counters(admitted, 'dayUsed')).toEqual(from(1, 60));
  });

  test('60 that roll a full minute over are admitted as often as the new one has room', async () => {
    const { keyHash } = await table.issue({ perMinute: 20, currentMinute: MINUTE - 1, minuteUsed: 20, dayUsed: 200 });
    const admitted = await admittedOf(60, keyHash);

    expect(counters(admitted, 'minuteUsed')).toEqual(from(1, 20));
    expect(counters(admitted, 'dayUsed')).toEqual(from(201, 220));
  });

  test('60 that roll over a day that is used up are admitted as often as the new one has room', async () => {
    const { keyHash } = await table.issue({ perMinute: 40, perDay: 25, currentMinute: YESTERDAY, dayUsed: 25 });

    expect(counters(await admittedOf(60, keyHash), 'dayUsed')).toEqual(from(1, 25));
  });
});

test('The limiter serves nothing where DynamoDB is out of reach', async () => {
  pointSdkAt(localEndpoint(await freePort()));
  const limiter = new Limiter(documentClient({ maxAttempts: 1, requestTimeout: 1_000 }), 'keys');
  const failure: unknown = await limiter.admit('00'.repeat(32), NOW).catch((error: unknown) => error);

  expect(isUnavailable(failure)).toBe(true);
});

test('The limiter gives up where every one of its writes loses a race', async () => {
  const { client, calls } = losingClient(aKey({ currentMinute: MINUTE }));

  await expect(new Limiter(client, 'keys').admit('00'.repeat(32), NOW)).rejects.toThrow('No decision');
  expect(calls.length).toBeGreaterThan(1);
});

test('The limiter does not repeat a write that may have arrived', async () => {
  const { client, calls } = failingClient([Object.assign(new Error('too late'), { name: 'TimeoutError' })]);

  await expect(new Limiter(client, 'keys').admit('00'.repeat(32), NOW)).rejects.toThrow('too late');
  expect(calls).toHaveLength(1);
});

test('The limiter repeats a write whose connection was gone once and no more', async () => {
  const gone = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
  const { client, calls } = failingClient([gone, gone, gone]);

  await expect(new Limiter(client, 'keys').admit('00'.repeat(32), NOW)).rejects.toThrow('socket hang up');
  expect(calls).toHaveLength(2);
});

describeOnEachEngine('The limiter serves nothing', () => {
  let table: KeysTable;

  beforeAll(async () => {
    table = await KeysTable.create(patientClient());
  });

  test('to a key whose record is broken', async () => {
    const key = await table.issue();
    await table.removeAttribute(key, 'minuteRefused');

    await expect(new Limiter(patientClient(), table.name).admit(key.keyHash, NOW)).rejects.toThrow('minuteRefused');
  });
});

describeOnEachEngine('The limiter, where DynamoDB closed the connection while the function slept,', () => {
  test.each(['ECONNRESET', 'EPIPE'])('counts the request once all the same: %s', async (code) => {
    const table = await KeysTable.create(patientClient());
    const key = await table.issue({ currentMinute: MINUTE });
    const { client } = failingClient([Object.assign(new Error('connection gone'), { code })]);

    expect(await new Limiter(client, table.name).admit(key.keyHash, NOW)).toMatchObject({ kind: 'admitted' });
    expect(await table.read(key)).toMatchObject({ minuteUsed: 1, dayUsed: 1 });
  });
});

/** A client whose first calls fail, each with the next of these errors. */
function failingClient(errors: readonly Error[]): { client: DynamoDBDocumentClient; calls: unknown[] } {
  const client = patientClient();
  const calls: unknown[] = [];
  client.middlewareStack.add(
    (next) => (args) => {
      calls.push(args.input);
      const error = errors[calls.length - 1];
      return error ? Promise.reject(error) : next(args);
    },
    { step: 'initialize' },
  );
  return { client, calls };
}

/** A client whose writes all fail on their condition, bringing the key along or not. */
function losingClient(broughtAlong: KeyRecord | undefined): { client: DynamoDBDocumentClient; calls: unknown[] } {
  const client = documentClient({ maxAttempts: 1, requestTimeout: 1_000 });
  const calls: unknown[] = [];
  client.middlewareStack.add(
    (_, { commandName }) =>
      async ({ input }) => {
        calls.push({ commandName, ...input });
        if (commandName === 'GetItemCommand') return { response: {}, output: { $metadata: {} } };
        const Item = broughtAlong && marshall(broughtAlong);
        throw new ConditionalCheckFailedException({ message: 'lost', $metadata: {}, ...(Item && { Item }) });
      },
    { step: 'initialize' },
  );
  return { client, calls };
}
