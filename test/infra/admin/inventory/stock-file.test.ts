import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { readStockFile } from '../../../../infra/admin/inventory/stock-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'stock-file-'));
afterAll(() => rmSync(folder, { recursive: true }));

const HEADER = 'petId,quantity,status';

function read(name: string, content: string) {
  const file = join(folder, name);
  writeFileSync(file, content);
  return Array.fromAsync(readStockFile(file));
}

describe('a CSV file', () => {
  test('is read row by row, with the line of each', async () => {
    expect(await read('a.csv', `${HEADER}\n1,2,available\n3,0,sold\n`)).toEqual([
      { line: 2, entry: { petId: '1', quantity: 2, status: 'available' } },
      { line: 3, entry: { petId: '3', quantity: 0, status: 'sold' } },
    ]);
  });

  test.each([
    ['columns in another order', 'status,petId,quantity\nsold,1,2\n'],
    ['Windows line ends', `${HEADER}\r\n1,2,sold\r\n`],
    ['a byte order mark', `\uFEFF${HEADER}\n1,2,sold\n`],
    ['spaces and quotes around cells', `${HEADER}\n 1 , "2" ,sold\n`],
    ['no line end at its end', `${HEADER}\n1,2,sold`],
    ['empty lines', `${HEADER}\n\n1,2,sold\n\n`],
  ])('may have %s', async (_, content) => {
    const rows = await read('b.csv', content);
    expect(rows).toMatchObject([{ entry: { petId: '1', quantity: 2, status: 'sold' } }]);
  });

  test.each(['9223372036854775807', '-9223372036854775808'])('keeps petId %s digit for digit', async (petId) => {
    expect(await read('c.csv', `${HEADER}\n${petId},1,sold\n`)).toMatchObject([{ entry: { petId } }]);
  });

  test.each([
    ['a petId that is no number', 'x,1,sold', 'petId must be an int64 in decimal, such as 42'],
    ['a petId beyond int64', '9223372036854775808,1,sold', 'petId must be an int64'],
    ['a petId with leading zeros', '007,1,sold', 'petId must be an int64'],
    ['a negative quantity', '1,-1,sold', 'quantity must be an integer from 0 to 2147483647'],
    ['a fractional quantity', '1,1.5,sold', 'quantity must be an integer'],
    ['a quantity beyond int32', '1,2147483648,sold', 'quantity must be an integer'],
    ['an empty quantity', '1,,sold', 'quantity must be an integer'],
    ['an unknown status', '1,1,gone', 'status must be one of available, pending, sold'],
    ['a missing cell', '1,1', 'Invalid Record Length'],
    ['an open quote', '1,"1,sold', 'Quote Not Closed'],
  ])('with %s names the line and the fault', async (_, row, fault) => {
    const [good, bad] = await read('d.csv', `${HEADER}\n5,5,sold\n${row}\n`);
    expect(good).toHaveProperty('entry');
    expect(bad).toMatchObject({ line: expect.any(Number), fault: expect.stringContaining(fault) });
    expect(bad?.line).toBeGreaterThanOrEqual(3);
  });

  test('with a column that is not known names it', async () => {
    const rows = await read('e.csv', 'petId,quantity,status,colour\n1,2,sold,red\n');
    expect(rows).toEqual([{ line: 2, fault: 'colour is not known' }]);
  });

  test('without a column names it', async () => {
    expect(await read('f.csv', 'petId,quantity\n1,2\n')).toEqual([{ line: 2, fault: 'status is missing' }]);
  });
});

describe('a JSON Lines file', () => {
  test('is read line by line', async () => {
    const lines = '{"petId":1,"quantity":2,"status":"sold"}\n\n{"status":"pending","quantity":0,"petId":"2"}\n';
    expect(await read('a.jsonl', lines)).toEqual([
      { line: 1, entry: { petId: '1', quantity: 2, status: 'sold' } },
      { line: 3, entry: { petId: '2', quantity: 0, status: 'pending' } },
    ]);
  });

  test.each(['9223372036854775807', '-9223372036854775808'])('keeps the number %s digit for digit', async (petId) => {
    const rows = await read('b.jsonl', `{"petId":${petId},"quantity":1,"status":"sold"}\n`);
    expect(rows).toMatchObject([{ entry: { petId } }]);
  });

  test.each([
    ['broken JSON', '{"petId":1', 'is not valid JSON'],
    ['an array', '[1]', 'must be an object'],
    ['null', 'null', 'must be an object'],
    ['a number', '5', 'must be an object'],
    ['a float as petId', '{"petId":1.5,"quantity":1,"status":"sold"}', 'petId must be an int64'],
    ['an exponent as petId', '{"petId":1e3,"quantity":1,"status":"sold"}', 'petId must be an int64'],
    ['a missing field', '{"petId":1,"quantity":1}', 'status is missing'],
    ['an unknown field', '{"petId":1,"quantity":1,"status":"sold","x":1}', 'x is not known'],
    ['a boolean quantity', '{"petId":1,"quantity":true,"status":"sold"}', 'quantity'],
  ])('with %s names the line and the fault', async (_, line, fault) => {
    const rows = await read('c.jsonl', `{"petId":5,"quantity":1,"status":"sold"}\n${line}\n`);
    expect(rows[1]).toMatchObject({ line: 2, fault: expect.stringContaining(fault) });
  });
});

describe('what cannot be read', () => {
  test('a file that is not there is named', async () => {
    await expect(Array.fromAsync(readStockFile(join(folder, 'none.csv')))).rejects.toThrow(/Cannot read .*none\.csv/);
    await expect(Array.fromAsync(readStockFile(join(folder, 'none.jsonl')))).rejects.toThrow(
      /Cannot read .*none\.jsonl/,
    );
  });

  test('a file of another format is refused by its name', async () => {
    await expect(read('stock.xlsx', '')).rejects.toThrow('its name must end in .csv or .jsonl');
  });
});
