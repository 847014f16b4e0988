import { Readable } from 'node:stream';
import { afterAll, expect, test } from '@jest/globals';
import { KeySection } from '../../../infra/admin/service-file/key-section.ts';
import { recordSections } from '../../../infra/admin/service-file/sections.ts';
import { readServiceFile } from '../../../infra/admin/service-file/service-file.ts';
import { generateToken, hashToken, parseToken } from '../../../shared/keys/token.ts';
import { InProcessTarget } from '../../support/in-process-target.ts';
import { MAX_INT64, MIN_INT64 } from '../../support/int64.ts';

const world = new InProcessTarget();
afterAll(() => world.close());
const sections = [...recordSections(world.target), new KeySection(world.target)];

const token = generateToken();
const hash = hashToken(token);
const tokens = { [hash]: { until: 9, access: 'full', label: 'main', last: 'abcd', since: 1 } };
const counters = { currentMinute: 0, minuteUsed: 0, dayUsed: 0, minuteRefused: 0, suspendedUntil: 0 };
const { recordId } = parseToken(token) ?? {};
const key = {
  ...counters,
  recordId,
  tokens,
  keyId: 'k1',
  name: 'Acme',
  plan: 'free',
  enabled: true,
  tags: {},
  suspendedByAdmin: false,
};

const header = '{"format":"pet-store-inventory","version":1}';
const stock = (petId: string, quantity = 1) => `{"stock":{"petId":${petId},"quantity":${quantity},"status":"sold"}}`;
const keyLine = (differences: object = {}) => JSON.stringify({ keys: { ...key, ...differences } });
const end = (counts: object) => JSON.stringify({ end: { stock: 0, pets: 0, orders: 0, keys: 0, ...counts } });

async function read(...lines: string[]): Promise<unknown[]> {
  const source = { name: 'a.jsonl', open: () => Readable.from([Buffer.from(lines.join('\n'))]) };
  const batches = await Array.fromAsync(readServiceFile(source, sections));
  return batches.flatMap(({ entries }) => entries);
}

test('a file has its records with every digit, in ascending id', async () => {
  const lines = [header, stock(MIN_INT64), stock('9007199254740993'), stock(MAX_INT64), keyLine()];

  expect(await read(...lines, end({ stock: 3, keys: 1 }))).toMatchObject([
    { petId: MIN_INT64 },
    { petId: '9007199254740993' },
    { petId: MAX_INT64 },
    key,
  ]);
});

test.each<[string, string[], string]>([
  ['nothing', [], 'its end is missing'],
  ['another format', [stock('1'), end({ stock: 1 })], 'line 1 must be {"format"'],
  ['another version', [header.replace('1}', '2}'), end({})], 'take the release that has written it'],
  ['no end', [header, stock('1')], 'its end is missing'],
  ['fewer records than its end says', [header, stock('1'), end({ stock: 2 })], 'has other numbers'],
  ['a line after the end', [header, end({}), stock('1')], 'line 3 stands after the end'],
  ['a record twice', [header, stock('1'), stock('1'), end({ stock: 2 })], 'line 3 is out of order, or here twice'],
  ['a section out of order', [header, keyLine(), stock('1'), end({ stock: 1, keys: 1 })], 'line 3 is out of order'],
  ['a line of something else', [header, '{"cats":{}}', end({})], 'line 2 must be of stock, pets, orders, keys'],
  ['a line without JSON', [header, '{"stock":', end({})], 'line 2 is not valid JSON'],
  ['a bad record', [header, stock('1', -1), end({ stock: 1 })], 'line 2 is wrong: quantity must be an integer'],
  ['a bad token', [header, keyLine({ tokens: { [hash]: {} } }), end({ keys: 1 })], 'tokens is not as export-all'],
  ['a key of unknown fields', [header, keyLine({ more: 1 }), end({ keys: 1 })], 'more is not as export-all writes it'],
  ['no key', [header, '{"keys":7}', end({ keys: 1 })], 'line 2 is wrong: it is not as export-all writes it'],
  ['a key from the console', [header, keyLine({ recordId: 'f'.repeat(64) }), end({ keys: 1 })], 'recordId is not that'],
  ['an unreadable tag', [header, keyLine({ tags: { expires: 'soon' } }), end({ keys: 1 })], 'no ISO 8601 date'],
])('a file with %s is refused', async (_, lines, words) => {
  const refusal = await read(...lines).then(
    () => '',
    ({ message }: Error) => message,
  );

  expect(refusal).toMatch(/^a\.jsonl cannot be imported: /);
  expect(refusal).toContain(words);
  expect(refusal).not.toContain(hash);
});
