import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Hono } from 'hono';
import { createControlPlane } from '../../../infra/local/control-plane/control-plane.ts';
import { applyTemplate, GatewayRecords, gatewayTable } from '../../../infra/local/control-plane/gateway-records.ts';
import { createTables } from '../../../infra/local/dynamodb/tables.ts';
import { scheduleSync, type SyncSchedule } from '../../../infra/local/sync-schedule.ts';
import { ServedStack } from '../../../infra/local/template/stack.ts';
import { EmbeddedDatabase } from '../../support/engines.ts';
import { anApiKey, aUsagePlan, signature } from '../../support/gateway-records.ts';

const VALUE = 'a-value-of-at-least-20-characters';

/** The key k1 on the plan `plan`, and another plan of the stage. */
let records: GatewayRecords;
let controlPlane: Hono;
/** How often it has reported a change. */
let changes: number;

beforeEach(() => {
  changes = 0;
  records = new GatewayRecords();
  records.putApiKey(anApiKey({ name: 'acme', value: VALUE, tags: { a: '1' }, planId: 'plan' }));
  for (const id of ['plan', 'other']) records.putUsagePlan(aUsagePlan({ id }));
  controlPlane = createControlPlane(records, () => (changes += 1));
});

/** Makes a signed call such as `GET /apikeys`. @returns its response, with the body parsed and the type of an error */
async function send(route: string, body?: object, differences: RequestInit = {}) {
  const [method = '', path = ''] = route.split(' ');
  const content = body ? JSON.stringify(body) : null;
  const call = { method, headers: { Authorization: signature }, body: content, ...differences };
  const response = await controlPlane.request(path, call);
  const text = await response.text();
  const parsed: unknown = text === '' ? undefined : JSON.parse(text);
  return { status: response.status, error: response.headers.get('x-amzn-ErrorType'), body: parsed };
}

const replacing = (path: string, value: string) => ({ patchOperations: [{ op: 'replace', path, value }] });

const key = (keyId: string) => ({ keyId, keyType: 'API_KEY' });
const items = (...ids: string[]) => ids.map((id) => expect.objectContaining({ id }));
const resource = (kind: string, Properties: object) => ({ Type: `AWS::ApiGateway::${kind}`, Properties });

const errorTypes: Readonly<Record<number, RegExp>> = {
  400: /^BadRequestException$/,
  404: /^(NotFound|UnknownOperation)Exception$/,
  409: /^ConflictException$/,
};

describe('a call', () => {
  const tagsOfPlan = `/tags/${encodeURIComponent('arn:aws:apigateway:us-east-1::/usageplans/plan')}`;
  const adding = { patchOperations: [{ op: 'add', path: '/name', value: 'x' }] };
  const secondPlan = /^Usage Plan other cannot be added because API Key k1 .* same API stage$/;

  test.each<[status: number, message: RegExp, call: string, ...body: object[]]>([
    [404, /not support POST \/usageplans\. .* POST \/apikeys, .*DELETE /, 'POST /usageplans', { name: 'x' }],
    [404, /API Key identifier/, 'GET /apikeys/none'],
    [400, /^\/apikeys\/%zz is not a valid path of a URL$/, 'GET /apikeys/%zz'],
    [400, /^value: /, 'POST /apikeys', { value: 'x'.repeat(19) }],
    [400, /^customerId: /, 'POST /apikeys', { customerId: 'c1' }],
    [409, /^API Key already exists$/, 'POST /apikeys', { value: VALUE }],
    [400, /"replace" but received "add"/, 'PATCH /apikeys/k1', adding],
    [400, /but received "yes"/, 'PATCH /apikeys/k1', replacing('/enabled', 'yes')],
    [404, /Resource identifier/, `PUT ${tagsOfPlan}`, { tags: { a: '2' } }],
    [400, /limit must be a number/, 'GET /apikeys?limit=abc'],
    [400, /limit must be a number/, 'GET /apikeys?limit=501'],
    [404, /Usage Plan ID/, 'GET /usageplans/none/keys'],
    [409, /on Usage Plan plan already/, 'POST /usageplans/plan/keys', key('k1')],
    [409, secondPlan, 'POST /usageplans/other/keys', key('k1')],
    [404, /API Key identifier/, 'POST /usageplans/plan/keys', key('none')],
    [404, /Plan Key identifier/, 'GET /usageplans/other/keys/k1'],
    [404, /Plan Key identifier/, 'DELETE /usageplans/other/keys/k1'],
  ])('fails with %d %s and changes nothing: %s', async (status, message, call, ...[body]) => {
    const before = structuredClone(records.apiKeys);

    expect(await send(call, body)).toMatchObject({
      status,
      error: expect.stringMatching(errorTypes[status] ?? ''),
      body: { message: expect.stringMatching(message) },
    });
    expect(records.apiKeys).toEqual(before);
    expect(changes).toBe(0);
  });

  const tooLong = { Authorization: signature, 'Content-Length': `${1024 ** 2 + 1}` };

  test.each<[status: number, what: string, differences: RequestInit, message: string]>([
    [413, 'is too long', { headers: tooLong }, 'Request Too Long'],
    [403, 'is not signed', { headers: { Authorization: 'Bearer psk_x' } }, 'Missing Authentication Token'],
    [400, 'is not JSON', { body: '{"name":' }, 'Invalid JSON'],
  ])('fails with %d if it %s', async (status, _, differences, message) => {
    const response = await send('POST /apikeys', undefined, differences);

    expect(response).toMatchObject({ status, body: { message: expect.stringContaining(message) } });
  });
});

describe('API keys', () => {
  test('are created as the call says, with a generated value by default', async () => {
    const body = { name: 'new', description: 'for tests', enabled: true, value: `${VALUE}-new`, tags: { a: 'b' } };

    expect(await send('POST /apikeys', body)).toMatchObject({
      status: 201,
      body: { ...body, createdDate: expect.any(Number), id: expect.stringMatching(/^[0-9a-f]{10}$/) },
    });
    expect(changes).toBe(1);
    expect((await send('POST /apikeys')).body).toMatchObject({
      value: expect.stringMatching(/^[0-9a-f]{40}$/),
      enabled: false,
    });
  });

  test('show their value only on request, and a read is not reported as a change', async () => {
    expect((await send('GET /apikeys/k1')).body).not.toHaveProperty('value');
    expect((await send('GET /apikeys/k1?includeValue=true')).body).toHaveProperty('value', VALUE);
    expect(changes).toBe(0);
  });

  test('are listed in pages, optionally by name prefix', async () => {
    for (const id of ['k2', 'k3']) records.putApiKey(anApiKey({ id }));

    expect((await send('GET /apikeys?limit=2')).body).toEqual({ item: items('k1', 'k2'), position: 'k2' });
    expect((await send('GET /apikeys?limit=2&position=k2')).body).toEqual({ item: items('k3') });
    expect((await send('GET /apikeys?name=ac')).body).toEqual({ item: items('k1') });
  });
});

describe('stored records', () => {
  const database = new EmbeddedDatabase();
  const stored = anApiKey({ name: '', description: 'for tests', tags: { a: '' }, planId: 'plan' });

  /** Has the control plane use the records of the next start. */
  async function start(): Promise<void> {
    records = new GatewayRecords(database.client);
    await records.load();
    controlPlane = createControlPlane(records, () => undefined);
  }

  test('stay unchanged if a change cannot be stored, which returns 500', async () => {
    const errors = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
    // There is no table yet.
    controlPlane = createControlPlane((records = new GatewayRecords(database.client)), () => undefined);
    records.putApiKey(stored);
    const calls = [await send('POST /apikeys'), await send('DELETE /apikeys/k1')];

    expect(calls).toMatchObject([{ status: 500 }, { status: 500 }]);
    expect(records.apiKeys).toEqual([stored]);
    expect(errors).toHaveBeenCalledTimes(2);
    errors.mockRestore();
  });

  describe('in their table', () => {
    beforeEach(async () => {
      await createTables(database.client, [gatewayTable]);
      await start();
    });

    test('survive a restart, and keep both of two concurrent changes to a key', async () => {
      await records.saveApiKey(stored);
      const bodies = [replacing('/name', 'renamed'), replacing('/enabled', 'false')];
      await Promise.all(bodies.map((body) => send('PATCH /apikeys/k1', body)));
      const inMemory = records.apiKey('k1');
      await start();
      const changed = { ...stored, name: 'renamed', enabled: false };

      expect([inMemory, records.apiKey('k1')]).toEqual([changed, changed]);
    });

    test('contain the keys of admins, but no keys or plans of the template', async () => {
      const limits = { Quota: { Limit: 20, Period: 'DAY' }, Throttle: { RateLimit: 1, BurstLimit: 2 } };
      const planKey = { KeyId: { Ref: 'Key' }, KeyType: 'API_KEY', UsagePlanId: { Ref: 'Plan' } };
      const stack = new ServedStack('test', {
        Resources: {
          Plan: resource('UsagePlan', { UsagePlanName: 'staging Free', ApiStages: [], ...limits }),
          Key: resource('ApiKey', { Value: 'of-the-template', Enabled: true }),
          PlanKey: resource('UsagePlanKey', planKey),
        },
      });
      applyTemplate(records, stack);
      await records.saveApiKey({ ...(records.apiKey('Key') ?? stored), enabled: false });
      await records.saveApiKey(anApiKey({ planId: 'Plan' }));
      await start();

      expect([records.apiKeys, records.usagePlans]).toMatchObject([[{ id: 'k1' }], []]);
      applyTemplate(records, stack);
      expect(records.keysOnPlan('Plan')).toMatchObject([
        { id: 'k1' },
        { id: 'Key', value: 'of-the-template', enabled: true },
      ]);
      const throttle = { rateLimit: 1, burstLimit: 2 };
      expect(records.usagePlans).toMatchObject([{ id: 'Plan', quota: { limit: 20 }, throttle }]);
    });
  });
});

const INTERVAL_MS = 300_000;
const WAIT_MS = 1_000;

const pass = (milliseconds: number) => jest.advanceTimersByTimeAsync(milliseconds);

describe('the sync of keys', () => {
  const log = jest.fn();
  const sync = jest.fn<() => Promise<unknown>>();
  let schedule: SyncSchedule;

  beforeEach(() => {
    jest.useFakeTimers();
    jest.resetAllMocks();
    sync.mockResolvedValue(undefined);
    schedule = scheduleSync(sync, { intervalMs: INTERVAL_MS, waitMs: WAIT_MS }, log);
  });

  afterEach(() => {
    schedule.close();
    jest.useRealTimers();
  });

  test('runs once per interval, also after a failure, which is logged', async () => {
    sync.mockRejectedValueOnce(new Error('no'));
    await pass(INTERVAL_MS);
    expect(sync).not.toHaveBeenCalled();
    await pass(WAIT_MS + 3 * INTERVAL_MS);

    expect(sync).toHaveBeenCalledTimes(4);
    expect(log.mock.calls).toEqual([['The sync of keys failed: Error: no\n']]);
  });

  test('runs one at a time, and once more after changes during a run', async () => {
    const first = Promise.withResolvers<unknown>();
    sync.mockReturnValueOnce(first.promise);
    for (const waitMs of [WAIT_MS, 0, 10 * WAIT_MS]) {
      schedule.runSoon();
      await pass(waitMs);
    }
    expect(sync).toHaveBeenCalledTimes(1);
    first.resolve(undefined);
    await pass(0);

    expect(sync).toHaveBeenCalledTimes(2);
  });
});
