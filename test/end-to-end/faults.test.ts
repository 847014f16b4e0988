import { cpSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readAssembly } from '../../infra/local/assembly/assemble.ts';
import { ServedStack } from '../../infra/local/template/stack.ts';
import { Terminal } from '../../infra/local/terminal.ts';
import { ApiClient } from '../support/api-client.ts';
import { dynamoDBError, FaultyEngine } from '../support/faulty-engine.ts';
import { type IssuedKey, issueKey, LocalHost } from '../support/local-host.ts';
import { engineAt } from '../support/listening.ts';
import { synthesizedOnce } from '../support/synthesize-once.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** Start of the code around a function, which fails as the header X-Fault of a request asks. */
const faulty = `
  const { handler, initialize } = require('./faultless.cjs');
  exports.initialize = initialize;
  const faultOf = ({ headers }) =>
    Object.entries(headers).find(([name]) => name.toLowerCase() === 'x-fault')?.[1];`;

const codeOf = {
  Authorizer: `${faulty}
  exports.handler = async (...call) => (faultOf(call[0]) === 'Authorizer' ? process.exit(1) : handler(...call));`,
  ListInventory: `${faulty}
  exports.handler = awslambda.streamifyResponse(async (event, stream, context) => {
    const fault = faultOf(event);
    if (fault === 'first') throw new TypeError('the secret of the function');
    const write = stream._write;
    let writes = 0;
    stream._write = (chunk, encoding, done) => {
      // After the metadata and a part of the body.
      if (fault === 'later' && ++writes > 2) process.exit(1);
      write.call(stream, chunk, encoding, done);
    };
    return handler(event, stream, context);
  });`,
};

/** Copies the service's cloud assembly to a directory, with functions that can fail. */
function assemblyWithFaults(directory: string): string {
  cpSync(synthesizedOnce(), directory, { recursive: true });
  const { name, template, codeDirectory } = readAssembly(directory);
  const stack = new ServedStack(name, template);
  const aliases = stack.resources('AWS::Lambda::Alias');
  const functions = aliases.map((alias) => stack.find('AWS::Lambda::Function', alias.text('FunctionName')));
  for (const [functionName, source] of Object.entries(codeOf)) {
    const resource = functions.find(({ logicalId }) => logicalId.startsWith(`Functions${functionName}`));
    if (!resource) throw new Error(`The assembly has no function ${functionName}`);
    const code = codeDirectory(resource.text('Code.S3Key'));
    renameSync(path.join(code, 'function.cjs'), path.join(code, 'faultless.cjs'));
    writeFileSync(path.join(code, 'function.cjs'), source);
  }
  return directory;
}

const directory = temporaryDirectory();
let engine: FaultyEngine;
let host: LocalHost;
let key: IssuedKey;
let api: ApiClient;
let shown = '';

beforeAll(async () => {
  engine = await FaultyEngine.start();
  const terminal = new Terminal((text) => (shown += text));
  host = await LocalHost.start({ assembly: assemblyWithFaults(directory), terminal }, engineAt(engine.endpoint));
  key = await issueKey(host);
  api = ApiClient.withKey(host.baseUrl, key.token);
});

afterAll(async () => {
  await host?.close();
  await engine?.stop();
});

test('a function that fails causes a 502 with the limit of the key, and the next request succeeds', async () => {
  const { dayUsed } = await key.read();
  const response = await api.send('GET', '/inventory', { headers: { 'X-Fault': 'first' } });

  expect(response).toMatchObject({
    status: 502,
    error: { code: 'BAD_GATEWAY' },
    rateLimit: { limit: 1_000, remaining: 1_000 - dayUsed - 1 },
  });
  expect(response.text).not.toContain('secret');
  expect(await api.list()).toMatchObject({ status: 200 });
});

test('a crash of the authorizer causes a 503, and the request does not count', async () => {
  const { dayUsed } = await key.read();
  const response = await api.send('GET', '/inventory', { headers: { 'X-Fault': 'Authorizer' } });

  expect(response).toMatchObject({ status: 503, error: { code: 'SERVICE_UNAVAILABLE' } });
  expect(await key.read()).toMatchObject({ dayUsed });
  expect(await api.list()).toMatchObject({ status: 200 });
});

test('a function that crashes within a list disconnects only the client of that list', async () => {
  const headers = { Authorization: `Bearer ${key.token}`, 'X-Fault': 'later' };
  const response = await fetch(`${host.baseUrl}/inventory`, { headers });

  expect(response.status).toBe(200);
  expect(response.headers.get('X-RateLimit-Limit')).toBe('1000');
  await expect(response.text()).rejects.toMatchObject({ name: 'TypeError', message: 'terminated' });
  expect(await api.list()).toMatchObject({ status: 200 });
});

describe('the service', () => {
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
  });

  test('counts a request and returns 503 if the stock is unavailable, and the terminal shows why', async () => {
    const failed = dynamoDBError(500, 'InternalServerError');
    engine.faults = ({ body }) => (body.includes(host.stock.name) ? failed : undefined);
    const { dayUsed } = await key.read();
    shown = '';

    expect(await api.setQuantity(101, 5)).toMatchObject({
      status: 503,
      error: { code: 'UPDATE_OUTCOME_UNKNOWN' },
      rateLimit: { limit: 1_000 },
    });
    engine.faults = () => undefined;
    expect(await key.read()).toMatchObject({ dayUsed: dayUsed + 1 });
    const lines = stripVTControlCharacters(shown).split('\n');
    expect(lines.filter((line) => !line.startsWith('        at '))).toEqual([
      expect.stringMatching(/^\d\d:\d\d:\d\d PATCH \/v1\/inventory\/101 503 \d+ ms [\w-]{36} [\w-]+\/\w{4}$/),
      expect.stringMatching(/^ {4}The update may have been applied/),
      '    InternalServerError: a fault',
      '',
    ]);
    expect(shown).toContain('\n        at ');
  });

  test('makes one write to the key and one call to the stock per admitted request, and one more records a change', async () => {
    await api.list();
    engine.calls.length = 0;
    await api.list();
    await api.setQuantity(101, 4);

    expect(engine.actions).toEqual(['UpdateItem', 'Query', 'UpdateItem', 'UpdateItem', 'PutItem']);
  });
});
