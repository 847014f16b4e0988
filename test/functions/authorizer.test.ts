import type { APIGatewayAuthorizerResult } from 'aws-lambda';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type * as Authorizer from '../../functions/authorizer.ts';
import { UNTIL_RESUMED } from '../../shared/keys/key-record.ts';
import { generateToken } from '../../shared/keys/token.ts';
import { EmbeddedDatabase } from '../support/engines.ts';
import { recordFaults, recordRequestLines } from '../support/request-lines.ts';
import { KeysTable, parsed } from '../support/tables.ts';
import { responseTo, aProxyEvent } from '../support/proxy-event.ts';

const database = new EmbeddedDatabase();
const lines = recordRequestLines();
const faults = recordFaults();

/** 30 seconds into a minute, and 41,130 before the day ends. */
const NOW = Date.UTC(2025, 5, 15, 12, 34, 30);
const MINUTE = NOW / 60_000 - 0.5;
const STAGE = 'arn:aws:execute-api:eu-central-1:123456789012:a1b2c3d4e5/v1';

let handler: typeof Authorizer.handler;
let keys: KeysTable;

beforeAll(async () => {
  keys = await KeysTable.create(database.client);
  Object.assign(process.env, {
    KEYS_TABLE: keys.name,
    OVERFLOW_USAGE_IDENTIFIER: 'overflow',
    INTERIM_USAGE_IDENTIFIER: 'interim',
  });
  ({ handler } = await import('../../functions/authorizer.ts'));
});

/** The result of the authorizer for a request. */
async function verdictOn(
  headers: Record<string, string | string[]>,
  time: { readonly requestTimeEpoch: number | undefined } = { requestTimeEpoch: NOW },
): Promise<APIGatewayAuthorizerResult> {
  const { requestContext, headers: _last, multiValueHeaders, ...rest } = aProxyEvent({ headers });
  return responseTo(handler, {
    ...rest,
    type: 'REQUEST',
    methodArn: `${STAGE}/GET/inventory`,
    headers: null,
    multiValueHeaders,
    requestContext: Object.assign(requestContext, { authorizer: undefined }, time),
  });
}

async function verdictOnKey(differences: object, token = generateToken()): Promise<APIGatewayAuthorizerResult> {
  await keys.issue({ currentMinute: MINUTE, ...differences }, token);
  return verdictOn({ Authorization: `Bearer ${token}` });
}

const effectOf = ({ policyDocument }: APIGatewayAuthorizerResult) =>
  policyDocument.Statement.map(({ Effect }) => Effect);

describe('an admitted request is metered', () => {
  const ours = generateToken();
  const ofConsole = 'zaCELgL0imfnc8mVLWwsAawjYr4Rx-Af50DDqtlx';

  test.each([
    ['by the record id of its key', ours, parsed(ours).recordId],
    ['by the token itself if it is the value of a key from the AWS console', ofConsole, ofConsole],
  ])('%s, and on the Interim plan until API Gateway knows the key', async (_, token, usageIdentifierKey) => {
    const verdict = await verdictOnKey({ keyId: 'k1', minuteUsed: 17, dayUsed: 100, interimUntil: NOW }, token);
    expect(effectOf(verdict)).toEqual(['Allow']);
    const context = { outcome: 'ADMITTED', limit: '60', remaining: '42', plan: 'free' };
    expect(verdict).toMatchObject({ principalId: 'k1', usageIdentifierKey, context });
    await keys.issue({ interimUntil: NOW + 1 }, token);
    expect(await verdictOn({ Authorization: `Bearer ${token}` })).toMatchObject({ usageIdentifierKey: 'interim' });
  });
});

test('only a valid token of a suspended key gets the message that the key is suspended', async () => {
  const token = generateToken();
  const suspended = { enabled: false, suspendedUntil: UNTIL_RESUMED, suspendedByAdmin: true };
  const verdict = await verdictOnKey(suspended, token);
  const wrong = await verdictOn({ Authorization: `Bearer ${generateToken(parsed(token).recordId)}` });

  expect([effectOf(verdict), effectOf(wrong)]).toEqual([['Deny'], ['Deny']]);
  expect(verdict.context).toMatchObject({ code: 'API_KEY_INVALID', message: expect.stringContaining('is suspended') });
  expect(wrong.context).toMatchObject({ code: 'API_KEY_INVALID', message: expect.stringContaining('is unknown') });
});

test('a refused request is allowed to its function on the Overflow plan', async () => {
  const verdict = await verdictOnKey({ minuteUsed: 60, dayUsed: 100 });

  expect(effectOf(verdict)).toEqual(['Allow']);
  expect(verdict).toMatchObject({
    usageIdentifierKey: 'overflow',
    context: { outcome: 'RATE_LIMIT_EXCEEDED', retryAfter: '30' },
  });
});

test.each<[string, object, string, RegExp]>([
  [
    'because DynamoDB fails',
    { minuteUsed: 'a', perMinute: 'b' },
    'uncounted',
    /could not be counted.*ValidationException/,
  ],
  [
    'because the record of its key is from a later release',
    { keyId: 'k2', plan: 'gold' },
    'k2',
    /UnreadableRecordError.*The key k2 has an invalid record in the table .*plan: Unknown plan .*gold/,
  ],
  [
    'because a token of its key is invalid',
    { keyId: 'k3', tokens: { 'hash-of-another': { access: 'full' } } },
    'k3',
    /The key k3 .*: tokens\.…\.until: Invalid/,
  ],
])('a request that cannot be counted %s is allowed on the Interim plan for its 503', async (...row) => {
  const [, differences, principalId, fault] = row;
  const verdict = await verdictOnKey(differences);

  expect(effectOf(verdict)).toEqual(['Allow']);
  const context = { outcome: 'SERVICE_UNAVAILABLE', limit: '0', remaining: '0', retryAfter: '1' };
  expect(verdict).toMatchObject({ principalId, usageIdentifierKey: 'interim', context });
  // Nothing is known of its plan, nor of the quotas that RateLimit and RateLimit-Policy would name.
  expect(Object.keys(verdict.context ?? {}).toSorted()).toEqual([...Object.keys(context), 'reset'].toSorted());
  expect(faults()).toEqual([[expect.stringMatching(fault)]]);
  expect(JSON.stringify(faults())).not.toContain('hash-of-another');
  expect(lines()).toEqual([]);
});

const sent = (...Authorization: string[]) => ({ Authorization });

describe('a denied request has empty windows and is logged by the authorizer:', () => {
  const token = generateToken();

  test.each<[string, Record<string, string | string[]>, string, string]>([
    ['with two keys', sent('Bearer a', 'Bearer b'), 'API_KEY_MISSING', 'more than one Authorization header'],
    ['without a header', sent(), 'API_KEY_MISSING', 'has no Authorization header'],
    ['with x-api-key', { ...sent(), 'X-Api-Key': token }, 'API_KEY_MISSING', 'in the header x-api-key'],
    ['without Bearer', sent(token), 'API_KEY_MISSING', 'does not begin with Bearer and a space'],
    ['with Bearer alone', sent('Bearer'), 'API_KEY_MISSING', 'no key after Bearer, or more than one word'],
    ['with a truncated key', sent(`Bearer ${token.slice(0, -1)}`), 'API_KEY_INVALID', 'send all 50 characters'],
    ['with an unknown key', sent(`Bearer ${token}`), 'API_KEY_INVALID', 'unknown'],
  ])('%s', async (_, headers, code, part) => {
    const verdict = await verdictOn(headers);
    const message = String(verdict.context?.['message']);

    expect(message).toContain(part);
    expect(message).toMatch(code === 'API_KEY_MISSING' ? /Authorization: Bearer <API_KEY>\.$/ : /\.$/);
    // The gateway puts it between quotes as it is.
    expect(message).not.toMatch(/["\\]|psk_/);
    expect(effectOf(verdict)).toEqual(['Deny']);
    expect(verdict).not.toHaveProperty('usageIdentifierKey');
    expect(verdict.context).toMatchObject({ code, limit: '0', remaining: '0' });
    expect(lines()).toMatchObject([
      { operation: 'listInventory', keyId: 'none', plan: 'none', status: '401', code, reason: code },
    ]);
  });
});

test('a request whose event has no time uses the time of the function', async () => {
  const { context } = await verdictOn({ Authorization: 'Bearer a' }, { requestTimeEpoch: undefined });
  expect(context?.['reset']).toMatch(/^\d+$/);
});
