import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { idempotentRequest } from '../../../shared/http/idempotent-request.ts';
import { admittedContext, aProxyEvent } from '../../support/proxy-event.ts';

const UUID = '8e03978e-40d5-43dd-bc93-6894a57f9324';

const requestOf = (
  values: readonly string[],
  asked: unknown = {},
  authorizer: Record<string, unknown> = admittedContext,
) => idempotentRequest(aProxyEvent({ headers: { 'Idempotency-Key': values }, authorizer }), asked);
const idOf = (...values: string[]) => requestOf(values)?.requestId;
const quoted = (text: string) => `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;

describe('Idempotency-Key', () => {
  test('that is not sent is none', () => {
    expect(idempotentRequest(aProxyEvent(), {})).toBeUndefined();
  });

  test('is taken in any case of its name', () => {
    const event = aProxyEvent({ headers: { 'IDEMPOTENCY-key': `"${UUID}"` } });

    expect(idempotentRequest(event, {})?.requestId).toBe(idOf(UUID));
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
    expect(idOf(value)).toBe(idOf(quoted(key)));
  });

  test('is another request for another text, or another lineage of keys', () => {
    const others = [requestOf(['"b"']), requestOf(['"a"'], {}, { ...admittedContext, lineage: 'another' })];

    expect(new Set([idOf('"a"'), ...others.map((other) => other?.requestId)]).size).toBe(3);
    expect(requestOf(['"a"'], {}, { ...admittedContext, principalId: 'the successor' })?.requestId).toBe(idOf('"a"'));
  });

  test('has the fingerprint of what is asked for', () => {
    const fingerprints = [{ a: 1 }, { a: 2 }].map((asked) => requestOf(['"a"'], asked)?.fingerprint);

    expect(new Set(fingerprints).size).toBe(2);
    expect(requestOf(['"b"'], { a: 1 })?.fingerprint).toBe(fingerprints[0]);
  });

  test('is not to be found in the request, nor is the lineage', () => {
    expect(JSON.stringify(requestOf([UUID], UUID))).not.toMatch(new RegExp(`${UUID}|${admittedContext.lineage}`));
  });

  test('is another request for any other text that a structured field can hold (RFC 9651 §3.3.3)', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[ -~]{1,255}$/), fc.stringMatching(/^[ -~]{1,255}$/), (one, other) => {
        expect(idOf(quoted(one)) === idOf(quoted(other))).toBe(one === other);
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
    expect(() => requestOf(values)).toThrow(
      expect.objectContaining({
        code: 'INVALID_HEADER',
        status: 400,
        message: `Idempotency-Key must be one text of 1 to 255 visible characters in quotes, such as "${UUID}".`,
      }),
    );
  });
});
