import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { JsonList } from '../../../shared/client/json-list.ts';

/** What a list hands out for pieces of text. */
function readIn(pieces: readonly string[]): { entries: unknown[]; isComplete: boolean } {
  const list = new JsonList();
  const entries = pieces.flatMap((piece): unknown[] => JSON.parse(list.push(piece) ?? '[]'));
  return { entries, isComplete: list.isComplete };
}

const tricky = [
  { name: '}{][,"\\', inner: { list: [1, { a: '}' }] } },
  {},
  { name: 'Ünïcödé \u{1F408}', escaped: '\\"' },
];

describe('a list that arrives in pieces', () => {
  test.each([
    ['whole', [JSON.stringify(tricky)]],
    ['a character at a time', JSON.stringify(tricky).split('')],
    ['with space around', [' \n', JSON.stringify(tricky, undefined, 2), '\r\n\t']],
  ])('is read %s', (_, pieces) => {
    expect(readIn(pieces)).toEqual({ entries: tricky, isComplete: true });
  });

  test.each([
    ['', false],
    ['[', false],
    ['[]', true],
    [' [ ] ', true],
    ['[{}', false],
    ['[{},', false],
    ['[{}]', true],
  ])('is complete where its end has come: %j', (text, isComplete) => {
    expect(readIn([text]).isComplete).toBe(isComplete);
  });

  test.each([
    '{}',
    'null',
    '[1]',
    '["a"]',
    '[[]]',
    '[,{}]',
    '[{},]',
    '[{}{}]',
    '[{},,{}]',
    '[{}]]',
    '[{}]{}',
    '[]x',
    '<html>',
  ])('is refused where it is something else: %s', (text) => {
    expect(() => readIn([text])).toThrow('The answer is not a list of entries');
    expect(() => readIn(text.split(''))).toThrow('The answer is not a list of entries');
  });

  test('is refused where an entry has no end', () => {
    const list = new JsonList();
    list.push('[{"name":"');
    expect(() => Array.from({ length: 20 }, () => list.push('x'.repeat(100_000)))).toThrow('An entry is too long');
  });

  test('hands out each entry once, wherever it is cut, and never looks complete before its end', () => {
    const entry = fc.dictionary(fc.string(), fc.oneof(fc.json(), fc.string(), fc.dictionary(fc.string(), fc.string())));
    fc.assert(
      fc.property(fc.array(entry), fc.array(fc.nat(200)), (entries, cuts) => {
        const text = JSON.stringify(entries);
        const ends = [...cuts.toSorted((a, b) => a - b), text.length];
        const pieces = ends.map((end, index) => text.slice(ends[index - 1] ?? 0, end));
        expect(readIn(pieces)).toEqual({ entries: JSON.parse(text), isComplete: true });
        expect(readIn([text.slice(0, -1)]).isComplete).toBe(false);
      }),
    );
  });
});
