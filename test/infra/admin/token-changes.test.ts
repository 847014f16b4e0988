import { describe, expect, test } from '@jest/globals';
import { tokenEntry, type AddTokenParams, type Tokens } from '../../../shared/key-registry/record-changes.ts';
import {
  tokensLabeled,
  withEnd,
  withShown,
  withToken,
  workingTokens,
} from '../../../infra/admin/keys/token-changes.ts';
import { NO_EXPIRY } from '../../../shared/keys/key-record.ts';
import { hashToken } from '../../../shared/keys/token.ts';

const NOW = 1_000_000;

/** A token of a text, made at a time. */
const entry = (text: string, order: AddTokenParams = {}, since = 0): Tokens => tokenEntry(text, order, since);
const names = (tokens: Tokens): string[] => {
  const texts = ['old', 'new', 'pending', 'ended', 'other', 'a', 'b', 'c', 'd'];
  return texts.filter((text) => Object.hasOwn(tokens, hashToken(text)));
};

describe('the tokens of a label', () => {
  const tokens = {
    ...entry('pending', { pending: true }, 3),
    ...entry('new', {}, 2),
    ...entry('old', { until: NOW + 1 }, 1),
    ...entry('ended', { until: NOW }),
    ...entry('other', { label: 'reports' }),
  };

  test('are the current one, those in their grace, and one never shown', () => {
    expect(tokensLabeled({ tokens }, 'main', NOW)).toMatchObject({
      current: { hash: hashToken('new') },
      inGrace: [{ hash: hashToken('old') }],
      pending: { hash: hashToken('pending') },
    });
    expect(tokensLabeled({ tokens }, 'app', NOW)).toEqual({ current: undefined, inGrace: [], pending: undefined });
  });

  test('are valid until their end to the millisecond, and listed oldest first', () => {
    expect(workingTokens({ tokens }, NOW).map(({ since }) => since)).toEqual([0, 1, 2, 3]);
    expect(workingTokens({ tokens }, NOW + 1).map(({ since }) => since)).toEqual([0, 2, 3]);
  });

  test('that ended or were never shown make room for another', () => {
    expect(names(withToken({ tokens }, entry('a'), NOW))).toEqual(['old', 'new', 'other', 'a']);
    expect(names(withToken({ tokens }, entry('a', { label: 'reports' }), NOW))).toEqual([
      'old',
      'new',
      'pending',
      'other',
      'a',
    ]);
  });
});

test('revoking tokens only shortens their validity, and only theirs', () => {
  const tokens = { ...entry('a'), ...entry('b', { until: 5 }), ...entry('c') };
  const ended = withEnd(tokens, [hashToken('a'), hashToken('b'), hashToken('no token of it')], NOW);

  expect(Object.keys(ended)).toEqual(Object.keys(tokens));
  expect(['a', 'b', 'c'].map((text) => ended[hashToken(text)]?.until)).toEqual([NOW, 5, NO_EXPIRY]);
});

test('confirming a token clears its pending mark, and does not recreate a deleted one', () => {
  const tokens = entry('pending', { pending: true });

  expect(withShown(tokens, hashToken('pending'))).toStrictEqual(entry('pending'));
  expect(withShown(tokens, hashToken('a'))).toBe(tokens);
});
