import { stripVTControlCharacters } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Terminal } from '../../infra/local/terminal.ts';
import { type Answer, ApiClient } from '../support/api-client.ts';
import { engineAt } from '../support/listening.ts';
import { dynamoDBError, FaultyEngine } from '../support/faulty-engine.ts';
import { assemblyForFaults, hurryCalls } from './function-faults.ts';
import { type IssuedKey, issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** Each asks DynamoDB for more than the key. */
const requests: readonly [string, (api: ApiClient) => Promise<Answer>][] = [
  ['GET /inventory', (api) => api.list()],
  ['PATCH /inventory/{petId}', (api) => api.setQuantity(101, 5)],
  ['GET /pets/{petId}', (api) => api.send('GET', '/pets/101')],
  ['GET /store/orders', (api) => api.send('GET', '/store/orders')],
];

const failed = dynamoDBError(500, 'InternalServerError');

describe('the service', () => {
  const directory = temporaryDirectory();
  let engine: FaultyEngine;
  let host: LocalHost;
  let key: IssuedKey;
  let api: ApiClient;
  let shown = '';

  beforeAll(async () => {
    engine = await FaultyEngine.start();
    const assembly = assemblyForFaults(directory);
    hurryCalls(assembly);
    const terminal = new Terminal((text) => (shown += text));
    host = await LocalHost.start({ assembly, terminal }, engineAt(engine.endpoint));
    key = await issueKey(host);
    api = ApiClient.withKey(host.baseUrl, key.token);
  });

  afterAll(async () => {
    await host.close();
    await engine.stop();
  });

  afterEach(() => {
    engine.faults = () => undefined;
  });

  test('fails closed with 503 without DynamoDB, and denies malformed keys with 401', async () => {
    await engine.disconnect();
    const responses = [await api.list(), await ApiClient.withKey(host.baseUrl, `${key.token}x`).list()];
    // An AWS SDK at the address of the server gets DynamoDB's own failure.
    const headers = { 'X-Amz-Target': 'DynamoDB_20120810.ListTables' };
    const ofEngine = await fetch(host.origin, { method: 'POST', headers, body: '{}' });
    await engine.reconnect();

    expect([ofEngine.status, await ofEngine.text()]).toEqual([503, expect.stringContaining('InternalServerError')]);
    expect(responses).toMatchObject([
      { status: 503, error: { code: 'SERVICE_UNAVAILABLE' }, rateLimit: { limit: 0, remaining: 0 } },
      { status: 401 },
    ]);
    // The response has no quotas: 0 would mislead clients that rely on them.
    const limitNames = responses.map((response) =>
      [...response.headers.keys()].filter((name) => name.startsWith('ratelimit')),
    );
    expect(limitNames).toEqual([[], ['ratelimit', 'ratelimit-policy']]);
  });

  test('returns 503 after one attempt if a request cannot be counted', async () => {
    engine.faults = ({ body }) => (body.includes(host.keysTable) ? failed : undefined);
    engine.calls.length = 0;

    expect(await api.list()).toMatchObject({ status: 503, error: { code: 'SERVICE_UNAVAILABLE' } });
    expect(engine.actions).toEqual(['UpdateItem']);
  });

  test('counts a request and returns 503 if the stock is unavailable, and the terminal shows why', async () => {
    engine.faults = ({ body }) => (body.includes(host.stock.name) ? failed : undefined);
    const { dayUsed } = await key.read();
    shown = '';

    expect(await api.setQuantity(101, 5)).toMatchObject({
      status: 503,
      error: { code: 'UPDATE_OUTCOME_UNKNOWN' },
      rateLimit: { limit: 1_000 },
    });
    expect(await key.read()).toMatchObject({ dayUsed: dayUsed + 1 });
    const lines = stripVTControlCharacters(shown)
      .split('\n')
      .filter((line) => !line.startsWith('        at '));
    expect(lines).toEqual([
      expect.stringMatching(/^\d\d:\d\d:\d\d PATCH \/v1\/inventory\/101 503 \d+ ms [\w-]{36} [\w-]+\/\w{4}$/),
      expect.stringMatching(/^ {4}The update may have been applied/),
      '    ServiceError: The service is temporarily unavailable.',
      '    [cause]: InternalServerError: a fault',
      '',
    ]);
    expect(shown).toContain('\n        at ');
  });

  test('returns 503 from each operation if DynamoDB does not respond, and recovers afterward', async () => {
    engine.faults = ({ body }) => (body.includes(host.keysTable) ? undefined : { kind: 'silence' });
    const during = await Promise.all(requests.map(([name, send]) => send(api).then(({ status }) => [name, status])));
    engine.faults = () => undefined;

    expect(during).toEqual(requests.map(([name]) => [name, 503]));
    expect(await api.setQuantity(101, 5)).toMatchObject({ status: 200 });
  });

  test('makes one write to the key and one call to the stock per admitted request', async () => {
    await api.list();
    engine.calls.length = 0;
    await api.list();
    await api.setQuantity(101, 4);

    expect(engine.actions).toEqual(['UpdateItem', 'Query', 'UpdateItem', 'UpdateItem']);
  });
});
