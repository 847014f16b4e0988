import { readFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import { MAX_FILE_BYTES, readRecords } from '../../../infra/admin/records/read-records.ts';
import { orders, pets, type RecordKind, stockEntries } from '../../../infra/admin/records/record-kinds.ts';

const LARGEST = '9223372036854775807';
const SMALLEST = '-9223372036854775808';

function read<Entry>(kind: RecordKind<Entry>, name: string, content: string | Uint8Array) {
  const bytes = content instanceof Uint8Array ? content : Buffer.from(content);
  return Array.fromAsync(readRecords({ name, read: () => Promise.resolve(bytes) }, kind));
}

const fault = (line: number, text: string) => ({ line, fault: expect.stringContaining(text) });

describe('A CSV file', () => {
  const HEADER = 'petId,quantity,status';
  const ORDERS = 'id,petId,quantity,shipDate,status,complete';

  test.each([
    ['empty lines', `${HEADER}\n${SMALLEST},2,sold\n\n3,0,sold`, [2, 4]],
    ['rows of empty cells', `,,\n${HEADER}\n${SMALLEST},2,sold\n , ,\n3,0,sold\n,,\n,,`, [3, 5]],
    ['semicolons', `sep=;\r\npetId;quantity;status\r\n${SMALLEST};2;sold\r\n3;0;sold\r\n;;\r\n`, [3, 4]],
    ['Windows line ends and a byte order mark', `\uFEFF${HEADER}\r\n${SMALLEST},2,sold\r\n3,0,sold\r\n`, [2, 3]],
    ['spaces and quotes around cells', `${HEADER}\n ${SMALLEST} , "2" ,sold\n3,0,sold\n`, [2, 3]],
  ])('may have %s; each row keeps its line and all digits', async (_, content, [first, last]) => {
    expect(await read(stockEntries, 'a.csv', content)).toEqual([
      { line: first, entry: { petId: SMALLEST, quantity: 2, status: 'sold' } },
      { line: last, entry: { petId: '3', quantity: 0, status: 'sold' } },
    ]);
  });

  test.each([
    ['a petId beyond int64', '9223372036854775808,1,sold', 'petId must be an int64'],
    ['an empty quantity', '1,,sold', 'quantity must be an integer from 0 to 2147483647, not ""'],
    ['an unknown status', '1,1,gone', 'status must be one of available, pending, sold, not "gone"'],
    ['an open quote', '1,"1,sold', 'Quote Not Closed'],
    ['a quote within a cell', '1,"1"1,sold\n2,2,sold\n3,"3",sold', 'Invalid Closing Quote'],
    ['several faults', 'x,-1,sold', 'such as 42, not "x"; quantity must be'],
    ['too few cells', '1,1', 'columns length is 3, got 2'],
    ['too many cells', '3,3,sold,x', 'columns length is 3, got 4'],
    ['control characters', '"\u001B[31m\n\r\u0000",1,sold', 'not "\\u001b[31m\\u000a\\u000d\\u0000"'],
    ['a long cell', `${'x'.repeat(10_000)},1,sold`, 'x…'],
  ])('names the fault of a row with %s, in one short line', async (_, row, text) => {
    const [good, bad, ...more] = await read(stockEntries, 'd.csv', `${HEADER}\n5,5,sold\n${row}\n`);
    expect(good).toHaveProperty('entry');
    expect(bad).toMatchObject({ line: expect.any(Number), fault: expect.stringContaining(text) });
    expect(JSON.stringify(bad).length).toBeLessThan(300);
    expect(more).toEqual([]);
  });

  test.each([
    ['no header line', '1,4,sold\n', /^The first line of a\.csv must be petId,quantity,status.*, not 1,4,sold\. /],
    ['an unknown column', 'petId;qty;status\n1;1;sold\n', /, not petId,qty,status\. Nothing was written\.$/],
  ])('with %s is refused, and the error names the columns that it must have', async (_, content, message) => {
    await expect(read(stockEntries, 'a.csv', content)).rejects.toThrow(message);
  });

  test('of orders with a duplicate column is refused, and the error names the optional columns', async () => {
    const message = 'must be id,petId,quantity,shipDate (optional),status,complete, not petId,id,quantity,status,';
    await expect(read(orders, 'a.csv', 'petId,id,quantity,status,complete,id\n')).rejects.toThrow(message);
  });

  test.each([
    ['as a spreadsheet writes them', `${ORDERS}\r\n1,2,3,,placed,FALSE\r\n`],
    ['without an optional column', 'petId,id,quantity,status,complete\n2,1,3,placed,false\n'],
  ])('may have orders %s', async (_, content) => {
    const entry = { id: '1', petId: '2', quantity: 3, status: 'placed', complete: false };
    expect(await read(orders, 'a.csv', content)).toEqual([{ line: 2, entry }]);
  });

  test.each([
    ['an invalid date', '1,2,3,tomorrow,placed,false', 'shipDate must be a time such as'],
    ['neither true nor false', '1,2,3,,placed,yes', 'complete must be true or false, not "yes"'],
  ])('names the fault of an order with %s', async (_, row, text) => {
    expect(await read(orders, 'b.csv', `${ORDERS}\n${row}\n`)).toEqual([fault(2, text)]);
  });
});

describe('A JSON Lines file', () => {
  test.each([
    ['broken JSON', '{"petId":1', 'is not valid JSON'],
    ['a float as petId', '{"petId":1.5,"quantity":1,"status":"sold"}', 'petId must be an int64'],
    ['an unknown field', '{"petId":1,"quantity":1,"status":"sold","color":"red"}', 'color is unknown'],
    ['a missing field', '{"petId":1,"quantity":1}', 'status is missing'],
    ['an infinite quantity', '{"petId":1,"quantity":1e999,"status":"sold"}', 'quantity must be an integer'],
    ['a duplicate field', '{"petId":1,"quantity":1,"status":"sold","petId":2}', 'petId is duplicated'],
    ['a null character', '{"petId":1,"quantity":1,"status":"sold"}\0', 'is not valid JSON'],
    ['a fraction', '{"petId":1,"quantity":1.5,"status":"sold"}', 'from 0 to 2147483647, not 1.5'],
  ])('names the line and the fault of an entry with %s', async (_, line, text) => {
    const rows = await read(stockEntries, 'c.jsonl', `{"petId":5,"quantity":1,"status":"sold"}\n${line}\n`);
    expect(rows[1]).toEqual(fault(2, text));
  });

  test('of pets is read with all digits and letters', async () => {
    const rest = `"name":"Zoë \u2028 🐶","photoUrls":[],"tags":[{"id":${SMALLEST},"name":"5"}]`;
    const line = `{"id":${LARGEST},"category":{"name":"dogs","id":9007199254740993},${rest}}`;
    const category = { id: '9007199254740993', name: 'dogs' };
    const entry = { id: LARGEST, category, name: 'Zoë \u2028 🐶', photoUrls: [], tags: [{ id: SMALLEST, name: '5' }] };
    expect(await read(pets, 'a.jsonl', `\uFEFF${line}\n`)).toEqual([{ line: 1, entry }]);
  });

  const pet = { id: '1', name: 'Rex', photoUrls: ['https://images.example.com/1.jpg'] };

  test.each([
    ['a status', { status: 'sold' }, 'status belongs to the stock entry: remove it'],
    ['a category that is text', { category: 'dogs' }, 'category must be an object, not "dogs"'],
    ['a tag with an unknown field', { tags: [{ id: 1, name: 'a', x: 1 }] }, 'tags.0.x is unknown'],
    ['a field that objects inherit', { constructor: 1 }, 'constructor is unknown'],
    ['many faults', { photoUrls: Array(40).fill('x') }, 'photoUrls.4 must be a URL, not "x"; and 35 more'],
  ])('names the fault of a pet with %s', async (_, fields, text) => {
    expect(await read(pets, 'd.jsonl', JSON.stringify({ ...pet, ...fields }))).toEqual([fault(1, text)]);
  });

  test('in Latin-1 is refused, as its letters would be lost', async () => {
    const bytes = Buffer.from(JSON.stringify({ ...pet, name: 'Zoë' }), 'latin1');
    await expect(read(pets, 'f.jsonl', bytes)).rejects.toThrow('Cannot read f.jsonl: its text is not UTF-8');
  });
});

const ENDLESS = 'x\n'.repeat(1_048_576);

test.each([
  ['h.csv', `petId,quantity,status\n"${ENDLESS}`, 'Max Record Size'],
  ['e.jsonl', `{"petId":"${ENDLESS.replaceAll('\n', ' ')}"}`, 'is too long'],
])('A row has a maximum length: %s', async (name, content, text) => {
  expect(await read(stockEntries, name, content)).toMatchObject([{ fault: expect.stringContaining(text) }]);
});

test('A file that is missing, too large or has another extension is refused', async () => {
  await expect(read(pets, 'pets.csv', 'id,name\n')).rejects.toThrow(
    'Cannot import pets.csv: its extension must be .jsonl',
  );
  const missing = { name: 'none.csv', read: () => readFile('none.csv') };
  await expect(Array.fromAsync(readRecords(missing, stockEntries))).rejects.toThrow(/^Cannot read none\.csv: .*ENOENT/);
  const large = new Uint8Array(MAX_FILE_BYTES + 1);
  await expect(read(pets, 'pets.jsonl', large)).rejects.toThrow('it has over 134,217,728 bytes: split it.');
});
