import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { parseExactJson } from '../../../shared/client/exact-json.ts';

describe('an answer as JSON', () => {
  test.each([
    ['beyond 2^53', '{"petId":9007199254740993}', { petId: 9007199254740993n }],
    ['the largest', '{"petId":9223372036854775807}', { petId: 9223372036854775807n }],
    ['the smallest', '{"petId":-9223372036854775808}', { petId: -9223372036854775808n }],
    ['with space around it', '{ "petId" :\n\t1 }', { petId: 1n }],
    ['followed by another field', '{"petId":1,"quantity":2}', { petId: 1n, quantity: 2 }],
    ['within a list and an object', '[{"tags":[{"id":9007199254740993}]}]', [{ tags: [{ id: 9007199254740993n }] }]],
    ['with an escape in its name', String.raw`{"pet\u0049d":12}`, { petId: 12n }],
    ['with an exponent', '{"petId":1e3}', { petId: 1000n }],
  ])('keeps an int64 %s', (_, text, value) => {
    expect(parseExactJson(text)).toEqual(value);
  });

  test.each([
    ['a string about a field', { name: '"petId":12, "id": 13' }],
    ['a string with an escape at its end', { name: String.raw`\"petId":12` + '\\' }],
    ['a field with a similar name', { petIdOfOld: 12, myid: 13 }],
    ['a string where the name of a field ends', { name: 'petId', quantity: 3 }],
  ])('leaves %s alone', (_, value) => {
    expect(parseExactJson(JSON.stringify(value))).toEqual(value);
  });

  test.each([
    ['a fraction', '{"petId":1.5}'],
    ['digits that a number does not hold', String.raw`{"pet\u0049d":9007199254740993}`],
    ['words', '{"petId":"Rex"}'],
    ['null', '{"petId":null}'],
    ['an object', '{"petId":{}}'],
    ['nothing', ''],
    ['a list that breaks off', '[{"petId":1}'],
  ])('is refused with %s', (_, text) => {
    expect(() => parseExactJson(text)).toThrow(SyntaxError);
  });

  test('keeps every int64 and every string', () => {
    const int64 = fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n);
    const name = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('"petId":1', '\\"id":2,', '{"id":3}'));
    fc.assert(
      fc.property(
        fc.array(fc.record({ petId: int64, name, tags: fc.array(fc.record({ id: int64, name })) })),
        (list) => {
          const text = JSON.stringify(list, (_, value: unknown) =>
            typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value,
          );
          expect(parseExactJson(text)).toEqual(list);
        },
      ),
    );
  });
});
