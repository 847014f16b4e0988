import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';

import { MAX_ROW_BYTES, readRecords } from '../../../infra/admin/records/read-records.ts';
import { orders, pets, type RecordKind, stockEntries } from '../../../infra/admin/records/record-kinds.ts';

const LARGEST = '9223372036854775807';
const SMALLEST = '-9223372036854775808';

/** So much the disk hands over at a time. */
const CHUNK = 65_536;

function read<Entry>(kind: RecordKind<Entry>, name: string, content: string | Uint8Array) {
  const bytes = Buffer.from(content);
  const chunks = Array.from({ length: Math.ceil(bytes.length / CHUNK) }, (_, at) =>
    bytes.subarray(at * CHUNK, (at + 1) * CHUNK),
  );
  return Array.fromAsync(readRecords({ name, open: () => Readable.from(chunks) }, kind));
}

const fault = (line: number, text: string) => ({ line, fault: expect.stringContaining(text) });

describe('a CSV file of stock', () => {
  const HEADER = 'petId,quantity,status';

  test('is read row by row, with the line of each and every digit', async () => {
    expect(await read(stockEntries, 'a.csv', `${HEADER}\n${SMALLEST},2,available\n\n3,0,sold`)).toEqual([
      { line: 2, entry: { petId: SMALLEST, quantity: 2, status: 'available' } },
      { line: 4, entry: { petId: '3', quantity: 0, status: 'sold' } },
    ]);
  });

  test.each([
    ['semicolons', 'petId;quantity;status\n1;2;sold\n'],
    ['Windows line ends', `${HEADER}\r\n1,2,sold\r\n`],
    ['a byte order mark', `\uFEFF${HEADER}\n1,2,sold\n`],
    ['spaces and quotes around cells', `${HEADER}\n 1 , "2" ,sold\n`],
  ])('may have %s', async (_, content) => {
    const rows = await read(stockEntries, 'b.csv', content);
    expect(rows).toMatchObject([{ entry: { petId: '1', quantity: 2, status: 'sold' } }]);
  });

  test.each([
    ['a petId beyond int64', '9223372036854775808,1,sold', 'petId must be an int64'],
    ['a quantity beyond int32', '1,2147483648,sold', 'quantity must be an integer from 0 to 2147483647'],
    ['an empty quantity', '1,,sold', 'quantity must be an integer from 0 to 2147483647, not ""'],
    ['an unknown status', '1,1,gone', 'status must be one of available, pending, sold, not "gone"'],
    ['an open quote', '1,"1,sold', 'Quote Not Closed'],
    ['several faults', 'x,-1,sold', 'such as 42, not "x"; quantity must be'],
  ])('with %s names the line and the fault', async (_, row, text) => {
    const [good, bad] = await read(stockEntries, 'd.csv', `${HEADER}\n5,5,sold\n${row}\n`);
    expect(good).toHaveProperty('entry');
    expect(bad).toMatchObject({ fault: expect.stringContaining(text) });
    expect(bad?.line).toBeGreaterThanOrEqual(3);
  });

  test('keeps a fault to one short line, whatever the file holds', async () => {
    const cell = `"\u001B[31m\n\r\u0000${'x'.repeat(10_000)}"`;
    const [row] = await read(stockEntries, 'g.csv', `${HEADER}\n${cell},1,sold\n`);
    expect(row).toHaveProperty(
      'fault',
      expect.stringMatching(/^petId must be .*, not "\\u001b\[31m\\u000a\\u000d\\u0000x+…$/),
    );
    expect(JSON.stringify(row).length).toBeLessThan(300);
  });

  test('that is none, but one endless row, is given up', async () => {
    const rows = await read(stockEntries, 'h.csv', `${HEADER}\n"${'x\n'.repeat(MAX_ROW_BYTES)}`);
    expect(rows).toMatchObject([{ fault: expect.stringContaining('Max Record Size') }]);
  });
});

describe('a JSON Lines file of stock', () => {
  test.each([
    ['broken JSON', '{"petId":1', 'is not valid JSON'],
    ['an array', '[1]', 'must be an object with petId, quantity and status'],
    ['a float as petId', '{"petId":1.5,"quantity":1,"status":"sold"}', 'petId must be an int64'],
    ['an unknown field', '{"petId":1,"quantity":1,"status":"sold","colour":"red"}', 'colour is not known'],
    ['a missing field', '{"petId":1,"quantity":1}', 'status is missing'],
    ['an endless quantity', '{"petId":1,"quantity":1e999,"status":"sold"}', 'quantity must be an integer'],
  ])('with %s names the line and the fault', async (_, line, text) => {
    const rows = await read(stockEntries, 'c.jsonl', `{"petId":5,"quantity":1,"status":"sold"}\n${line}\n`);
    expect(rows[1]).toMatchObject(fault(2, text));
  });

  test('is read across the parts that the disk hands over, digit for digit', async () => {
    const petIds = Array.from({ length: 5_000 }, (_, index) => 2n ** 62n + BigInt(index));
    const text = petIds.map((petId) => `{"petId":${petId},"quantity":1,"status":"sold"}\r\n`).join('');
    const rows = await read(stockEntries, 'd.jsonl', text);
    expect(text.length).toBeGreaterThan(3 * CHUNK);
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
    ['without the column for dates', 'id,petId,quantity,status,complete\n1,2,3,placed,false\n', {}],
    ['as a spreadsheet writes them', `${HEADER}\r\n1,2,3,,placed,FALSE\r\n`, {}],
  ])('may be CSV %s', async (_, content, fields) => {
    expect(await read(orders, 'a.csv', content)).toEqual([{ line: 2, entry: { ...order, ...fields } }]);
  });

  test.each([
    ['a date that is none', '1,2,3,tomorrow,placed,false', 'shipDate must be a time such as'],
    ['neither true nor false', '1,2,3,,placed,yes', 'complete must be true or false, not "yes"'],
  ])('with %s names the fault', async (_, row, text) => {
    expect(await read(orders, 'b.csv', `${HEADER}\n${row}\n`)).toEqual([fault(2, text)]);
  });
});

describe('a file of pets', () => {
  const pet = { id: '1', name: 'Rex', photoUrls: ['https://images.example.com/1.jpg'] };

  test('is read with every digit and letter', async () => {
    const rest = `"name":"Zoë \u2028 🐶","photoUrls":[],"tags":[{"id":${SMALLEST},"name":"5"}]`;
    const line = `{"id":${LARGEST},"category":{"name":"dogs","id":9007199254740993},${rest}}`;
    expect(await read(pets, 'a.jsonl', `\uFEFF${line}\n`)).toEqual([
      {
        line: 1,
        entry: {
          id: LARGEST,
          category: { id: '9007199254740993', name: 'dogs' },
          name: 'Zoë \u2028 🐶',
          photoUrls: [],
          tags: [{ id: SMALLEST, name: '5' }],
        },
      },
    ]);
  });

  test.each([
    ['a status', { status: 'sold' }, 'status comes from the stock entry: leave it out'],
    ['an empty name', { name: '' }, 'name must not be empty'],
    ['text for a category', { category: 'dogs' }, 'category must be an object, not "dogs"'],
    ['a tag with more than it has', { tags: [{ id: 1, name: 'a', x: 1 }] }, 'tags.0.x is not known'],
    ['one URL instead of a list', { photoUrls: 'https://images.example.com' }, 'photoUrls must be a list of URLs'],
    ['a field of another name', { constructor: 1 }, 'constructor is not known'],
    ['many faults', { photoUrls: Array(40).fill('x') }, 'photoUrls.4 must be a URL, not "x"; and 35 more'],
  ])('with %s names the fault', async (_, fields, text) => {
    expect(await read(pets, 'd.jsonl', JSON.stringify({ ...pet, ...fields }))).toEqual([fault(1, text)]);
  });

  test('that is Latin-1 is refused: its letters would be lost', async () => {
    const bytes = Buffer.from(JSON.stringify({ ...pet, name: 'Zoë' }), 'latin1');
    expect(await read(pets, 'f.jsonl', bytes)).toEqual([{ line: 1, fault: 'is not UTF-8 text' }]);
  });

  test('has no other format', async () => {
    await expect(read(pets, 'pets.csv', 'id,name\n')).rejects.toThrow(
      'Cannot import pets.csv: its name must end in .jsonl: a pet has lists, so it takes a line of JSON each.',
    );
  });
});

test.each(['none.csv', 'none.jsonl'])('A file that is not there is named: %s', async (name) => {
  const reading = Array.fromAsync(readRecords({ name, open: () => createReadStream(name) }, stockEntries));

  await expect(reading).rejects.toThrow(/^Cannot read none\.\w+: .*ENOENT/);
});
