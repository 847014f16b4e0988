import { appendFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { generateApiKey } from '../../shared/keys/api-key.ts';
import { ApiClient } from '../support/api-client.ts';
import { issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';
import { loggedRequests } from '../support/request-lines.ts';

const secretsSchema = v.array(v.object({ secret: v.instance(Uint8Array) }));

describe('The logs of a host', () => {
  let host: LocalHost;

  beforeAll(async () => {
    host = await LocalHost.start();
  });

  // Every suite that starts a host ends with this scan.
  afterAll(() => host.close());

  test('do not tell what signs the cursors', async () => {
    const api = ApiClient.withKey(host.baseUrl, host.host.keys.business);
    await Promise.all(['/inventory?limit=1', '/store/orders?limit=1', '/nowhere'].map((path) => api.send('GET', path)));
    await loggedRequests(host, 3);
    const { TableNames = [] } = await host.documents.send(new ListTablesCommand({}));
    const TableName = TableNames.find((name) => name.includes('TablesSecrets'));
    const { Items } = await host.documents.send(new ScanCommand({ TableName }));
    const forms = v
      .parse(secretsSchema, Items)
      .flatMap(({ secret }) =>
        (['hex', 'base64', 'base64url'] as const).map((encoding) => Buffer.from(secret).toString(encoding)),
      );

    expect(forms).toHaveLength(3);
    expect(forms.filter((form) => host.log.includes(form.replace('=', '')))).toEqual([]);
  });
});

describe('A host in whose logs there is', () => {
  test.each<[string, (host: LocalHost) => Promise<string> | string, string]>([
    ['a key that was issued', async (host) => (await issueKey(host)).token, 'a known key'],
    ['a demo key', ({ host }) => host.keys.free, 'a known key'],
    ['what the gateway knows a key by', ({ host }) => host.records.apiKeys[0]?.value ?? '', 'the hash of a known key'],
    ['a key of nobody', () => generateApiKey(), 'an API key'],
  ])('%s fails the suite as it is closed, and does not repeat it', async (_, secretOf, kind) => {
    const host = await LocalHost.start({ sampleData: false });
    const { logFolder } = host.host;
    const file = readdirSync(logFolder).find((name) => name.includes('Authorizer')) ?? '';
    const secret = await secretOf(host);
    appendFileSync(join(logFolder, file), `{"message":"${secret}"}\n`);
    const failure: unknown = await host.close().catch((error: unknown) => error);

    expect(failure).toBeInstanceOf(Error);
    expect(String(failure)).toContain(`${file}:1: ${kind}`);
    expect(String(failure)).not.toContain(secret);
  });
});
