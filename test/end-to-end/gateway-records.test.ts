import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  type APIGatewayClient,
  CreateApiKeyCommand,
  CreateUsagePlanKeyCommand,
  DeleteApiKeyCommand,
  GetUsageCommand,
  GetUsagePlanCommand,
  paginateGetUsagePlanKeys,
  paginateGetUsagePlans,
  UpdateApiKeyCommand,
  UpdateUsagePlanCommand,
} from '@aws-sdk/client-api-gateway';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { ApiClient } from '../support/api-client.ts';
import { gatewayAt } from '../support/gateway-client.ts';
import { HostProcess, type Ready } from '../support/host-process.ts';

// A start takes some two seconds, and many more on a machine that is busy.
jest.setTimeout(60_000);

const today = () => new Date().toISOString().slice(0, 10);

describe('The gateway’s records in a data folder', () => {
  let parent: string;
  let host: HostProcess;
  let ready: Ready;
  let gateway: APIGatewayClient;

  beforeAll(() => {
    parent = mkdtempSync(path.join(tmpdir(), 'end-to-end-'));
    mkdirSync(path.join(parent, 'tmp'));
  });

  afterAll(() => rmSync(parent, { recursive: true, force: true }));

  afterEach(async () => {
    gateway.destroy();
    await host.stop('SIGKILL');
  });

  async function start(): Promise<void> {
    const options = ['--json', '--port', '0', '--data', path.join(parent, 'data')];
    host = new HostProcess(options, path.join(parent, 'tmp'));
    ready = await host.ready();
    gateway = gatewayAt(new URL(ready.baseUrl).origin);
  }

  async function planOf(title: string): Promise<string> {
    for await (const { items = [] } of paginateGetUsagePlans({ client: gateway }, {})) {
      const plan = items.find(({ name }) => name?.endsWith(` ${title}`));
      if (plan?.id !== undefined) return plan.id;
    }
    throw new Error(`There is no usage plan ${title}`);
  }

  async function keysOn(usagePlanId: string): Promise<Set<string | undefined>> {
    const names = new Set<string | undefined>();
    for await (const { items = [] } of paginateGetUsagePlanKeys({ client: gateway }, { usagePlanId })) {
      for (const { name } of items) names.add(name);
    }
    return names;
  }

  test('are changed by an admin, and used by a demo key', async () => {
    await start();
    const [free, pro] = [await planOf('Free'), await planOf('Pro')];
    const { id: keyId } = await gateway.send(new CreateApiKeyCommand({ name: 'acme', tags: { a: 'b' } }));
    await gateway.send(new CreateUsagePlanKeyCommand({ usagePlanId: pro, keyId, keyType: 'API_KEY' }));
    await gateway.send(
      new UpdateUsagePlanCommand({
        usagePlanId: pro,
        patchOperations: [{ op: 'replace', path: '/description', value: 'changed' }],
      }),
    );
    for (let count = 0; count < 3; count++) await ApiClient.withKey(ready.baseUrl, ready.keys.free).list();
    await gateway.send(new DeleteApiKeyCommand({ apiKey: 'demo-business' }));

    expect(await keysOn(pro)).toEqual(new Set(['Demo Pro', 'acme']));
    // What was acknowledged outlasts a host that is told to stop; what a killed one loses is the usage of a second.
    expect(await host.stop('SIGTERM')).toMatchObject({ exitCode: 0, stderr: '' });
    await start();
    const usage = await gateway.send(
      new GetUsageCommand({ usagePlanId: free, startDate: today(), endDate: today(), keyId: 'demo-free' }),
    );
    expect(usage.items?.['demo-free']?.[0]?.[0]).toBe(3);
    await gateway.send(
      new UpdateApiKeyCommand({ apiKey: keyId, patchOperations: [{ op: 'replace', path: '/name', value: 'renamed' }] }),
    );
    await host.stop('SIGKILL');
  });

  test('are all there after a host that was killed', async () => {
    await start();
    const pro = await planOf('Pro');

    expect(await keysOn(pro)).toEqual(new Set(['Demo Pro', 'renamed']));
    expect(await gateway.send(new GetUsagePlanCommand({ usagePlanId: pro }))).toMatchObject({ description: 'changed' });
    expect(await keysOn(await planOf('Business'))).toEqual(new Set());
    expect(await host.stop('SIGINT')).toMatchObject({ exitCode: 0, stderr: '' });
  });
});
