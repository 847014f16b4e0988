import { expect } from '@jest/globals';
import { hashApiKey } from '../../shared/keys/api-key.ts';

/** Any key of ours. */
export const KEY_PATTERN = /psk_[0-9A-Za-z]{46}/g;

/** Checks that a text has neither a key in it, nor what is stored in place of one. */
export function expectNoSecrets(text: string, keys: readonly string[]): void {
  expect(text.match(KEY_PATTERN) ?? []).toEqual([]);
  expect(keys.filter((key) => text.includes(hashApiKey(key)))).toEqual([]);
}
