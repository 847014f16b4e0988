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

const tags = (count: number) => Array.from({ length: count }, (_, index) => `"${index}"`).join(', ');

describe('If-Match', () => {
  test('accepts any version if it is missing or *', () => {
    expect(expectedVersions(aRequest().headers)).toBeUndefined();
    for (const star of ['*', ' * ', '\t*']) expect(versionsOf(star)).toBeUndefined();
  });

  test.each([
    ['empty elements (RFC 9110 §5.6.1)', [', "1",, ,"2",'], ['1', '2']],
    ['several headers', ['"1"', '"2", "3"'], ['1', '2', '3']],
    ['the tag of a version', [entityTag('mX0aVbq3Zk-_')], ['mX0aVbq3Zk-_']],
    ['a weak tag, which matches no version', ['W/"1", "5"'], ['W/"1"', '5']],
  ])('with %s lists versions', (_, values, versions) => {
    expect(versionsOf(...values)).toEqual(versions);
  });

  test.each([
    ['a tag without quotes', '1'],
    ['tags without a comma between', '"1" "2"'],
    ['a space in a tag', '"1 2"'],
    ['more tags than there may be', tags(21)],
    ['more than 2000 characters', `"${'a'.repeat(2_000)}"`],
  ])('with %s returns 400 and the valid syntax', (_, value) => {
    expect(() => versionsOf(value)).toThrow(
      expect.objectContaining({
        code: 'INVALID_HEADER',
        status: 400,
        message: 'If-Match must be * or at most 20 entity tags such as "mX0aVbq3Zk1T", as in an ETag header.',
      }),
    );
  });
});

test.each(['*', '"1"', ''])('If-None-Match of an update returns 400: %j', (value) => {
  expect(() => expectedVersions(aRequest({ headers: { 'If-None-Match': value } }).headers)).toThrow(
    expect.objectContaining({ code: 'INVALID_HEADER', status: 400 }),
  );
});

const UUID = '8e03978e-40d5-43dd-bc93-6894a57f9324';

const BIG = '9007199254740993';
const VERSIONS = ['v1', 'W/"v2"'];
const petId = int64('101');
const aChange: StockChange = { petId, quantity: 5 };
const more = { another: null };

const requestOf = (
  values: readonly string[],
  asked: StockChange = aChange,
  authorizer: Record<string, unknown> = admittedContext,
) => idempotentRequest(aRequest({ headers: { 'Idempotency-Key': values }, authorizer }), asked);
const idOf = (...values: string[]) => requestOf(values)?.requestId;
const quoted = (text: string) => `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;

describe('Idempotency-Key', () => {
  test('is optional', () => {
    expect(idempotentRequest(aRequest(), aChange)).toBeUndefined();
  });

  test.each([
    ['a string (IETF draft §2.1)', `"${UUID}"`, UUID],
    ['the same without quotes, as many clients send it', UUID, UUID],
    ['spaces around it', `  "${UUID}"\t`, UUID],
    ['an escaped quote', String.raw`"a\"b"`, 'a"b'],
    ['all that may stand without quotes', "!#$%&'()*+,-./:;<=>?@[]^_`{|}~", "!#$%&'()*+,-./:;<=>?@[]^_`{|}~"],
    ['255 characters that are all escaped', quoted('"'.repeat(255)), '"'.repeat(255)],
  ])('is parsed: %s', (_, value, key) => {
    expect(idOf(value)).toBe(idOf(quoted(key)));
  });

  test('identifies another request if its text or the customer differs', () => {
    const others = [requestOf(['"b"']), requestOf(['"a"'], aChange, { ...admittedContext, recordId: 'another' })];
    const fingerprints = [aChange, { petId, by: 5 }].map((asked) => requestOf(['"a"'], asked)?.fingerprint);

    expect(new Set([idOf('"a"'), ...others.map((other) => other?.requestId), ...fingerprints]).size).toBe(5);
    // Another token of the key makes no other request.
    expect(requestOf(['"a"'], aChange, { ...admittedContext, access: 'read' })?.requestId).toBe(idOf('"a"'));
  });

  // Recorded from release 1.0.0, but for the last: a retry may reach another release, which must not return 422.
  test.each<[string, StockChange]>([
    ['fb12da9c885119fd02fddcc6db382ee74c4bcefbcd2e80c898b7461e1bf83d04', { petId: int64(BIG), quantity: 5 }],
    ['639e1d6f41e9a18609f5265a68c097670943a7dcd4df2d05684c2253d5a67833', { petId, quantity: 0, versions: VERSIONS }],
    ['b20727bbb85719d1b07bb8c49114954627b3ab706113b49efb6fd5e27a9e29c2', { petId, by: -1, versions: undefined }],
    ['3308ec51ae0296793af024dab0c967fd961b5262d18b5f31e72e78e67680d976', { petId, by: 2, versions: ['v1'] }],
    ['cd02e3e5a97eb108f57de80e7ee21bc5925f52676fcfc77fbd68ff6496513158', { ...aChange, ...more }],
  ])('keeps the fingerprint %s of a change across releases, in any order of fields', (fingerprint, change) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same properties
    const reversed = Object.fromEntries(Object.entries(change).toReversed()) as unknown as StockChange;

    for (const asked of [change, reversed]) expect(requestOf(['"a"'], asked)?.fingerprint).toBe(fingerprint);
  });

  test('requires the record id of the key', () => {
    const { recordId: _, ...context } = admittedContext;
    expect(() => requestOf(['"a"'], aChange, context)).toThrow(
      expect.objectContaining({ code: 'SERVICE_UNAVAILABLE' }),
    );
  });

  test('is not stored as text, nor is the API key', () => {
    expect(JSON.stringify(requestOf([UUID], { ...aChange, versions: [UUID] }))).not.toMatch(
      new RegExp(`${UUID}|${admittedContext.recordId}`),
    );
  });

  test.each([
    ['an empty string', ['""']],
    ['a quote inside that is not escaped', ['"a"b"']],
    ['a backslash without quotes', [String.raw`a\b`]],
    ['letters beyond ASCII', ['"ä"']],
    ['256 characters', [`"${'x'.repeat(256)}"`]],
    ['several values', [`"${UUID}"`, `"${UUID}"`]],
  ])('returns 400 and the valid syntax: %s', (_, values) => {
    expect(() => requestOf(values)).toThrow(
      expect.objectContaining({
        code: 'INVALID_HEADER',
        status: 400,
        message: expect.stringContaining(`must be ${IDEMPOTENCY_KEY_RULE}.`),
      }),
    );
  });
});
