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

  test('are the one that has it, those in their grace, and one that was never shown', () => {
    expect(tokensLabeled({ tokens }, 'main', NOW)).toMatchObject({
      current: { hash: hashToken('new') },
      inGrace: [{ hash: hashToken('old') }],
      pending: { hash: hashToken('pending') },
    });
    expect(tokensLabeled({ tokens }, 'app', NOW)).toEqual({ current: undefined, inGrace: [], pending: undefined });
  });

  test('work until their very end, and are listed the oldest first', () => {
    expect(workingTokens({ tokens }, NOW).map(({ since }) => since)).toEqual([0, 1, 2, 3]);
    expect(workingTokens({ tokens }, NOW + 1).map(({ since }) => since)).toEqual([0, 2, 3]);
  });

  test('make room for another: what has ended and what was never shown goes, and what works stays', () => {
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

test('An end is brought forward and never put off, for those that are named alone', () => {
  const tokens = { ...entry('a'), ...entry('b', { until: 5 }), ...entry('c') };
  const ended = withEnd(tokens, [hashToken('a'), hashToken('b'), hashToken('no token of it')], NOW);

  expect(Object.keys(ended)).toEqual(Object.keys(tokens));
  expect(['a', 'b', 'c'].map((text) => ended[hashToken(text)]?.until)).toEqual([NOW, 5, NO_EXPIRY]);
});

test('A token that was shown is pending no more, and one that is gone does not come back', () => {
  const tokens = entry('pending', { pending: true });

  expect(withShown(tokens, hashToken('pending'))).toStrictEqual(entry('pending'));
  expect(withShown(tokens, hashToken('a'))).toBe(tokens);
});
