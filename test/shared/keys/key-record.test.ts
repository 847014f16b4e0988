import { describe, expect, test } from '@jest/globals';
import { parseKeyRecord } from '../../../shared/keys/key-record.ts';

const number = (value: string) => ({ value });

/** An item of the keys table as the document client hands it over: numbers are wrapped. */
const item = {
  keyHash: 'ab'.repeat(32),
  keyId: 'k3y1d',
  lineage: 'k3y1d',
  name: 'acme',
  plan: 'free',
  perMinute: number('60'),
  perDay: number('1000'),
  enabled: true,
  revoked: false,
  createdAt: number('0'),
  interimUntil: number('0'),
  revision: number('1'),
  usageIdentifier: 'hash',
  currentMinute: number('29166667'),
  minuteUsed: number('3'),
  dayUsed: number('40'),
  minuteRefused: number('0'),
  suspendedUntil: number('0'),
  suspendedByAdmin: false,
};

describe('an item of the keys table', () => {
  test('is read with its numbers as numbers', () => {
    expect(parseKeyRecord(item)).toEqual({
      ...item,
      perMinute: 60,
      perDay: 1_000,
      currentMinute: 29_166_667,
      minuteUsed: 3,
      dayUsed: 40,
      minuteRefused: 0,
      suspendedUntil: 0,
      createdAt: 0,
      interimUntil: 0,
      revision: 1,
    });
  });

  test('may have an end', () => {
    expect(parseKeyRecord({ ...item, expiresAt: number('1750000000000') }).expiresAt).toBe(1_750_000_000_000);
  });

  test('may have attributes of others', () => {
    expect(parseKeyRecord({ ...item, note: 'x' })).not.toHaveProperty('note');
  });

  test.each([
    ['no item', undefined],
    ['a missing limit', { ...item, perMinute: undefined }],
    ['a missing counter', { ...item, minuteUsed: undefined }],
    ['no word on whether it is enabled', { ...item, enabled: undefined }],
    ['no word on whether it is revoked', { ...item, revoked: undefined }],
    ['enabled as text', { ...item, enabled: 'true' }],
    ['a limit that is no integer', { ...item, perDay: number('1.5') }],
    ['a limit that is no number', { ...item, perDay: number('many') }],
    ['a limit that lost digits on its way', { ...item, perDay: number('9007199254740993') }],
    ['a plan that does not exist', { ...item, plan: 'gold' }],
  ])('is not one with %s', (_, broken) => {
    expect(() => parseKeyRecord(broken)).toThrow('Invalid');
  });
});
