import { setImmediate as turn } from 'node:timers/promises';
import type { BatchWriteCommand, DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { type Item, writeItems } from '../../infra/write-items.ts';
import { stockItem } from '../../shared/stores/stock-store.ts';
import { anEntry } from '../support/tables.ts';

let written: number[];
/** How many items each call had. */
let calls: number[];
/** How many entries were taken of a source. */
let taken: number;

beforeEach(() => {
  [written, calls, taken] = [[], [], 0];
  // No waiting between two tries.
  jest.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(() => void jest.restoreAllMocks());

const item = (id: number): Item => ({ id });
const ascending = (values: readonly number[]): number[] => values.toSorted((a, b) => a - b);

function* numbers(count: number) {
  for (let one = 0; one < count; one++) {
    taken += 1;
    yield one;
  }
}

/** Writes entries to a table that takes so many items of a call, and hands back the others as a busy DynamoDB does. */
function write(
  entries: Iterable<number>,
  accepts: (call: number) => number | Promise<number> = () => 25,
  ...rest: [toItem?: typeof item, onWritten?: (count: number) => void]
): Promise<void> {
  const client = {
    async send({ input }: BatchWriteCommand) {
      const requests = input.RequestItems?.['stock'] ?? [];
      calls.push(requests.length);
      const accepted = await accepts(calls.length);
      written.push(...requests.slice(0, accepted).map(({ PutRequest }) => Number(PutRequest?.Item?.['id'])));
      const left = requests.slice(accepted);
      return left.length > 0 ? { UnprocessedItems: { stock: left } } : {};
    },
  };
  const [toItem = item, onWritten] = rest;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the one call that is made of it
  return writeItems(client as unknown as DynamoDBDocumentClient, 'stock', entries, toItem, onWritten);
}

test('Entries take as few calls as DynamoDB allows, each is reported, and no more are taken than can be written', async () => {
  const progress: number[] = [];
  let [done, most] = [0, 0];
  const toItem = (id: number): Item => {
    most = Math.max(most, taken - done);
    return item(id);
  };
  await write(numbers(1_001), undefined, toItem, (count) => {
    progress.push(count);
    done += count;
  });

  expect(ascending(written)).toEqual([...numbers(1_001)]);
  expect(ascending(calls)).toEqual([1, ...Array.from({ length: 40 }, () => 25)]);
  expect(ascending(progress)).toEqual(ascending(calls));
  expect(most).toBeLessThanOrEqual(10 * 25);
});

test.each([
  ['takes the rest at the tenth try', 10, [3], undefined],
  ['does not', 11, [], 'Error: The table stock throttled, and did not accept all entries.'],
])('A busy table is tried ten times: it %s', async (_, takenAt, progress, failure) => {
  const found: number[] = [];
  const accepts = (call: number) => (call < takenAt ? 0 : 25);
  const outcome = await write(numbers(3), accepts, item, (count) => found.push(count)).catch(String);

  expect({ outcome, calls: calls.length, found }).toEqual({ outcome: failure, calls: 10, found: progress });
});

test('A retry writes only the entries that a busy table handed back', async () => {
  await write(numbers(25), (call) => (call < 5 ? 1 : 25));

  expect(calls).toEqual([25, 24, 23, 22, 21]);
  expect(ascending(written)).toEqual([...numbers(25)]);
});

test('A write that fails throws what DynamoDB reports, and stops with what was under way', async () => {
  const failing = write(numbers(2_000), async (call) => {
    await turn();
    if (call === 1) throw new Error('access denied');
    return 25;
  });

  await expect(failing).rejects.toThrow('access denied');
  const atFailure = taken;
  for (let turns = 0; turns < 100; turns++) await turn();
  expect(taken - atFailure).toBeLessThanOrEqual(4 * 25);
  expect(taken).toBeLessThanOrEqual(12 * 25);
});

function* broken() {
  yield* numbers(25);
  throw new Error('the next line is broken');
}

test('A source that fails fails the write', async () => {
  await expect(write(broken())).rejects.toThrow('the next line is broken');
});

test('An entry that is written again has a version that it never had', () => {
  expect(new Set([1, 2, 3].map(() => stockItem(anEntry(1)).version)).size).toBe(3);
});
