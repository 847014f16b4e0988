import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DynamoDBDocumentClient, paginateScan } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { importFile } from '../../../infra/admin/commands/record-commands.ts';
import { stockEntries } from '../../../infra/admin/records/record-kinds.ts';
import { type RestoreOptions, restoreTable } from '../../../infra/admin/records/restore-table.ts';
import type { Target } from '../../../infra/admin/service/target.ts';
import type { TableName } from '../../../infra/tables.ts';
import { writeItems } from '../../../infra/local/dynamodb/tables.ts';
import { documentClient } from '../../../shared/dynamodb.ts';
import type { Item } from '../../../shared/item-attributes.ts';
import { StockHistory } from '../../../shared/stores/stock-history.ts';
import { petItem } from '../../../shared/stores/find-pet.ts';
import { UNTIL_RESUMED } from '../../../shared/keys/key-record.ts';
import { engines, pointSdkAt } from '../../support/engines.ts';
import { dynamoDBError, FaultyEngine } from '../../support/faulty-engine.ts';
import { acceptForeignErrors } from '../../support/foreign-errors.ts';
import { int64 } from '../../support/int64.ts';
import { InProcessTarget } from '../../support/in-process-target.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import {
  aKey,
  createChangesTable,
  createKeysTable,
  createPetsTable,
  createRequestsTable,
  createStockTable,
} from '../../support/tables.ts';
import { HANG_MS } from '../../support/until.ts';

acceptForeignErrors();
const directory = temporaryDirectory();

const entries = (quantity: number, ...[from, to = from + 1]: [from: number, to?: number]): Item[] =>
  Array.from({ length: to - from }, (_, at) => ({
    storeId: 'main',
    petId: from + at,
    quantity,
    status: 'sold',
    version: `v${quantity}`,
  }));
const pet = (id: string, name: string): Item =>
  petItem({ id: int64(id), name: 'Rex', photoUrls: [`https://example.com/${name}`], tags: [{ id: int64('2'), name }] });

const number = (value: number) => expect.objectContaining({ value: String(value) });
const isWrite = (action: string): boolean => action === 'PutItem' || action === 'DeleteItem';

describe.each(engines)('a restore, on %s', (_engine, start) => {
  const world = new InProcessTarget();
  let engine: FaultyEngine;
  let client: DynamoDBDocumentClient;
  let target: Target;
  let live: string;
  let copy: string;
  let changes: string;

  beforeAll(async () => {
    engine = await FaultyEngine.start(start);
    pointSdkAt(engine.endpoint);
    // As the admin command has it: an idle connection may be gone.
    client = documentClient({ requestTimeout: HANG_MS, maxAttempts: 5 });
  });
  afterAll(async () => {
    client.destroy();
    world.close();
    await engine.stop();
  });

  async function itemsOf(TableName: string): Promise<Item[]> {
    const pages = await Array.fromAsync(paginateScan({ client }, { TableName, ConsistentRead: true }));
    const items = pages.flatMap(({ Items = [] }) => Items);
    return items.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }
  const found = async (recordId: string) => (await itemsOf(live)).find((item) => item['recordId'] === recordId);
  const put = (table: string, items: readonly Item[]) => writeItems(client, table, items, (item) => item);

  /** @param now how the table is @param before how it was when AWS copied it */
  async function given(name: TableName, create: typeof createStockTable, now: Item[], before: Item[]): Promise<void> {
    engine.faults = () => undefined;
    engine.beforeCall = () => Promise.resolve();
    [copy, live] = [await create(client), await create(client)];
    changes = await createChangesTable(client);
    const stockHistory = new StockHistory({ client, tableName: changes, onLost: () => undefined });
    target = { ...world.target, documents: client, stockHistory, tables: { ...world.target.tables, [name]: live } };
    await put(copy, before);
    await put(live, now);
  }
  /** Stock without its versions. */
  const contentOf = async (table: string) => (await itemsOf(table)).map(({ version: _version, ...item }) => item);
  /** Has the response to the first call of an action lost: the SDK repeats the call. */
  function loseFirst(action: string): void {
    let isLost = false;
    engine.faults = (call) =>
      call.action === action && !isLost && (isLost = true) ? { kind: 'lostResponse' } : undefined;
  }
  const restore = (table: TableName, options: Partial<RestoreOptions> = {}) =>
    restoreTable(target, table, { from: copy, exact: false, open: false, dryRun: false, ...options }, () => undefined);

  describe('of stock that was changed, deleted and added since', () => {
    beforeEach(async () => {
      // More than one page of the scan.
      const before = entries(1, 0, 120);
      await given(
        'stock',
        createStockTable,
        [...entries(2, 0, 20), ...before.slice(40), ...entries(3, 120, 130)],
        before,
      );
    });

    test('only counts in a dry run, adds what is missing, and equals the copy only if it must be exact', async () => {
      const unchanged = await itemsOf(live);
      const all = { added: 20, changed: 20, deleted: 10 };
      expect(await restore('stock', { exact: true, dryRun: true })).toMatchObject(all);
      expect(await itemsOf(live)).toEqual(unchanged);

      expect(await restore('stock')).toMatchObject({ added: 20, changed: 0, deleted: 0, changedMeanwhile: [] });
      expect(await itemsOf(live)).toEqual(expect.arrayContaining(unchanged));
      expect(await itemsOf(live)).toHaveLength(130);

      expect(await restore('stock', { exact: true })).toMatchObject({ ...all, added: 0 });
      expect(await contentOf(live)).toEqual(await contentOf(copy));
      expect(await restore('stock', { exact: true })).toMatchObject({ added: 0, changed: 0, deleted: 0 });
    });

    test('that was interrupted is completed by another run', async () => {
      for (const left of [0, 1, 25]) {
        let writes = 0;
        engine.faults = ({ action }) =>
          isWrite(action) && (writes += 1) > left ? dynamoDBError(400, 'AccessDeniedException') : undefined;
        await expect(restore('stock', { exact: true })).rejects.toThrow('a fault');
      }
      engine.faults = () => undefined;
      await restore('stock', { exact: true });

      expect(await contentOf(live)).toEqual(await contentOf(copy));
    });

    test('gives each entry a new version, and records what it replaced', async () => {
      await restore('stock', { exact: true });
      const versions = (await itemsOf(live)).map(({ version }) => String(version));
      const recorded = await itemsOf(changes);
      const of = (petId: number) =>
        recorded.find((record) => JSON.stringify(record['petId']) === JSON.stringify({ value: String(petId) }));

      expect(versions.filter((version) => version === 'v1')).toHaveLength(80);
      expect(recorded).toHaveLength(50);
      const how = { who: 'ann', how: 'restore', reason: `from ${copy}` };
      expect(of(0)).toMatchObject({ ...how, quantity: number(1), was: number(2), replaced: 'v2' });
      expect(versions).toContain(String(of(0)?.['change']).slice(-12));
      expect(of(20)).toMatchObject({ ...how, quantity: number(1), replaced: 'none' });
      expect(of(125)).toMatchObject({ ...how, was: number(3), replaced: 'v3' });
      expect(of(125)).not.toHaveProperty('quantity');
    });

    test.each(['PutItem', 'DeleteItem'])('recognizes its own write after a lost response: %s', async (action) => {
      loseFirst(action);

      expect(await restore('stock', { exact: true })).toMatchObject({ added: 20, deleted: 10, changedMeanwhile: [] });
    });

    test('keeps and names what others change after it was read', async () => {
      // Written before the first put, and before the first deletion, of what was read by then.
      const others = new Map<string, Promise<void>>();
      engine.beforeCall = async ({ action }) => {
        if (isWrite(action) && !others.has(action))
          others.set(
            action,
            put(live, action === 'PutItem' ? [...entries(9, 10), ...entries(9, 30)] : entries(9, 125)),
          );
        await others.get(action);
      };
      const { changedMeanwhile } = await restore('stock', { exact: true });

      expect(changedMeanwhile.toSorted()).toEqual(['10', '125', '30']);
      expect((await itemsOf(live)).filter(({ version }) => version === 'v9')).toHaveLength(3);
    });
  });

  test('by an import asks for confirmation on a stage, and keeps what others change after that', async () => {
    await given('stock', createStockTable, entries(3, 1, 3), []);
    const file = join(directory, 'stock.csv');
    writeFileSync(file, 'petId,quantity,status\n1,5,sold\n2,5,sold\n3,5,sold\n');
    const unchanged = await itemsOf(live);
    const importing = (yes: boolean) => {
      const onStage = { ...target, stage: 'staging', place: 'the stage staging' } as const;
      return importFile(onStage, stockEntries, { dryRun: false, yes, reason: 'count' }, file);
    };
    const stderr = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
    await expect(importing(false)).rejects.toThrow('the stage staging? The replaced values');
    stderr.mockRestore();
    expect(await itemsOf(live)).toEqual(unchanged);

    let other: Promise<void> | undefined;
    engine.beforeCall = async ({ action }) => {
      if (action === 'PutItem') await (other ??= put(live, entries(9, 1)));
    };
    const { value } = await importing(true);
    process.exitCode = 0;
    expect(value).toMatchObject({ added: 1, changed: 1, changedMeanwhile: ['1'], imported: 2 });
    const recorded = { who: 'ann', how: 'import', reason: 'count', quantity: number(5), status: 'sold' };
    expect(await itemsOf(changes)).toMatchObject([
      { ...recorded, petId: number(2), was: number(3), replaced: 'v3' },
      { ...recorded, petId: number(3), replaced: 'none' },
    ]);
    const versions = (await itemsOf(live)).map(({ version }) => version);
    expect(versions).toContain('v9');
    expect(new Set(versions).size).toBe(3);
  });

  test('of pets compares lists and maps too', async () => {
    const more = { ...pet('3', 'same'), category: 'dogs' };
    const [now, before] = [
      [pet('1', 'new'), more],
      [pet('1', 'old'), pet('3', 'same')],
    ];
    await given('pets', createPetsTable, [pet('2', 'same'), ...now], [pet('2', 'same'), ...before]);

    expect(await restore('pets', { exact: true })).toMatchObject({ changed: 2, changedMeanwhile: [] });
    expect(await itemsOf(live)).toEqual(await itemsOf(copy));
  });

  test('is refused from a table with other keys, and from itself', async () => {
    await given('stock', createRequestsTable, [], []);
    copy = await createStockTable(client);

    await expect(restore('stock')).rejects.toThrow(`The table ${copy} is not a copy of ${live}.`);
    await expect(restore('stock', { from: live })).rejects.toThrow('is not a copy of');
  });

  describe('of keys', () => {
    const [gone, there, byHand] = [aKey({ dayUsed: 7 }), aKey(), { ...aKey(), recordId: 'f'.repeat(64) }];

    beforeEach(async () => {
      world.reset();
      await given('keys', createKeysTable, [{ ...there, revoked: true }], [gone, there, byHand]);
    });

    test('adds a missing key as it was, suspended and with a pending sync, and keeps a revoked one', async () => {
      loseFirst('PutItem');
      const counts = { added: 1, changed: 0, changedMeanwhile: [] };
      expect(await restore('keys')).toMatchObject({ ...counts, lost: [`${byHand.name} (${byHand.keyId})`] });
      const restored = await found(gone.recordId);
      expect(restored).toMatchObject({
        name: gone.name,
        tokens: { [Object.keys(gone.tokens)[0] ?? '']: { label: 'main' } },
        dayUsed: number(7),
        unappliedSince: expect.anything(),
        enabled: false,
        suspendedUntil: number(UNTIL_RESUMED),
        suspendedByAdmin: true,
      });
      expect(restored).not.toHaveProperty('keyId');
      expect(await found(there.recordId)).toMatchObject({ revoked: true, keyId: there.keyId });
      const what = ['restored from a backup'];
      expect(await target.history.of(gone, 9)).toMatchObject([{ who: 'ann', what }]);
    });

    test('leaves the keys active with --open', async () => {
      await restore('keys', { open: true });

      expect(await found(gone.recordId)).toMatchObject({ enabled: true, suspendedUntil: number(0) });
    });
  });
});
