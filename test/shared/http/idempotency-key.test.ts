import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { idempotencyKey } from '../../../shared/http/idempotency-key.ts';
import { aProxyEvent } from '../../support/proxy-event.ts';

const UUID = '8e03978e-40d5-43dd-bc93-6894a57f9324';

const keyOf = (...values: string[]) => idempotencyKey(aProxyEvent({ headers: { 'Idempotency-Key': values } }));
const quoted = (text: string) => `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;

describe('Idempotency-Key', () => {
  test('that is not sent is none', () => {
    expect(idempotencyKey(aProxyEvent())).toBeUndefined();
  });

  test('is taken in any case of its name', () => {
    expect(idempotencyKey(aProxyEvent({ headers: { 'IDEMPOTENCY-key': `"${UUID}"` } }))).toBe(UUID);
  });

  test.each([
    ['a string (IETF draft §2.1)', `"${UUID}"`, UUID],
    ['the same without quotes, as many clients send it', UUID, UUID],
    ['spaces around it', `  "${UUID}"\t`, UUID],
    ['one character', '"1"', '1'],
    ['spaces inside', '"order 7"', 'order 7'],
    ['an escaped quote', String.raw`"a\"b"`, 'a"b'],
    ['an escaped backslash', String.raw`"a\\b"`, String.raw`a\b`],
    ['an escaped backslash before an escaped quote', String.raw`"\\\""`, String.raw`\"`],
    ['all that may stand without quotes', "!#$%&'()*+,-./:;<=>?@[]^_`{|}~", "!#$%&'()*+,-./:;<=>?@[]^_`{|}~"],
    ['255 characters', `"${'x'.repeat(255)}"`, 'x'.repeat(255)],
    ['255 characters that are escaped', quoted('"'.repeat(255)), '"'.repeat(255)],
  ])('is read: %s', (_, value, key) => {
    expect(keyOf(value)).toBe(key);
  });

  test('brings back any text that a structured field can hold (RFC 9651 §3.3.3)', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[ -~]{1,255}$/), (text) => {
        expect(keyOf(quoted(text))).toBe(text);
      }),
    );
  });

  test.each([
    ['nothing', ['']],
    ['spaces', ['   ']],
    ['an empty string', ['""']],
    ['a string that does not end', ['"abc']],
    ['a string that does not begin', ['abc"']],
    ['a quote inside that is not escaped', ['"a"b"']],
    ['an escape of something else', [String.raw`"a\n"`]],
    ['an escape at the end', [String.raw`"a\"`]],
    ['a backslash without quotes', [String.raw`a\b`]],
    ['a space without quotes', ['order 7']],
    ['a control character', ['"a\u0000"']],
    ['a line end', ['"a\n"']],
    ['letters beyond ASCII', ['"ä"']],
    ['256 characters', [`"${'x'.repeat(256)}"`]],
    ['very many characters', ['x'.repeat(100_000)]],
    ['several values', [`"${UUID}"`, `"${UUID}"`]],
  ])('is 400 and says what it takes: %s', (_, values) => {
    expect(() => keyOf(...values)).toThrow(
      expect.objectContaining({
        code: 'INVALID_HEADER',
        status: 400,
        message: `Idempotency-Key must be one text of 1 to 255 visible characters in quotes, such as "${UUID}".`,
      }),
    );
  });
});
