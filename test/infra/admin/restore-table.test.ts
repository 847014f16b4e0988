import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type DynamoDBDocumentClient, paginateScan } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { importFile } from '../../../infra/admin/commands/record-commands.ts';
import { stockEntries } from '../../../infra/admin/records/record-kinds.ts';
import { type RestoreOptions, restoreTable } from '../../../infra/admin/records/restore-table.ts';
import type { Target } from '../../../infra/admin/service/target.ts';
import type { TableName } from '../../../infra/stages.ts';
import { type Item, writeItems } from '../../../infra/write-items.ts';
import { documentClient } from '../../../shared/dynamodb.ts';
import { petItem } from '../../../shared/stores/find-pet.ts';
import { UNTIL_RESUMED } from '../../../shared/keys/key-record.ts';
import { engines, pointSdkAt } from '../../support/engines.ts';
import { dynamoDBError, FaultyEngine } from '../../support/faulty-engine.ts';
import { acceptForeignErrors } from '../../support/foreign-errors.ts';
import { int64 } from '../../support/int64.ts';
import { InProcessTarget } from '../../support/in-process-target.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { aKey, createKeysTable, createPetsTable, createRequestsTable, createStockTable } from '../../support/tables.ts';

acceptForeignErrors();
const directory = temporaryDirectory();

const entry = (petId: number, quantity: number): Item => ({
  storeId: 'main',
  petId,
  quantity,
  version: `v${quantity}`,
});
const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, at) => from + at);
const pet = (id: number, name: string): Item => {
  const labels = { category: { id: int64('1'), name }, tags: [{ id: int64('2'), name }] };
  return petItem({ id: int64(String(id)), name: 'Rex', photoUrls: [`https://example.com/${name}`], ...labels });
};

interface Items {
  readonly now: Item[];
  readonly before: Item[];
}

const number = (value: number) => expect.objectContaining({ value: String(value) });
const isWrite = (action: string): boolean => action === 'PutItem' || action === 'DeleteItem';

describe.each(engines)('a restore, on %s', (_engine, start) => {
  const world = new InProcessTarget();
  let engine: FaultyEngine;
  let client: DynamoDBDocumentClient;
  let target: Target;
  let copy: string;

  beforeAll(async () => {
    engine = await FaultyEngine.start(start);
    pointSdkAt(engine.endpoint);
    // As the admin command has it: an idle connection may be gone.
    client = documentClient({ requestTimeout: 20_000, maxAttempts: 5 });
  });
  afterAll(async () => {
    client.destroy();
    world.close();
    await engine.stop();
  });

  const itemsOf = async (TableName: string): Promise<Item[]> => {
    const pages = await Array.fromAsync(paginateScan({ client }, { TableName, ConsistentRead: true }));
    return pages
      .flatMap(({ Items = [] }) => Items)
      .toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  };
  const put = (table: string, items: readonly Item[]) => writeItems(client, table, items, (item) => item);

  /** @param items how the table is now, and how it was when AWS copied it */
  async function given(name: TableName, create: typeof createStockTable, items: Items) {
    engine.faults = () => undefined;
    engine.beforeCall = () => Promise.resolve();
    copy = await create(client);
    const live = await create(client);
    target = { ...world.target, documents: client, tables: { ...world.target.tables, [name]: live } };
    await put(copy, items.before);
    await put(live, items.now);
    return live;
  }
  /** Has the response to the first call of an action lost: the SDK repeats the call. */
  function loseFirst(action: string): void {
    let isLost = false;
    engine.faults = (call) =>
      call.action === action && !isLost && (isLost = true) ? { kind: 'lostResponse' } : undefined;
  }
  const onStage = () => Promise.resolve({ ...target, stage: 'staging', place: 'the stage staging' } as const);
  const restore = (table: TableName, options: Partial<RestoreOptions> = {}) =>
    restoreTable(target, table, { from: copy, exact: false, open: false, dryRun: false, ...options }, () => undefined);

  describe('of stock that was changed, deleted and added since', () => {
    // More than one page of the scan.
    const before = range(0, 120).map((id) => entry(id, 1));
    const changed = range(0, 20).map((id) => entry(id, 2));
    const now = [...changed, ...before.slice(40), ...range(120, 130).map((id) => entry(id, 3))];
    let live: string;

    beforeEach(async () => {
      live = await given('stock', createStockTable, { now, before });
    });

    test('counts in a dry run, adds deleted entries, and with `exact` equals the copy', async () => {
      const unchanged = await itemsOf(live);
      const all = { added: 20, changed: 20, deleted: 10 };
      expect(await restore('stock', { exact: true, dryRun: true })).toMatchObject(all);
      expect(await itemsOf(live)).toEqual(unchanged);

      const gone = { added: 20, changed: 0, deleted: 0, changedMeanwhile: [] };
      expect(await restore('stock')).toMatchObject(gone);
      expect(await itemsOf(live)).toEqual(expect.arrayContaining(unchanged));
      expect(await itemsOf(live)).toHaveLength(130);

      expect(await restore('stock', { exact: true })).toMatchObject({ added: 0, changed: 20, deleted: 10 });
      expect(await itemsOf(live)).toEqual(await itemsOf(copy));
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

      expect(await itemsOf(live)).toEqual(await itemsOf(copy));
    });

    test.each(['PutItem', 'DeleteItem'])('recognizes its own write after a lost response: %s', async (action) => {
      loseFirst(action);

      expect(await restore('stock', { exact: true })).toMatchObject({ added: 20, deleted: 10, changedMeanwhile: [] });
    });

    test('skips and reports entries that others change meanwhile', async () => {
      // What another client writes before the first put, and before the first deletion, of what was read by then.
      const others = new Map<string, Promise<void>>();
      engine.beforeCall = async ({ action }) => {
        if (isWrite(action) && !others.has(action))
          others.set(action, put(live, action === 'PutItem' ? [entry(10, 9), entry(30, 9)] : [entry(125, 9)]));
        await others.get(action);
      };
      const { changedMeanwhile } = await restore('stock', { exact: true });

      expect(changedMeanwhile.toSorted()).toEqual(['10', '125', '30']);
      expect((await itemsOf(live)).filter(({ version }) => version === 'v9')).toHaveLength(3);
    });
  });

  test('by an import asks on a stage, and skips entries that changed after the preview', async () => {
    const stored = { ...entry(1, 3), status: 'sold' };
    const live = await given('stock', createStockTable, { now: [stored, { ...stored, petId: 2 }], before: [] });
    const file = join(directory, 'stock.csv');
    writeFileSync(file, 'petId,quantity,status\n1,5,sold\n2,5,sold\n3,5,sold\n');
    const options = { dryRun: false, yes: false };
    const unchanged = await itemsOf(live);
    await expect(importFile(stockEntries, onStage, options, file)).rejects.toThrow(
      'the stage staging? The replaced values',
    );
    expect(await itemsOf(live)).toEqual(unchanged);

    let other: Promise<void> | undefined;
    engine.beforeCall = async ({ action }) => {
      if (action === 'PutItem') await (other ??= put(live, [entry(1, 9)]));
    };
    const { value } = await importFile(stockEntries, onStage, { ...options, yes: true }, file);
    process.exitCode = 0;
    expect(value).toMatchObject({ added: 1, changed: 1, changedMeanwhile: ['1'], imported: 2 });
    expect((await itemsOf(live)).find(({ version }) => version === 'v9')).toBeDefined();
  });

  test('of pets compares lists and maps too', async () => {
    const live = await given('pets', createPetsTable, {
      now: [pet(1, 'new'), pet(2, 'same')],
      before: [pet(1, 'old'), pet(2, 'same')],
    });

    expect(await restore('pets', { exact: true })).toMatchObject({ changed: 1, changedMeanwhile: [] });
    expect(await itemsOf(live)).toEqual(await itemsOf(copy));
  });

  test('is refused from a table with other keys, and from itself', async () => {
    const live = await given('stock', createRequestsTable, { now: [], before: [] });
    copy = await createStockTable(client);

    await expect(restore('stock')).rejects.toThrow(`The table ${copy} is not a copy of ${live}.`);
    await expect(restore('stock', { from: live })).rejects.toThrow('is not a copy of');
  });

  describe('of keys', () => {
    const [gone, there, byHand] = [
      aKey({ dayUsed: 7 }),
      aKey({ name: 'revoked since' }),
      { ...aKey(), recordId: 'f'.repeat(64) },
    ];
    let live: string;

    beforeEach(async () => {
      world.reset();
      live = await given('keys', createKeysTable, {
        now: [{ ...there, revoked: true }],
        before: [gone, there, byHand],
      });
    });
    const found = async (recordId: string) => (await itemsOf(live)).find((item) => item['recordId'] === recordId);

    test('adds a deleted key, suspended and pending sync, and keeps a revoked one', async () => {
      expect(await restore('keys')).toMatchObject({ added: 1, changed: 0, lost: [`${byHand.name} (${byHand.keyId})`] });
      expect(await found(gone.recordId)).toMatchObject({
        name: gone.name,
        tokens: { [Object.keys(gone.tokens)[0] ?? '']: { label: 'main' } },
        dayUsed: number(7),
        unappliedSince: expect.anything(),
        enabled: false,
        suspendedUntil: number(UNTIL_RESUMED),
        suspendedByAdmin: true,
      });
      expect(await found(gone.recordId)).not.toHaveProperty('keyId');
      const what = ['restored from a backup'];
      expect(await target.history.of(gone, 9)).toMatchObject([{ who: 'ann', what }]);
      expect(await found(there.recordId)).toMatchObject({ revoked: true, keyId: there.keyId });
    });

    test('recognizes its own write after a lost response, and records it in the history', async () => {
      loseFirst('PutItem');

      expect(await restore('keys')).toMatchObject({ added: 1, changedMeanwhile: [] });
      expect(await target.history.of(gone, 9)).toMatchObject([{ what: ['restored from a backup'] }]);
    });

    test('adds a key that is not suspended with `open`', async () => {
      await restore('keys', { open: true });

      expect(await found(gone.recordId)).toMatchObject({ enabled: true, suspendedUntil: number(0) });
    });
  });
});
