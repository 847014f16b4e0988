import { describe, expect, test } from '@jest/globals';
import { entityTag } from '../../../shared/contract/inventory.ts';
import { ifMatchVersions } from '../../../shared/http/if-match.ts';
import { newVersion } from '../../../shared/stores/stock-store.ts';
import { aProxyEvent } from '../../support/proxy-event.ts';

const versionsOf = (...values: string[]) => ifMatchVersions(aProxyEvent({ headers: { 'If-Match': values } }));

const tags = (count: number) => Array.from({ length: count }, (_, index) => `"${index}"`).join(', ');

describe('If-Match', () => {
  test('that is not sent asks for nothing', () => {
    expect(ifMatchVersions(aProxyEvent())).toBeUndefined();
  });

  test.each(['*', ' * ', '\t*'])('%j asks for any version', (value) => {
    expect(versionsOf(value)).toBeUndefined();
  });

  test.each([
    ['one tag', ['"1"'], ['1']],
    ['several tags', ['"1", "2","3"'], ['1', '2', '3']],
    ['spaces and tabs around them', [' \t"1" \t,\t"2"  '], ['1', '2']],
    ['empty elements, as a recipient must take them (RFC 9110 §5.6.1)', [', "1",, ,"2",'], ['1', '2']],
    ['several headers', ['"1"', '"2", "3"'], ['1', '2', '3']],
    ['the same tag twice', ['"1", "1"'], ['1', '1']],
    ['the tag of a version', [entityTag('mX0aVbq3Zk-_')], ['mX0aVbq3Zk-_']],
    ['as many tags as there may be', [tags(20)], Array.from({ length: 20 }, (_, index) => String(index))],
  ])('with %s names their versions', (_, values, versions) => {
    expect(versionsOf(...values)).toEqual(versions);
  });

  test.each([
    ['weak', 'W/"1"'],
    ['empty', '""'],
    ['of somebody else', '"v1.2-abc"'],
    ['with a comma in it', '"1,2"'],
    ['with letters beyond ASCII', '"\u00e4"'],
  ])('with a tag that is %s stays in its quotes, as no version is', (_, tag) => {
    expect(versionsOf(tag)).toEqual([tag]);
    expect(versionsOf(`${tag}, "5"`)).toEqual([tag, '5']);
  });

  test('takes every version that a write may make', () => {
    const versions = Array.from({ length: 1_000 }, newVersion);

    expect(new Set(versions).size).toBe(1_000);
    expect(versions.map((version) => versionsOf(entityTag(version))?.[0])).toEqual(versions);
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
    expect(() => versionsOf(value)).toThrow(
      expect.objectContaining({
        code: 'INVALID_HEADER',
        status: 400,
        message: 'If-Match must be * or at most 20 entity tags such as "mX0aVbq3Zk1T", as an ETag header has them.',
      }),
    );
  });
});
