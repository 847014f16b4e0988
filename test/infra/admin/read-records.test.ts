import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { MAX_ROW_BYTES } from '../../../infra/admin/records/file-rows.ts';
import { readRecords } from '../../../infra/admin/records/read-records.ts';
import { orders, pets, type RecordKind, stockEntries } from '../../../infra/admin/records/record-kinds.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const LARGEST = '9223372036854775807';
const SMALLEST = '-9223372036854775808';

const folder = temporaryFolder();

function read<Entry>(kind: RecordKind<Entry>, name: string, content: string | Uint8Array) {
  const file = join(folder, name);
  writeFileSync(file, content);
  return Array.fromAsync(readRecords(file, kind));
}

const fault = (line: number, text: string) => ({ line, fault: expect.stringContaining(text) });

describe('a CSV file of stock', () => {
  const HEADER = 'petId,quantity,status';

  test('is read row by row, with the line of each', async () => {
    expect(await read(stockEntries, 'a.csv', `${HEADER}\n1,2,available\n3,0,sold\n`)).toEqual([
      { line: 2, entry: { petId: '1', quantity: 2, status: 'available' } },
      { line: 3, entry: { petId: '3', quantity: 0, status: 'sold' } },
    ]);
  });

  test.each([
    ['columns in another order', 'status,petId,quantity\nsold,1,2\n'],
    ['semicolons', 'petId;quantity;status\n1;2;sold\n'],
    ['Windows line ends', `${HEADER}\r\n1,2,sold\r\n`],
    ['a byte order mark', `\uFEFF${HEADER}\n1,2,sold\n`],
    ['spaces and quotes around cells', `${HEADER}\n 1 , "2" ,sold\n`],
    ['no line end at its end', `${HEADER}\n1,2,sold`],
    ['empty lines', `${HEADER}\n\n1,2,sold\n\n`],
  ])('may have %s', async (_, content) => {
    const rows = await read(stockEntries, 'b.csv', content);
    expect(rows).toMatchObject([{ entry: { petId: '1', quantity: 2, status: 'sold' } }]);
  });

  test.each([LARGEST, SMALLEST])('keeps petId %s digit for digit', async (petId) => {
    const rows = await read(stockEntries, 'c.csv', `${HEADER}\n${petId},1,sold\n`);
    expect(rows).toMatchObject([{ entry: { petId } }]);
  });

  test.each([
    ['a petId that is no number', 'x,1,sold', 'petId must be an int64 in decimal, such as 42, not "x"'],
    ['a petId beyond int64', '9223372036854775808,1,sold', 'petId must be an int64'],
    ['a petId with leading zeros', '007,1,sold', 'petId must be an int64'],
    ['a negative quantity', '1,-1,sold', 'quantity must be an integer from 0 to 2147483647, not "-1"'],
    ['a fractional quantity', '1,1.5,sold', 'quantity must be an integer'],
    ['a quantity with an exponent', '1,1e3,sold', 'quantity must be an integer'],
    ['a quantity beyond int32', '1,2147483648,sold', 'quantity must be an integer'],
    ['a quantity of many digits', '1,99999999999999999999,sold', 'quantity must be an integer'],
    ['an empty quantity', '1,,sold', 'quantity must be an integer'],
    ['an unknown status', '1,1,gone', 'status must be one of available, pending, sold, not "gone"'],
    ['a missing cell', '1,1', 'Invalid Record Length'],
    ['an open quote', '1,"1,sold', 'Quote Not Closed'],
    ['several faults', 'x,-1,sold', 'such as 42, not "x"; quantity must be'],
  ])('with %s names the line and the fault', async (_, row, text) => {
    const [good, bad] = await read(stockEntries, 'd.csv', `${HEADER}\n5,5,sold\n${row}\n`);
    expect(good).toHaveProperty('entry');
    expect(bad).toMatchObject({ line: expect.any(Number), fault: expect.stringContaining(text) });
    expect(bad?.line).toBeGreaterThanOrEqual(3);
  });

  test('with a column that is not known names it', async () => {
    const rows = await read(stockEntries, 'e.csv', 'petId,quantity,status,colour\n1,2,sold,red\n');
    expect(rows).toEqual([{ line: 2, fault: 'colour is not known' }]);
  });

  test('without a column names it', async () => {
    const rows = await read(stockEntries, 'f.csv', 'petId,quantity\n1,2\n');
    expect(rows).toEqual([{ line: 2, fault: 'status is missing' }]);
  });

  test('keeps a fault to one short line, whatever the file holds', async () => {
    const cell = `"\u001B[31m\n\r\u0000${'x'.repeat(10_000)}"`;
    const [row] = await read(stockEntries, 'g.csv', `${HEADER}\n${cell},1,sold\n`);
    expect(row).toHaveProperty('fault', expect.stringMatching(/^petId must be .*, not " \[31m x+…$/));
    expect(JSON.stringify(row).length).toBeLessThan(300);
  });

  test('that is none, but one endless row, is given up', async () => {
    const rows = await read(stockEntries, 'h.csv', `${HEADER}\n"${'x\n'.repeat(MAX_ROW_BYTES)}`);
    expect(rows).toMatchObject([{ fault: expect.stringContaining('Max Record Size') }]);
  });
});

describe('a JSON Lines file of stock', () => {
  test('is read line by line', async () => {
    const lines = '{"petId":1,"quantity":2,"status":"sold"}\n\n{"status":"pending","quantity":0,"petId":"2"}\r\n';
    expect(await read(stockEntries, 'a.jsonl', lines)).toEqual([
      { line: 1, entry: { petId: '1', quantity: 2, status: 'sold' } },
      { line: 3, entry: { petId: '2', quantity: 0, status: 'pending' } },
    ]);
  });

  test.each([LARGEST, SMALLEST])('keeps the number %s digit for digit', async (petId) => {
    const rows = await read(stockEntries, 'b.jsonl', `{"petId":${petId},"quantity":1,"status":"sold"}\n`);
    expect(rows).toMatchObject([{ entry: { petId } }]);
  });

  test.each([
    ['broken JSON', '{"petId":1', 'is not valid JSON'],
    ['an array', '[1]', 'must be an object with petId, quantity and status'],
    ['null', 'null', 'must be an object'],
    ['a number', '5', 'must be an object'],
    ['a float as petId', '{"petId":1.5,"quantity":1,"status":"sold"}', 'petId must be an int64'],
    ['an exponent as petId', '{"petId":1e3,"quantity":1,"status":"sold"}', 'petId must be an int64'],
    ['a missing field', '{"petId":1,"quantity":1}', 'status is missing'],
    ['an unknown field', '{"petId":1,"quantity":1,"status":"sold","x":1}', 'x is not known'],
    ['a boolean quantity', '{"petId":1,"quantity":true,"status":"sold"}', 'quantity must be an integer'],
    ['a fractional quantity', '{"petId":1,"quantity":1.5,"status":"sold"}', 'quantity must be an integer'],
    ['an endless quantity', '{"petId":1,"quantity":1e999,"status":"sold"}', 'quantity must be an integer'],
  ])('with %s names the line and the fault', async (_, line, text) => {
    const rows = await read(stockEntries, 'c.jsonl', `{"petId":5,"quantity":1,"status":"sold"}\n${line}\n`);
    expect(rows[1]).toMatchObject(fault(2, text));
  });

  test('is read across the parts that the disk hands over', async () => {
    const petIds = Array.from({ length: 5_000 }, (_, index) => 2n ** 62n + BigInt(index));
    const text = petIds.map((petId) => `{"petId":${petId},"quantity":1,"status":"sold"}\n`).join('');
    const rows = await read(stockEntries, 'd.jsonl', text);
    expect(text.length).toBeGreaterThan(3 * 65_536);
    expect(rows).toEqual(
      petIds.map((petId, index) => ({
        line: index + 1,
        entry: { petId: String(petId), quantity: 1, status: 'sold' },
      })),
    );
  });

  test('that has one array instead of lines is given up where it is too long to be a record', async () => {
    const rows = await read(stockEntries, 'e.jsonl', `[${'{"petId":1},'.repeat(MAX_ROW_BYTES / 8)}`);
    expect(rows).toEqual([fault(1, 'must be one record a line')]);
  });
});

describe('a file of orders', () => {
  const order = { id: '1', petId: '2', quantity: 3, status: 'placed', complete: false };
  const HEADER = 'id,petId,quantity,shipDate,status,complete';

  test.each([
    ['with a date', `${HEADER}\n1,2,3,2026-11-21T12:30:00Z,placed,false\n`, { shipDate: '2026-11-21T12:30:00Z' }],
    ['with an empty date', `${HEADER}\n1,2,3,,placed,false\n`, {}],
    ['without the column for dates', 'id,petId,quantity,status,complete\n1,2,3,placed,false\n', {}],
    ['as a spreadsheet writes them', `${HEADER}\r\n1,2,3,,placed,FALSE\r\n`, {}],
    ['that are complete', `${HEADER}\n1,2,3,,placed,true\n`, { complete: true }],
  ])('may be CSV %s', async (_, content, fields) => {
    expect(await read(orders, 'a.csv', content)).toEqual([{ line: 2, entry: { ...order, ...fields } }]);
  });

  test('may be JSON Lines, with every digit', async () => {
    const line = `{"id":${SMALLEST},"petId":${LARGEST},"quantity":3,"status":"placed","complete":false}`;
    const rows = await read(orders, 'a.jsonl', line);
    expect(rows).toEqual([{ line: 1, entry: { ...order, id: SMALLEST, petId: LARGEST } }]);
  });

  test.each([
    ['an id that is none', 'x,2,3,,placed,false', 'id must be an int64'],
    ['an empty id', ',2,3,,placed,false', 'id must be an int64'],
    ['a date that is none', '1,2,3,tomorrow,placed,false', 'shipDate must be a time such as'],
    ['an unknown status', '1,2,3,,sold,false', 'status must be one of placed, approved, delivered'],
    ['neither true nor false', '1,2,3,,placed,yes', 'complete must be true or false, not "yes"'],
    ['an empty cell instead of true or false', '1,2,3,,placed,', 'complete must be true or false, not ""'],
  ])('with %s names the fault', async (_, row, text) => {
    expect(await read(orders, 'b.csv', `${HEADER}\n${row}\n`)).toEqual([fault(2, text)]);
  });

  test.each([
    ['text for true or false', { complete: 'true' }, 'complete must be true or false'],
    ['text for a quantity', { quantity: '3' }, 'quantity must be an integer'],
    ['null for a date', { shipDate: null }, 'shipDate must be text'],
  ])('with %s in JSON names the fault', async (_, fields, text) => {
    expect(await read(orders, 'c.jsonl', JSON.stringify({ ...order, ...fields }))).toEqual([fault(1, text)]);
  });
});

describe('a file of pets', () => {
  const pet = { id: '1', name: 'Rex', photoUrls: ['https://images.example.com/1.jpg'] };

  test('is read with every digit and letter', async () => {
    const rest = `"name":"Zoë \u2028 🐶","photoUrls":[],"tags":[{"id":${SMALLEST},"name":"5"},{"id":"7","name":"b"}]`;
    const line = `{"id":${LARGEST},"category":{"name":"dogs","id":9007199254740993},${rest}}`;
    expect(await read(pets, 'a.jsonl', `\uFEFF${line}\n`)).toEqual([
      {
        line: 1,
        entry: {
          id: LARGEST,
          category: { id: '9007199254740993', name: 'dogs' },
          name: 'Zoë \u2028 🐶',
          photoUrls: [],
          tags: [
            { id: SMALLEST, name: '5' },
            { id: '7', name: 'b' },
          ],
        },
      },
    ]);
  });

  test('needs neither category nor tags', async () => {
    expect(await read(pets, 'b.jsonl', JSON.stringify(pet))).toStrictEqual([{ line: 1, entry: pet }]);
  });

  test('with a status says where that comes from', async () => {
    const rows = await read(pets, 'c.jsonl', JSON.stringify({ ...pet, status: 'sold' }));
    expect(rows).toEqual([fault(1, 'status comes from the stock entry: leave it out')]);
  });

  test.each([
    ['a number as name', { name: 5 }, 'name must be text, not 5'],
    ['an empty name', { name: '' }, 'name must not be empty'],
    ['text for a category', { category: 'dogs' }, 'category must be an object, not "dogs"'],
    ['null for a category', { category: null }, 'category must be an object, not null'],
    ['a category without a name', { category: { id: 1 } }, 'category.name is missing'],
    ['a tag with more than it has', { tags: [{ id: 1, name: 'a', x: 1 }] }, 'tags.0.x is not known'],
    ['a tag whose id is none', { tags: [{ id: 1.5, name: 'a' }] }, 'tags.0.id must be an int64'],
    ['one URL instead of a list', { photoUrls: 'https://images.example.com' }, 'photoUrls must be a list of URLs'],
    ['a photo that has no URL', { photoUrls: ['rex.jpg'] }, 'photoUrls.0 must be a URL, not "rex.jpg"'],
    ['no list of photos', { photoUrls: undefined }, 'photoUrls is missing'],
    ['a field of another name', { constructor: 1 }, 'constructor is not known'],
  ])('with %s names the fault', async (_, fields, text) => {
    expect(await read(pets, 'd.jsonl', JSON.stringify({ ...pet, ...fields }))).toEqual([fault(1, text)]);
  });

  test('with a great many faults in a row names the first of them', async () => {
    const photoUrls = Array.from({ length: 40 }, () => 'x');
    const rows = await read(pets, 'e.jsonl', JSON.stringify({ ...pet, photoUrls }));
    expect(rows).toEqual([fault(1, 'photoUrls.4 must be a URL, not "x"; and 35 more')]);
  });

  test.each([
    ['Latin-1', Buffer.from(JSON.stringify({ ...pet, name: 'Zoë' }), 'latin1')],
    ['UTF-16', Buffer.from(`\uFEFF${JSON.stringify(pet)}`, 'utf16le')],
  ])('that is %s is refused: its letters would be lost', async (_, bytes) => {
    expect(await read(pets, 'f.jsonl', bytes)).toEqual([{ line: 1, fault: 'is not UTF-8 text' }]);
  });

  test.each(['pets.csv', 'pets.json', 'pets'])('has no other format: %s is refused by its name', async (name) => {
    await expect(read(pets, name, 'id,name\n')).rejects.toThrow(
      /^Cannot import .*: its name must end in \.jsonl: a pet has lists, so it takes a line of JSON each\.$/,
    );
  });
});

describe('what cannot be read', () => {
  test.each(['none.csv', 'none.jsonl'])('a file that is not there is named: %s', async (name) => {
    await expect(Array.fromAsync(readRecords(join(folder, name), stockEntries))).rejects.toThrow(
      new RegExp(`Cannot read .*${name}: .*ENOENT`),
    );
  });

  test('a file of another format is refused by its name', async () => {
    await expect(read(stockEntries, 'stock.xlsx', '')).rejects.toThrow('its name must end in .csv or .jsonl.');
  });
});
