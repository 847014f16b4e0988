import { setTimeout as sleep } from 'node:timers/promises';
import type { BatchWriteCommandInput, DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { stockItem } from '../../infra/table-items.ts';
import { writeItems } from '../../infra/write-items.ts';
import { isInt64 } from '../../shared/contract/int64.ts';
import type { InventoryItem } from '../../shared/contract/inventory.ts';
import { stockList } from '../../shared/stores/sorted-table.ts';
import { EmbeddedDatabase, patientClient } from '../support/engines.ts';
import { createStockTable } from '../support/tables.ts';

const database = new EmbeddedDatabase();
let client: DynamoDBDocumentClient;
let tableName = '';

beforeEach(async () => {
  client = patientClient();
  tableName = await createStockTable(client);
});

afterEach(() => {
  client.destroy();
  jest.restoreAllMocks();
});

function entry(petId: string | number, quantity = 1, status: InventoryItem['status'] = 'available'): InventoryItem {
  const text = String(petId);
  if (!isInt64(text)) throw new Error(`${text} is not an int64`);
  return { petId: text, quantity, status };
}

const entries = (count: number): InventoryItem[] => Array.from({ length: count }, (_, index) => entry(index + 1));

function* brokenAfter(count: number) {
  yield* entries(count);
  throw new Error('the next line is broken');
}

const writeStock = (
  source: AsyncIterable<InventoryItem> | Iterable<InventoryItem>,
  onWritten?: (count: number) => void,
) => writeItems(client, tableName, source, stockItem, onWritten);

const stored = async () => (await Array.fromAsync(stockList(database.client, tableName).all())).flat();

type Requests = NonNullable<BatchWriteCommandInput['RequestItems']>[string];

/**
 * Lets only so many items of a call through, and hands the others back as DynamoDB does when it is busy.
 *
 * @returns the number of items in each call
 */
function whileBusy(takes: (call: number) => number): number[] {
  const calls: number[] = [];
  client.middlewareStack.add(
    (next) => async (args) => {
      const items = requestsOf(args.input);
      calls.push(items.length);
      const taken = items.slice(0, takes(calls.length));
      const left = items.slice(taken.length);
      const UnprocessedItems = left.length > 0 ? { [tableName]: left } : {};
      if (taken.length === 0) return { output: { $metadata: {}, UnprocessedItems }, response: undefined };
      Object.assign(args.input, { RequestItems: { [tableName]: taken } });
      const answer = await next(args);
      Object.assign(answer.output, { UnprocessedItems });
      return answer;
    },
    { step: 'initialize' },
  );
  return calls;
}

function requestsOf(input: object): NonNullable<Requests> {
  const requestItems = 'RequestItems' in input ? input.RequestItems : undefined;
  const isOfTable = typeof requestItems === 'object' && requestItems !== null && tableName in requestItems;
  const requests: unknown = isOfTable ? Object.values(requestItems)[0] : [];
  return Array.isArray(requests) ? requests : [];
}

describe('writing items', () => {
  test('puts every entry into the table, with every digit', async () => {
    const all = [
      entry('-9223372036854775808', 0, 'sold'),
      entry('9007199254740993', 2_147_483_647, 'pending'),
      entry('9223372036854775807', 5, 'available'),
    ];
    await writeStock(all);

    expect(await stored()).toEqual(all);
  });

  test('replaces the entry that a pet has', async () => {
    await writeStock([entry(1, 5, 'sold'), entry(2, 6)]);
    await writeStock([entry(1, 7, 'available')]);

    expect(await stored()).toEqual([entry(1, 7), entry(2, 6)]);
  });

  test('again leaves the same entries', async () => {
    await writeStock(entries(30));
    await writeStock(entries(30));

    expect(await stored()).toEqual(entries(30));
  });

  test.each([
    [0, []],
    [1, [1]],
    [25, [25]],
    [26, [1, 25]],
    [130, [5, 25, 25, 25, 25, 25]],
  ])('of %d entries takes as few calls as DynamoDB allows: %j', async (count, sizes) => {
    const calls = whileBusy(() => 25);
    await writeStock(entries(count));

    expect(calls.toSorted((a, b) => a - b)).toEqual(sizes);
    expect(await stored()).toHaveLength(count);
  });

  test('takes entries as they come', async () => {
    async function* arriving() {
      for (const one of entries(60)) yield await Promise.resolve(one);
    }
    await writeStock(arriving());

    expect(await stored()).toEqual(entries(60));
  });

  test('takes no more entries than it can write: a file of millions fits', async () => {
    let taken = 0;
    let written = 0;
    let most = 0;
    function* counted() {
      for (const one of entries(500)) {
        taken += 1;
        most = Math.max(most, taken - written);
        yield one;
      }
    }
    await writeStock(counted(), (count) => (written += count));

    expect(most).toBeLessThanOrEqual(5 * 25);
  });

  test('tells how far it is', async () => {
    const progress: number[] = [];
    await writeStock(entries(60), (count) => progress.push(count));

    expect(progress.toSorted((a, b) => a - b)).toEqual([10, 25, 25]);
  });
});

describe('writing items while DynamoDB is busy', () => {
  beforeEach(() => {
    // No waiting between two tries.
    jest.spyOn(Math, 'random').mockReturnValue(0);
  });

  test('tries again with what was handed back', async () => {
    const calls = whileBusy((call) => (call === 1 ? 10 : 25));
    await writeStock(entries(25));

    expect(calls).toEqual([25, 15]);
    expect(await stored()).toEqual(entries(25));
  });

  test('tries ten times, and counts only what is written', async () => {
    const progress: number[] = [];
    const calls = whileBusy((call) => (call < 10 ? 0 : 25));
    await writeStock(entries(3), (count) => progress.push(count));

    expect(calls).toEqual(Array.from({ length: 10 }, () => 3));
    expect(progress).toEqual([3]);
    expect(await stored()).toEqual(entries(3));
  });

  test('gives up at last, and says so', async () => {
    const calls = whileBusy(() => 0);
    const progress: number[] = [];
    const writing = writeStock(entries(3), (count) => progress.push(count));

    await expect(writing).rejects.toThrow(`The table ${tableName} was too busy to take all entries.`);
    expect(calls).toHaveLength(10);
    expect(progress).toEqual([]);
  });

  test('waits longer from try to try', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(0.1);
    const at: number[] = [];
    whileBusy((call) => {
      at.push(Date.now());
      return call < 6 ? 0 : 25;
    });
    await writeStock(entries(1));
    const waits = at.slice(1).map((time, index) => time - (at[index] ?? 0));

    expect(waits).toHaveLength(5);
    for (const [index, wait] of waits.entries()) expect(wait).toBeGreaterThanOrEqual(10 * 2 ** index - 2);
  });
});

describe('writing items that fails', () => {
  test('throws what DynamoDB says', async () => {
    await expect(writeItems(client, 'no-such-table', entries(1), stockItem)).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
    });
  });

  test('throws what its source throws', async () => {
    await expect(writeStock(brokenAfter(25))).rejects.toThrow('the next line is broken');
  });

  test('stops: it takes no more entries than those that were under way', async () => {
    let taken = 0;
    function* counted() {
      for (const one of entries(2_000)) {
        taken += 1;
        yield one;
      }
    }
    whileBusy((call) => {
      if (call === 1) throw new Error('access denied');
      return 25;
    });

    await expect(writeStock(counted())).rejects.toThrow('access denied');
    const atFailure = taken;
    await sleep(500);
    expect(taken - atFailure).toBeLessThanOrEqual(4 * 25);
  });
});
