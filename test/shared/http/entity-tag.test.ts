import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { entityTag, ifMatchRevisions } from '../../../shared/http/entity-tag.ts';
import { aProxyEvent } from '../../support/proxy-event.ts';

const revisionsOf = (...values: string[]) => ifMatchRevisions(aProxyEvent({ headers: { 'If-Match': values } }));

function fails(value: string): boolean {
  try {
    revisionsOf(value);
    return false;
  } catch {
    return true;
  }
}

const tags = (count: number) => Array.from({ length: count }, (_, index) => entityTag(index)).join(', ');
const revision = fc.oneof(fc.nat(), fc.maxSafeNat());

describe('an entity tag', () => {
  test('is strong: quoted, without W/ (RFC 9110 §8.8.3)', () => {
    fc.assert(
      fc.property(revision, (value) => {
        expect(entityTag(value)).toMatch(/^"[\da-z]+"$/);
      }),
    );
  });

  test('is another one for every revision', () => {
    fc.assert(
      fc.property(revision, revision, (a, b) => {
        expect(entityTag(a) === entityTag(b)).toBe(a === b);
      }),
    );
  });

  test('in If-Match stands for its revision', () => {
    fc.assert(
      fc.property(revision, (value) => {
        expect(revisionsOf(entityTag(value))).toEqual([value]);
      }),
    );
  });
});

describe('If-Match', () => {
  test('that is not sent asks for nothing', () => {
    expect(ifMatchRevisions(aProxyEvent())).toBeUndefined();
  });

  test.each(['*', ' * ', '\t*'])('%j asks for any version', (value) => {
    expect(revisionsOf(value)).toBeUndefined();
  });

  test.each([
    ['one tag', ['"1"'], [1]],
    ['several tags', ['"1", "2","3"'], [1, 2, 3]],
    ['spaces and tabs around them', [' \t"1" \t,\t"2"  '], [1, 2]],
    ['empty elements, as a recipient must take them (RFC 9110 §5.6.1)', [', "1",, ,"2",'], [1, 2]],
    ['several headers', ['"1"', '"2", "3"'], [1, 2, 3]],
    ['the same tag twice', ['"1", "1"'], [1, 1]],
    ['a revision of zero', ['"0"'], [0]],
    ['the highest revision', [entityTag(Number.MAX_SAFE_INTEGER)], [Number.MAX_SAFE_INTEGER]],
    ['as many tags as there may be', [tags(20)], Array.from({ length: 20 }, (_, index) => index)],
  ])('with %s names their revisions', (_, values, revisions) => {
    expect(revisionsOf(...values)).toEqual(revisions);
  });

  test.each([
    ['weak', 'W/"1"'],
    ['empty', '""'],
    ['of somebody else', '"v1.2-abc"'],
    ['of another form: upper case', '"1A"'],
    ['of another form: leading zeros', '"01"'],
    ['of another form: minus zero', '"-0"'],
    ['of another form: a plus sign', '"+1"'],
    ['of another form: a fraction', '"1.5"'],
    ['of another form: a space encoded', '"%20"'],
    ['not a number', '"NaN"'],
    ['with a comma in it', '"1,2"'],
    ['with letters beyond ASCII', '"\u00e4"'],
    ['beyond the safe integers', `"${(36 ** 12).toString(36)}"`],
    ['far beyond them', `"1${'0'.repeat(150)}"`],
    ['beyond all numbers', `"${'z'.repeat(1_000)}"`],
    ['Infinity', '"Infinity"'],
  ])('with a tag that is %s matches no version', (_, tag) => {
    expect(revisionsOf(tag)).toEqual([]);
    expect(revisionsOf(`${tag}, "5"`)).toEqual([5]);
  });

  test.each([
    ['nothing in it', ''],
    ['commas only', ', ,'],
    ['a tag without quotes', '1'],
    ['a tag that does not end', '"1'],
    ['a tag that does not begin', '1"'],
    ['tags without a comma between', '"1" "2"'],
    ['tags that touch', '"1""2"'],
    ['a star beside a tag', '*, "1"'],
    ['two stars', '*, *'],
    ['a small w', 'w/"1"'],
    ['a space in a tag', '"1 2"'],
    ['a control character in a tag', '"1\u0007"'],
    ['letters beyond Latin-1', '"犬"'],
    ['more tags than there may be', tags(21)],
    ['more than 2000 characters', `"${'a'.repeat(2_000)}"`],
    ['very much in it', '"1",'.repeat(100_000)],
  ])('with %s is 400 and says what it takes', (_, value) => {
    expect(() => revisionsOf(value)).toThrow(
      expect.objectContaining({
        code: 'INVALID_HEADER',
        status: 400,
        message: 'If-Match must be * or at most 20 entity tags such as "16", as an ETag header has them.',
      }),
    );
  });

  test('never names what DynamoDB could not be asked for, whatever is in it', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^"[ -~]{0,30}"(?:,"[\w-]{0,300}")?$/), (value) => {
        fc.pre(!fails(value));
        expect(revisionsOf(value)?.filter((one) => !Number.isSafeInteger(one))).toEqual([]);
      }),
    );
  });
});
