import type { APIGatewayAuthorizerResult, APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { readAuthorizerMetrics } from '../../shared/http/authorizer-context.ts';
import { generateApiKey, hashApiKey } from '../../shared/keys/api-key.ts';
import type { KeyRecord } from '../../shared/keys/key-record.ts';
import { EmbeddedDatabase } from '../support/embedded-database.ts';
import { metricsIn } from '../support/embedded-metric-format.ts';
import { KeysTable } from '../support/keys-table.ts';
import { aProxyEvent } from '../support/proxy-event.ts';
import { recordRequestLines } from '../support/request-lines.ts';

const database = new EmbeddedDatabase();
const lines = recordRequestLines();

/** 30 seconds into a minute, and 41,130 before the day ends. */
const NOW = Date.UTC(2025, 5, 15, 12, 34, 30);
const MINUTE = NOW / 60_000 - 0.5;
const STAGE = 'arn:aws:execute-api:eu-central-1:123456789012:a1b2c3d4e5/v1';

const FREE = '"minute";q=60;w=60, "day";q=1000;w=86400';
const NONE = {
  rateLimitPolicy: '"minute";q=0;w=60, "day";q=0;w=86400',
  rateLimit: '"minute";r=0;t=30, "day";r=0;t=41130',
};

let authorize: (event: APIGatewayRequestAuthorizerEvent) => Promise<APIGatewayAuthorizerResult>;
let keys: KeysTable;
let log: jest.SpiedFunction<typeof console.error>;

beforeAll(async () => {
  keys = await KeysTable.create(database.client);
  Object.assign(process.env, {
    KEYS_TABLE: keys.name,
    OVERFLOW_USAGE_IDENTIFIER: 'overflow',
    INTERIM_USAGE_IDENTIFIER: 'interim',
  });
  ({ handler: authorize } = await import('../../functions/authorizer.ts'));
});

beforeEach(() => {
  log = jest.spyOn(console, 'error').mockImplementation(() => undefined);
});

afterEach(() => {
  jest.restoreAllMocks();
});

/** What the authorizer says of a request. */
async function verdictOn(headers: Record<string, string | string[]>, now = NOW): Promise<APIGatewayAuthorizerResult> {
  const { requestContext, headers: _last, multiValueHeaders, ...rest } = aProxyEvent({ headers });
  return authorize({
    ...rest,
    type: 'REQUEST',
    methodArn: `${STAGE}/GET/inventory`,
    headers: null,
    multiValueHeaders,
    requestContext: { ...requestContext, authorizer: undefined, requestTimeEpoch: now },
  });
}

async function verdictOnKey(differences: Partial<KeyRecord>, requests = 1): Promise<APIGatewayAuthorizerResult> {
  const token = generateApiKey();
  await keys.issue({ keyHash: hashApiKey(token), currentMinute: MINUTE, ...differences });
  for (let request = 1; request < requests; request++) await verdictOn({ Authorization: `Bearer ${token}` });
  return verdictOn({ Authorization: `Bearer ${token}` });
}

const effectOf = ({ policyDocument }: APIGatewayAuthorizerResult) =>
  policyDocument.Statement.map(({ Effect }) => Effect);

describe('A request that is admitted', () => {
  test('is let through with both windows', async () => {
    const verdict = await verdictOnKey({ keyId: 'k1', minuteUsed: 17, dayUsed: 100 });

    expect(effectOf(verdict)).toEqual(['Allow']);
    expect(verdict).toMatchObject({
      principalId: 'k1',
      context: {
        outcome: 'ADMITTED',
        limit: '60',
        remaining: '42',
        rateLimitPolicy: FREE,
        rateLimit: '"minute";r=42;t=30, "day";r=899;t=41130',
      },
    });
  });

  test('of a key that is leased says what is left, though no request in between was written', async () => {
    const verdict = await verdictOnKey({ perMinute: 60_000, perDay: 10_000_000, plan: 'enterprise' }, 3);

    expect(verdict).toMatchObject({
      context: {
        outcome: 'ADMITTED',
        limit: '60000',
        remaining: '59997',
        rateLimitPolicy: '"minute";q=60000;w=60, "day";q=10000000;w=86400',
        rateLimit: '"minute";r=59997;t=30, "day";r=9999997;t=41130',
      },
    });
  });
});

describe('Pages of several origins', () => {
  afterEach(() => {
    delete process.env.ALLOWED_ORIGINS;
  });

  test.each(['Bearer x', 'Basic x'])('have theirs in the context, for the answers of the gateway: %s', async (key) => {
    process.env.ALLOWED_ORIGINS = 'https://docs.example.com https://shop.example.com';
    const origin = 'https://shop.example.com';

    expect(await verdictOn({ Authorization: key, Origin: origin })).toMatchObject({ context: { origin } });
  });
});

describe('A request that is refused is let through to its function, on the overflow plan,', () => {
  test.each<[string, Partial<KeyRecord>, string, string, string]>([
    [
      'for the minute',
      { minuteUsed: 60, dayUsed: 100 },
      'RATE_LIMIT_EXCEEDED',
      '"minute";r=0;t=30, "day";r=900;t=41130',
      '30',
    ],
    [
      'for the day',
      { minuteUsed: 10, dayUsed: 1_000 },
      'DAILY_QUOTA_EXCEEDED',
      '"minute";r=50;t=30, "day";r=0;t=41130',
      '41130',
    ],
    [
      'as it is suspended',
      { minuteUsed: 10, dayUsed: 100, suspendedUntil: NOW + 299_500 },
      'API_KEY_SUSPENDED',
      '"minute";r=0;t=300, "day";r=900;t=41130',
      '300',
    ],
  ])('%s', async (_, state, outcome, rateLimit, retryAfter) => {
    const verdict = await verdictOnKey(state);

    expect(effectOf(verdict)).toEqual(['Allow']);
    expect(verdict).toMatchObject({
      usageIdentifierKey: 'overflow',
      context: { outcome, rateLimitPolicy: FREE, rateLimit, retryAfter },
    });
  });

  test('on the interim plan, which is not throttled, where it cannot be counted', async () => {
    const token = generateApiKey();
    await keys.removeAttribute(await keys.issue({ keyHash: hashApiKey(token) }), 'minuteRefused');
    const verdict = await verdictOn({ Authorization: `Bearer ${token}` });

    expect(effectOf(verdict)).toEqual(['Allow']);
    expect(verdict).toMatchObject({
      principalId: 'uncounted',
      usageIdentifierKey: 'interim',
      context: { outcome: 'SERVICE_UNAVAILABLE', limit: '0', remaining: '0', ...NONE, retryAfter: '1' },
    });
    expect(log.mock.calls).toEqual([[expect.stringContaining('could not be counted')]]);
  });
});

test('A request of an emulator that does not tell its time is one of now', async () => {
  const token = generateApiKey();
  await keys.issue({ keyHash: hashApiKey(token) });
  const before = Date.now() / 1_000;
  const verdict = await verdictOn({ Authorization: `Bearer ${token}` }, Number.NaN);

  expect(verdict).toMatchObject({ context: { outcome: 'ADMITTED' } });
  expect(Number(verdict.context?.reset)).toBeGreaterThan(before);
});

describe('A request that is denied', () => {
  test.each<[string, Record<string, string | string[]>, string]>([
    ['with two keys', { Authorization: ['Bearer a', 'Bearer b'] }, 'API_KEY_MISSING'],
    ['with a key that was never issued', { Authorization: `Bearer ${generateApiKey()}` }, 'API_KEY_INVALID'],
  ])('%s has empty windows', async (_, headers, code) => {
    const verdict = await verdictOn(headers);

    expect(effectOf(verdict)).toEqual(['Deny']);
    expect(verdict).not.toHaveProperty('usageIdentifierKey');
    expect(verdict.context).toMatchObject({ code, limit: '0', remaining: '0', ...NONE });
  });

  test.each<[string, Partial<KeyRecord>]>([
    ['is disabled', { enabled: false }],
    ['has expired', { expiresAt: NOW }],
  ])('with a key that %s has empty windows', async (_, state) => {
    expect((await verdictOnKey(state)).context).toMatchObject({ code: 'API_KEY_INVALID', ...NONE });
  });
});

describe('Of its own part', () => {
  test('it tells nothing of the plan where the request could not be counted', async () => {
    const token = generateApiKey();
    await keys.removeAttribute(await keys.issue({ keyHash: hashApiKey(token) }), 'minuteRefused');
    const { context } = await verdictOn({ Authorization: `Bearer ${token}` });

    expect(context).toMatchObject({ outcome: 'SERVICE_UNAVAILABLE', coldStarts: '0' });
    expect(context).not.toHaveProperty('plan');
    expect(lines()).toEqual([]);
  });

  test('the functions understand all that it says', async () => {
    const { context, principalId } = await verdictOnKey({ keyId: 'k1', plan: 'business' });

    expect(readAuthorizerMetrics({ ...context, principalId })).toEqual({
      coldStarts: 0,
      plan: 'business',
      keyId: 'k1',
      outcome: 'ADMITTED',
    });
  });
});

describe('A request that is denied is logged by the authorizer, as no function runs:', () => {
  test.each<[string, Record<string, string>, string]>([
    ['without a key', { Authorization: '' }, 'API_KEY_MISSING'],
    ['with a key that is mistyped', { Authorization: 'Bearer psk_x' }, 'API_KEY_INVALID'],
    ['with a key that was never issued', { Authorization: `Bearer ${generateApiKey()}` }, 'API_KEY_INVALID'],
  ])('%s', async (_, headers, code) => {
    await verdictOn(headers);

    expect(lines()).toMatchObject([
      { operation: 'listInventory', keyId: 'none', plan: 'none', status: '401', code, reason: code },
    ]);
    expect(metricsIn(lines()[0])).toContainEqual({
      namespace: 'PetStoreInventory',
      name: 'Refusals',
      dimensions: { stack: 'test-Inventory', reason: code },
      value: 1,
    });
  });
});
