import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { changeCells, changesByKey, estimateOfScan, historyOfPet } from '../../../infra/admin/records/stock-history.ts';
import { rowsOfPet, type StockRecord } from '../../../infra/admin/records/stock-rows.ts';
import type { Target } from '../../../infra/admin/service/target.ts';
import { NO_ENTRY, type StockAuthor, StockHistory, type StockWrite } from '../../../shared/stores/stock-history.ts';
import { EmbeddedDatabase } from '../../support/engines.ts';
import { int64 } from '../../support/int64.ts';
import { aKey, anEntry, createChangesTable, createPetsTable, StockTable } from '../../support/tables.ts';
import { ConsoleService, HOUR_MS, NOW, Visitor } from './admin-service.ts';

const petId = int64('101');

/** A record such as `5 c←b`: a quantity (`-`: of a removal, `+2`: of a sum), its version, and what it replaced. */
function recordOf(text: string, at = NOW): StockRecord {
  const [amount = '', versions = ''] = text.split(' ');
  const [version = '', replaced] = versions.split('←');
  const amounts = amount === '-' ? {} : { [amount.startsWith('+') ? 'added' : 'quantity']: Number(amount) };
  const author = { petId, who: 'ann', how: 'update', at: new Date(at).toISOString(), version };
  return { ...author, ...amounts, ...(replaced && { replaced }) };
}
const versionOf = (version: string | undefined) =>
  version === undefined ? undefined : { entry: anEntry('101', 9), version };
const shown = (rows: ReturnType<typeof rowsOfPet>) =>
  rows.map(({ at, note, quantity }) => (at === null ? note : `${quantity}${note ? ` ${note}` : ''}`));

const OLDER = 'older changes are not kept';

describe('The history of a pet', () => {
  test.each<[what: string, current: string | undefined, records: string[], rows: (string | null)[]]>([
    ['is complete from the first entry on', 'b', ['4 b←a', `3 a←${NO_ENTRY}`], ['4 not known', '3 new']],
    ['may begin before its first record', 'b', ['4 b←a', '3 a←x'], ['4 not known', '3 not known', OLDER]],
    ['may have no record yet', 'x', [], [OLDER]],
    ['names a gap between records', 'c', ['5 c←b', '3 a←x'], ['5 not known', 'not recorded', '3 not known', OLDER]],
    ['names a gap after the newest one', 'c', ['3 a←x'], ['not recorded', '3 not known', OLDER]],
    ['has no gap before what cannot know', 'c', ['5 c', '3 a←x'], ['5 not known', '3 not known', OLDER]],
    ['knows the sum of a current entry', 'b', ['+2 b', '3 a←x'], ['9', '3 not known', OLDER]],
    ['ends with a removal', undefined, ['- b←a', '3 a←x'], ['null removed', '3 not known', OLDER]],
    ['misses a removal', undefined, ['3 a←x'], ['not recorded', '3 not known', OLDER]],
    ['goes on after a removal', 'c', [`5 c←${NO_ENTRY}`, '- b←a'], ['5 new', 'null removed', OLDER]],
    ['misses an entry after a removal', 'c', ['5 c', '- b←a'], ['5 not known', 'not recorded', 'null removed', OLDER]],
    [
      'misses a removal before a new entry',
      'c',
      [`5 c←${NO_ENTRY}`, '3 a'],
      ['5 new', 'not recorded', '3 not known', OLDER],
    ],
    ['ends although records are in a circle', 'b', ['4 b←a', '3 a←b'], ['4 not known', '3 not known', OLDER]],
    [
      'has no gap before a removal that followed its read',
      'a',
      ['- b←a', '3 a←x'],
      ['null removed', '3 not known', OLDER],
    ],
    ['goes by what is known of a sum', 'c', ['+2 c←b', '+3 b←a'], ['9', '7', OLDER]],
  ])('%s', (_, current, records, rows) => {
    const byTime = records.map((text, index) => recordOf(text, NOW - index));

    expect(shown(rowsOfPet(byTime, versionOf(current)))).toEqual(rows);
  });

  test('is in the order of the writes although eight clocks differ', () => {
    const written = Array.from({ length: 160 }, (_, index) => {
      // The eighth of them does not know what it replaced.
      const replaced = index % 8 === 7 ? '' : `←v${index - 1}`;
      return recordOf(`${index} v${index}${replaced}`, NOW + 20 * index + ((index * 5) % 8) * 15);
    });
    const byTime = written.toSorted((a, b) => (a.at < b.at ? 1 : -1));
    const expected = written.map(({ quantity }) => `${quantity} not known`).toReversed();

    expect(byTime).not.toEqual(written.toReversed());
    expect(shown(rowsOfPet(byTime, versionOf('v159')))).toEqual([...expected, OLDER]);
  });
});

describe('Recorded changes', () => {
  const database = new EmbeddedDatabase();
  const service = new ConsoleService();
  const key = aKey({ keyId: 'acme', name: 'acme', revision: 1 });
  let target: Target;
  let stock: StockTable;

  beforeAll(async () => {
    const { client } = database;
    stock = await StockTable.create(client);
    const changes = await createChangesTable(client);
    const pets = await createPetsTable(client);
    // The keys are in memory.
    const { documents: _, ...world } = service.target;
    target = { ...world, documents: client, tables: { ...world.tables, stock: stock.name, pets, changes } };
    target = { ...target, stockHistory: new StockHistory({ client, tableName: changes, onLost: () => undefined }) };
    await stock.put(anEntry('101', 9), { version: 'v0' });
    for (let age = 0; age < 60; age++) await put(age, { reason: age === 1 ? 'count' : undefined });
    await put(0, { who: 'gone', how: 'batch' }, { petId: int64('102'), added: 5 });
    await put(0, { who: 'arn:aws:sts::1:assumed-role/Admin/ann', how: 'removal' }, { petId: int64('103'), was: 7 });
  });
  beforeEach(() => service.world.issue(key, key.plan));

  const put = (
    age: number,
    author: Partial<StockAuthor>,
    left: Omit<StockWrite, 'at' | 'version'> = { petId, quantity: 9, was: 7 },
  ) => {
    const by = { who: key.recordId, token: 'main/ly02', how: 'update', reference: 'order-1', ...author } as const;
    const made = { replaced: `v${age + 1}`, at: NOW - age * 12 * HOUR_MS, version: `v${age}`, ...left };
    return target.stockHistory.put(made, by);
  };

  test('are of whole days, with the key of today', async () => {
    const { rows, isCut } = await historyOfPet(target, ' 101 ', 2);

    expect(isCut).toBe(false);
    expect(rows.map(changeCells)).toEqual([
      ['2026-11-21 12:30 UTC', '9', '+2', 'available', 'acme (acme) main/ly02', 'update', 'order-1', ''],
      ['2026-11-21 00:30 UTC', '9', '+2', '', 'acme (acme) main/ly02', 'update', 'order-1', 'count'],
      ['2026-11-20 12:30 UTC', '9', '+2', '', 'acme (acme) main/ly02', 'update', 'order-1', ''],
      ['2026-11-20 00:30 UTC', '9', '+2', '', 'acme (acme) main/ly02', 'update', 'order-1', ''],
    ]);
    expect(await historyOfPet(target, '101', 400, 10)).toMatchObject({ isCut: true, rows: { length: 10 } });
    expect((await historyOfPet(target, '101', 400)).rows.at(-1)).toMatchObject({ note: OLDER });
  });

  test('name who is known of a deleted key, and an admin', async () => {
    const cells = async (pet: string) =>
      (await historyOfPet(target, pet, 1)).rows.map((row) => changeCells(row).join('|'));

    expect(await cells('102')).toContain('2026-11-21 12:30 UTC|not known|+5||gone main/ly02|batch|order-1|');
    expect(await cells('103')).toContain(
      '2026-11-21 12:30 UTC|removed|-7||assumed-role/Admin/ann main/ly02|removal|order-1|',
    );
    await expect(historyOfPet(target, '104', 1)).rejects.toThrow('Pet 104 has no stock entry, and no changes');
  });

  test('of one key are found among all, since a time, or in a part of the records', async () => {
    const { rows } = await changesByKey(target, key, NOW - 12 * HOUR_MS);

    expect(rows).toMatchObject([{ petId, at: new Date(NOW).toISOString(), name: 'acme' }, { reason: 'count' }]);
    expect((await changesByKey(target, key, 0)).rows).toHaveLength(60);
    expect(await changesByKey(target, key, 0, { maxPages: 0 })).toMatchObject({ isCut: true, rows: [] });
    expect((await estimateOfScan(target)).text).toMatch(/MB, about \d+ seconds? and [\d,]+ reads/);
  });

  test('are pages of the console', async () => {
    const visitor = await new Visitor(target).signIn();

    const text = await visitor.page('/stock?petId=101');
    expect(text).toContain('<title>2026-11-21: 9</title>');
    expect(text).toContain('inventory history 101 --days 400');
    expect(await visitor.page('/keys/acme')).toContain('href="keys/acme/changes"');
    expect(await visitor.page('/keys/acme/changes')).toMatch(/The newest 50 of 60[^]*inventory changes --key acme/);
  });
});
