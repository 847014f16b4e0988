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

describe('a CSV file', () => {
  const HEADER = 'petId,quantity,status';

  test.each([
    ['lines without a row', `${HEADER}\n${SMALLEST},2,sold\n\n3,0,sold`, 4],
    ['semicolons', `petId;quantity;status\n${SMALLEST};2;sold\n3;0;sold\n`, 3],
    ['Windows line ends and a byte order mark', `\uFEFF${HEADER}\r\n${SMALLEST},2,sold\r\n3,0,sold\r\n`, 3],
    ['spaces and quotes around cells', `${HEADER}\n ${SMALLEST} , "2" ,sold\n3,0,sold\n`, 3],
  ])('may have %s', async (_, content, lastLine) => {
    expect(await read(stockEntries, 'a.csv', content)).toEqual([
      { line: 2, entry: { petId: SMALLEST, quantity: 2, status: 'sold' } },
      { line: lastLine, entry: { petId: '3', quantity: 0, status: 'sold' } },
    ]);
  });

  test.each([
    ['a petId beyond int64', '9223372036854775808,1,sold', 'petId must be an int64'],
    ['an empty quantity', '1,,sold', 'quantity must be an integer from 0 to 2147483647, not ""'],
    ['an unknown status', '1,1,gone', 'status must be one of available, pending, sold, not "gone"'],
    ['an open quote', '1,"1,sold', 'Quote Not Closed'],
    ['several faults', 'x,-1,sold', 'such as 42, not "x"; quantity must be'],
  ])('with %s is reported', async (_, row, text) => {
    const [good, bad] = await read(stockEntries, 'd.csv', `${HEADER}\n5,5,sold\n${row}\n`);
    expect(good).toHaveProperty('entry');
    expect(bad).toMatchObject({ fault: expect.stringContaining(text) });
    expect(bad?.line).toBeGreaterThanOrEqual(3);
  });

  test.each([
    [
      'no header line',
      '101,4,available\n',
      /^The first line of a\.csv must be petId,quantity,status.*, not 101,4,available\. /,
    ],
    ['a wrong column', 'petId;qty;status\n1;1;sold\n', /, not petId,qty,status\. Nothing was written\.$/],
  ])('with %s is refused, and the error states the header rule', async (_, content, message) => {
    await expect(read(stockEntries, 'a.csv', content)).rejects.toThrow(message);
  });

  test('reports each row of another length', async () => {
    expect(await read(stockEntries, 'a.csv', `${HEADER}\n1,1\n2,2,sold\n3,3,sold,x\n`)).toEqual([
      fault(2, 'columns length is 3, got 2'),
      { line: 3, entry: { petId: '2', quantity: 2, status: 'sold' } },
      fault(4, 'columns length is 3, got 4'),
    ]);
  });

  test('reports a fault in one short, escaped line', async () => {
    const cell = `"\u001B[31m\n\r\u0000${'x'.repeat(10_000)}"`;
    const [row] = await read(stockEntries, 'g.csv', `${HEADER}\n${cell},1,sold\n`);
    const shown = /^petId must be .*, not "\\u001b\[31m\\u000a\\u000d\\u0000x+…$/;
    expect(row).toHaveProperty('fault', expect.stringMatching(shown));
    expect(JSON.stringify(row).length).toBeLessThan(300);
  });

  test.each([
    ['as a spreadsheet writes them', 'id,petId,quantity,shipDate,status,complete\r\n1,2,3,,placed,FALSE\r\n'],
    ['without an optional column', 'petId,id,quantity,status,complete\n2,1,3,placed,false\n'],
  ])('may have orders %s', async (_, content) => {
    const entry = { id: '1', petId: '2', quantity: 3, status: 'placed', complete: false };
    expect(await read(orders, 'a.csv', content)).toEqual([{ line: 2, entry }]);
  });

  test('of orders must not repeat a column; the error lists the optional ones', async () => {
    const message = 'must be id,petId,quantity,shipDate (optional),status,complete, not petId,id,quantity,status,';
    await expect(read(orders, 'a.csv', 'petId,id,quantity,status,complete,id\n')).rejects.toThrow(message);
  });

  test.each([
    ['a date that is none', '1,2,3,tomorrow,placed,false', 'shipDate must be a time such as'],
    ['neither true nor false', '1,2,3,,placed,yes', 'complete must be true or false, not "yes"'],
  ])('of orders with %s is reported', async (_, row, text) => {
    const content = `id,petId,quantity,shipDate,status,complete\n${row}\n`;
    expect(await read(orders, 'b.csv', content)).toEqual([fault(2, text)]);
  });
});

describe('a JSON Lines file', () => {
  test.each<[string, string, string | RegExp]>([
    ['broken JSON', '{"petId":1', 'is not valid JSON'],
    ['a float as petId', '{"petId":1.5,"quantity":1,"status":"sold"}', 'petId must be an int64'],
    ['an unknown field', '{"petId":1,"quantity":1,"status":"sold","color":"red"}', 'color is unknown'],
    ['a missing field', '{"petId":1,"quantity":1}', 'status is missing'],
    ['an endless quantity', '{"petId":1,"quantity":1e999,"status":"sold"}', 'quantity must be an integer'],
    ['a field twice', '{"petId":1,"quantity":1,"status":"sold","petId":2}', 'petId is duplicated'],
    ['a zero character', '{"petId":1,"quantity":1,"status":"sold"}\0', 'is not valid JSON'],
    ['a fraction', '{"petId":1,"quantity":1.5,"status":"sold"}', 'from 0 to 2147483647, not 1.5'],
  ])('with %s is reported with its line', async (_, line, text) => {
    const rows = await read(stockEntries, 'c.jsonl', `{"petId":5,"quantity":1,"status":"sold"}\n${line}\n`);
    expect(rows[1]).toMatchObject({ line: 2, fault: expect.stringMatching(text) });
  });

  test('is read exactly across chunk boundaries', async () => {
    const petIds = Array.from({ length: 5_000 }, (_, index) => String(2n ** 62n + BigInt(index)));
    const text = petIds.map((petId) => `{"petId":${petId},"quantity":1,"status":"sold"}\r\n`).join('');
    const rows = await read(stockEntries, 'd.jsonl', text);
    expect(text.length).toBeGreaterThan(3 * CHUNK);
    expect(rows).toEqual(
      petIds.map((petId, index) => ({ line: index + 1, entry: { petId, quantity: 1, status: 'sold' } })),
    );
  });

  test('of pets keeps every digit and letter', async () => {
    const rest = `"name":"Zoë \u2028 🐶","photoUrls":[],"tags":[{"id":${SMALLEST},"name":"5"}]`;
    const line = `{"id":${LARGEST},"category":{"name":"dogs","id":9007199254740993},${rest}}`;
    const category = { id: '9007199254740993', name: 'dogs' };
    const entry = { id: LARGEST, category, name: 'Zoë \u2028 🐶', photoUrls: [], tags: [{ id: SMALLEST, name: '5' }] };
    expect(await read(pets, 'a.jsonl', `\uFEFF${line}\n`)).toEqual([{ line: 1, entry }]);
  });

  const pet = { id: '1', name: 'Rex', photoUrls: ['https://images.example.com/1.jpg'] };

  test.each([
    ['a status', { status: 'sold' }, 'status belongs to the stock entry: remove it'],
    ['text for a category', { category: 'dogs' }, 'category must be an object, not "dogs"'],
    ['a tag with more than it has', { tags: [{ id: 1, name: 'a', x: 1 }] }, 'tags.0.x is unknown'],
    ['a field of another name', { constructor: 1 }, 'constructor is unknown'],
    ['many faults', { photoUrls: Array(40).fill('x') }, 'photoUrls.4 must be a URL, not "x"; and 35 more'],
  ])('of pets with %s is reported', async (_, fields, text) => {
    expect(await read(pets, 'd.jsonl', JSON.stringify({ ...pet, ...fields }))).toEqual([fault(1, text)]);
  });

  test('in Latin-1 is refused', async () => {
    const bytes = Buffer.from(JSON.stringify({ ...pet, name: 'Zoë' }), 'latin1');
    expect(await read(pets, 'f.jsonl', bytes)).toEqual([
      { line: 1, fault: expect.stringContaining('not valid for encoding utf-8') },
    ]);
  });
});

test.each([
  ['h.csv', `petId,quantity,status\n"${'x\n'.repeat(MAX_ROW_BYTES)}`, 'Max Record Size'],
  ['e.jsonl', `[${'{"petId":1},'.repeat(MAX_ROW_BYTES / 8)}`, 'Max Record Size'],
])('reading stops at a row without an end: %s', async (name, content, text) => {
  expect(await read(stockEntries, name, content)).toMatchObject([{ fault: expect.stringContaining(text) }]);
});

test('pets are read from JSON Lines only, and a missing file is reported', async () => {
  await expect(read(pets, 'pets.csv', 'id,name\n')).rejects.toThrow(
    'Cannot import pets.csv: its extension must be .jsonl',
  );
  const reading = Array.fromAsync(
    readRecords({ name: 'none.csv', open: () => createReadStream('none.csv') }, stockEntries),
  );
  await expect(reading).rejects.toThrow(/^Cannot read none\.csv: .*ENOENT/);
});
