import { expect, test } from '@jest/globals';
import { RequestTokens } from '../../../../infra/local/dynamodb/request-tokens.ts';

test('A token is remembered for ten minutes', () => {
  let now = 0;
  const tokens = new RequestTokens<string>(() => now);
  tokens.remember('token', 'request', 'outcome');
  now = 599_999;

  expect(tokens.outcomeOf('token', 'request')).toBe('outcome');
  expect(() => tokens.outcomeOf('token', 'another')).toThrow('The token was used for another request');

  now = 600_000;

  expect(tokens.outcomeOf('token', 'another')).toBeUndefined();
});
