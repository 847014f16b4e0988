import { setImmediate as turn } from 'node:timers/promises';
import type { BatchWriteCommand, DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { stockItem } from '../../shared/stores/stock-store.ts';
import { type Item, writeItems } from '../../infra/write-items.ts';
import { anEntry } from '../support/tables.ts';

const TABLE = 'stock';

/** What was written, in the order of writing, and how many items each call had. */
let written: Item[];
let calls: number[];
/** How many entries were taken of a source that counts them. */
let taken: number;

/** A table that takes so many items of a call, and hands the others back as DynamoDB does when it is busy. */
function table(takes: (call: number) => number | Promise<number> = () => 25): DynamoDBDocumentClient {
  const client = {
    async send({ input }: BatchWriteCommand) {
      const requests = input.RequestItems?.[TABLE] ?? [];
      calls.push(requests.length);
      const accepted = await takes(calls.length);
      written.push(...requests.slice(0, accepted).map(({ PutRequest }) => PutRequest?.Item ?? {}));
      const left = requests.slice(accepted);
      return left.length > 0 ? { UnprocessedItems: { [TABLE]: left } } : {};
    },
  };
  // The one call that is made of it.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return client as unknown as DynamoDBDocumentClient;
}

beforeEach(() => {
  written = [];
  calls = [];
  taken = 0;
  // No waiting between two tries.
  jest.spyOn(Math, 'random').mockReturnValue(0);
});

afterEach(() => void jest.restoreAllMocks());

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
const item = (id: number): Item => ({ id });
const ascending = (values: readonly number[]): number[] => values.toSorted((a, b) => a - b);
const writtenIds = (): number[] => ascending(written.map(({ id }) => Number(id)));

/** Numbers of which it is counted how many were taken. */
function* counted(count: number) {
  for (const one of numbers(count)) {
    taken += 1;
    yield one;
  }
}

test.each([
  [0, []],
  [25, [25]],
  [26, [1, 25]],
])('%d entries take as few calls as DynamoDB allows, and each is reported: %j', async (count, sizes) => {
  const progress: number[] = [];
  await writeItems(table(), TABLE, numbers(count), item, (added) => progress.push(added));

  expect(ascending(calls)).toEqual(sizes);
  expect(ascending(progress)).toEqual(sizes);
  expect(writtenIds()).toEqual(numbers(count));
});

test('No more entries are taken than can be written: a file of millions fits', async () => {
  let [done, most] = [0, 0];
  const toItem = (id: number): Item => {
    most = Math.max(most, taken - done);
    return item(id);
  };
  await writeItems(table(), TABLE, counted(1_000), toItem, (count) => (done += count));

  expect(writtenIds()).toEqual(numbers(1_000));
  expect(most).toBeLessThanOrEqual(10 * 25);
});

describe('While DynamoDB is busy', () => {
  test('what was handed back is tried again', async () => {
    const busyOnce = table((call) => (call === 1 ? 10 : 25));
    await writeItems(busyOnce, TABLE, numbers(25), item);

    expect(calls).toEqual([25, 15]);
    expect(writtenIds()).toEqual(numbers(25));
  });

  test.each([
    ['takes it at the tenth try', 10, [3], undefined],
    ['does not', 11, [], 'Error: The table stock was too busy to take all entries.'],
  ])('it %s', async (_, takenAt, progress, failure) => {
    const found: number[] = [];
    const busy = table((call) => (call < takenAt ? 0 : 25));
    const outcome = await writeItems(busy, TABLE, numbers(3), item, (count) => found.push(count)).catch(String);

    expect(outcome).toBe(failure);
    expect(calls).toHaveLength(10);
    expect(found).toEqual(progress);
  });

  test('the wait gets longer from try to try', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(0.1);
    const at: number[] = [];
    const busy = table((call) => {
      at.push(performance.now());
      return call < 6 ? 0 : 25;
    });
    await writeItems(busy, TABLE, numbers(1), item);
    const waits = at.slice(1).map((time, index) => time - (at[index] ?? 0));

    for (const [index, wait] of waits.entries()) expect(wait).toBeGreaterThanOrEqual(10 * 2 ** index - 2);
  });
});

test('A write that fails throws what DynamoDB reports, and stops with what was under way', async () => {
  const denying = table(async (call) => {
    await turn();
    if (call === 1) throw new Error('access denied');
    return 25;
  });

  await expect(writeItems(denying, TABLE, counted(2_000), item)).rejects.toThrow('access denied');
  const atFailure = taken;
  for (const _ of numbers(100)) await turn();
  expect(taken - atFailure).toBeLessThanOrEqual(4 * 25);
  expect(taken).toBeLessThanOrEqual(12 * 25);
});

function* broken() {
  yield* numbers(25);
  throw new Error('the next line is broken');
}

test('A source that fails fails the write', async () => {
  await expect(writeItems(table(), TABLE, broken(), item)).rejects.toThrow('the next line is broken');
});

test('An entry that is written again has a version that it never had', () => {
  const versions = [1, 2].map(() => stockItem(anEntry(1)).version);

  expect(versions).toEqual([expect.stringMatching(/^[\w-]{12}$/), expect.stringMatching(/^[\w-]{12}$/)]);
  expect(new Set(versions).size).toBe(2);
});
