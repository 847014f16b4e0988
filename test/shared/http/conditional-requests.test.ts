import { describe, expect, test } from '@jest/globals';
import {
  IDEMPOTENCY_KEY_RULE,
  idempotentRequest,
  expectedVersions,
} from '../../../shared/http/conditional-requests.ts';
import { entityTag } from '../../../shared/contract/inventory.ts';
import type { StockChange } from '../../../shared/stores/stock-store.ts';
import { int64 } from '../../support/int64.ts';
import { admittedContext, aRequest } from '../../support/proxy-event.ts';

const versionsOf = (...values: string[]) => expectedVersions(aRequest({ headers: { 'If-Match': values } }).headers);

describe('If-Match', () => {
  test('asks for any version if it is absent or a star', () => {
    expect(expectedVersions(aRequest().headers)).toBeUndefined();
    for (const star of ['*', ' * ', '\t*']) expect(versionsOf(star)).toBeUndefined();
  });

  test.each([
    ['of a list with empty elements (RFC 9110 §5.6.1)', [', "1",, ,"2",'], ['1', '2']],
    ['of several headers', ['"1"', '"2", "3"'], ['1', '2', '3']],
    ['of a tag from a response', [entityTag('mX0aVbq3Zk-_')], ['mX0aVbq3Zk-_']],
    ['of a weak tag in quotes, which no version has', ['W/"1", "5"'], ['W/"1"', '5']],
  ])('asks for the versions %s', (_, values, versions) => {
    expect(versionsOf(...values)).toEqual(versions);
  });
});

const UUID = '8e03978e-40d5-43dd-bc93-6894a57f9324';

const BIG = '9007199254740993';
const VERSIONS = ['v1', 'W/"v2"'];
const petId = int64('101');
const aChange: StockChange = { petId, quantity: 5 };

const requestOf = (
  values: readonly string[],
  asked: StockChange = aChange,
  authorizer: Record<string, unknown> = admittedContext,
) => idempotentRequest(aRequest({ headers: { 'Idempotency-Key': values }, authorizer }), asked);
const idOf = (...values: string[]) => requestOf(values)?.requestId;
const quoted = (text: string) => `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;

describe('An Idempotency-Key', () => {
  test.each([
    ['without quotes', UUID, UUID],
    ['with spaces around it', `  "${UUID}"\t`, UUID],
    ['with an escaped quote', String.raw`"a\"b"`, 'a"b'],
    ['with each character that needs no quotes', "!#$%&'()*+,-./:;<=>?@[]^_`{|}~", "!#$%&'()*+,-./:;<=>?@[]^_`{|}~"],
    ['with 255 escaped characters', quoted('"'.repeat(255)), '"'.repeat(255)],
  ])('%s is the same as the string in quotes (IETF draft §2.1)', (_, value, key) => {
    expect(idOf(value)).toBe(idOf(quoted(key)));
  });

  test('identifies a request by its text and API key, not by the token', () => {
    const ofKey = (recordId: string) => requestOf(['"a"'], aChange, { ...admittedContext, recordId })?.requestId;
    const ofReader = requestOf(['"a"'], aChange, { ...admittedContext, access: 'read' });

    expect(new Set([idOf('"a"'), idOf('"b"'), ofKey('another')]).size).toBe(3);
    expect(ofReader?.requestId).toBe(idOf('"a"'));
  });

  // Recorded from release 1.0.0, but for the last: a retry may reach another release, which must not return 422.
  test.each<[StockChange, string]>([
    [{ petId: int64(BIG), quantity: 5 }, 'fb12da9c885119fd02fddcc6db382ee74c4bcefbcd2e80c898b7461e1bf83d04'],
    [{ petId, quantity: 0, versions: VERSIONS }, '639e1d6f41e9a18609f5265a68c097670943a7dcd4df2d05684c2253d5a67833'],
    [{ petId, by: -1, versions: undefined }, 'b20727bbb85719d1b07bb8c49114954627b3ab706113b49efb6fd5e27a9e29c2'],
    [{ petId, by: 2, versions: ['v1'] }, '3308ec51ae0296793af024dab0c967fd961b5262d18b5f31e72e78e67680d976'],
    [{ ...aChange, ifQuantity: 4 }, '50f332b23fd254f98a11377f5f863634e254c4fee7f9bc9d6cf7e08a463259a6'],
  ])('has the same fingerprint in every release for the change %j', (change, fingerprint) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same properties
    const reversed = Object.fromEntries(Object.entries(change).toReversed()) as unknown as StockChange;

    for (const asked of [change, reversed]) expect(requestOf(['"a"'], asked)?.fingerprint).toBe(fingerprint);
  });

  test('returns 503 if the record id of its API key is unknown', () => {
    const { recordId: _, ...context } = admittedContext;
    const unavailable = expect.objectContaining({ code: 'SERVICE_UNAVAILABLE' });
    expect(() => requestOf(['"a"'], aChange, context)).toThrow(unavailable);
  });

  test('is not stored in plaintext, nor are versions and record id', () => {
    const stored = JSON.stringify(requestOf([UUID], { ...aChange, versions: [UUID] }));
    expect(stored).not.toMatch(new RegExp(`${UUID}|${admittedContext.recordId}`));
  });
});

const tags = Array.from({ length: 21 }, (_, index) => `"${index}"`).join(', ');
const TAGS_RULE = /^If-Match must be \* or at most 20 entity tags such as "mX0aVbq3Zk1T", as in an ETag header\.$/;
const KEY_RULE = new RegExp(`must be ${RegExp.escape(IDEMPOTENCY_KEY_RULE)}\\.$`);

test.each([
  ['a tag without quotes', 'If-Match', ['1'], TAGS_RULE],
  ['tags without a comma between', 'If-Match', ['"1" "2"'], TAGS_RULE],
  ['a space in a tag', 'If-Match', ['"1 2"'], TAGS_RULE],
  ['21 tags', 'If-Match', [tags], TAGS_RULE],
  ['over 2,000 characters', 'If-Match', [`"${'a'.repeat(2_000)}"`], TAGS_RULE],
  ['any value', 'If-None-Match', ['*'], /^Remove If-None-Match\./],
  ['no value', 'If-None-Match', [''], /^Remove If-None-Match\./],
  ['an empty string', 'Idempotency-Key', ['""'], KEY_RULE],
  ['an inner quote without a backslash', 'Idempotency-Key', ['"a"b"'], KEY_RULE],
  ['a backslash without quotes', 'Idempotency-Key', [String.raw`a\b`], KEY_RULE],
  ['letters beyond ASCII', 'Idempotency-Key', ['"ä"'], KEY_RULE],
  ['256 characters', 'Idempotency-Key', [`"${'x'.repeat(256)}"`], KEY_RULE],
  ['several values', 'Idempotency-Key', [`"${UUID}"`, `"${UUID}"`], KEY_RULE],
])('An update with %s in %s returns 400 with the rule', (_, name, values, message) => {
  const request = aRequest({ headers: { [name]: values } });
  const invalid = expect.objectContaining({ code: 'INVALID_HEADER', message: expect.stringMatching(message) });

  expect(() => [expectedVersions(request.headers), idempotentRequest(request, aChange)]).toThrow(invalid);
});
