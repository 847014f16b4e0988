import { execFile, spawnSync } from 'node:child_process';
import { devNull } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import {
  type APIGatewayClient,
  CreateApiKeyCommand,
  type CreateApiKeyRequest,
  CreateUsagePlanCommand,
  CreateUsagePlanKeyCommand,
  DeleteApiKeyCommand,
  DeleteUsagePlanKeyCommand,
  paginateGetUsagePlans,
  TagResourceCommand,
  UpdateApiKeyCommand,
} from '@aws-sdk/client-api-gateway';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import * as v from 'valibot';
import { OUTPUTS_PATH } from '../../infra/local-endpoint.ts';
import { generateApiKey, hashApiKey } from '../../shared/keys/api-key.ts';
import { type Answer, ApiClient } from '../support/api-client.ts';
import { gatewayAt } from '../support/gateway-records.ts';
import { LocalHost } from '../support/local-host.ts';

// On a machine that may be busy.
jest.setTimeout(60_000);

/** How long a change in the console may take to hold. */
const SOON_MS = 5_000;

const withId = v.looseObject({ id: v.string() });
const hasAwsCli = spawnSync('aws', ['--version']).status === 0;
if (!hasAwsCli) process.stderr.write('Skipped: keys made with the AWS CLI: there is no aws on the PATH\n');

let host: LocalHost;
let gateway: APIGatewayClient;
const planIds = new Map<string, string>();

beforeAll(async () => {
  host = await LocalHost.start();
  gateway = gatewayAt(host.origin);
  for await (const { items = [] } of paginateGetUsagePlans({ client: gateway }, {})) {
    for (const { id = '', name = '' } of items) planIds.set(name.split(' ').at(-1) ?? '', id);
  }
});

afterAll(async () => {
  gateway.destroy();
  await host.close();
});

const plan = (title: string) => planIds.get(title) ?? '';

const listWith = (key: string) => ApiClient.withKey(host.baseUrl, key).list();

async function putOnPlan(keyId: string, usagePlanId: string): Promise<void> {
  await gateway.send(new CreateUsagePlanKeyCommand({ usagePlanId, keyId, keyType: 'API_KEY' }));
}

async function takeOffPlan(keyId: string, usagePlanId: string): Promise<void> {
  await gateway.send(new DeleteUsagePlanKeyCommand({ usagePlanId, keyId }));
}

async function setEnabled(apiKey: string, value: 'true' | 'false'): Promise<void> {
  const patchOperations = [{ op: 'replace' as const, path: '/enabled', value }];
  await gateway.send(new UpdateApiKeyCommand({ apiKey, patchOperations }));
}

/** Makes an enabled API key on a usage plan. @returns its id */
async function createKey(request: CreateApiKeyRequest, usagePlanId = plan('Free')): Promise<string> {
  const { id = '', value = '' } = await gateway.send(
    new CreateApiKeyCommand({ name: 'acme', enabled: true, ...request }),
  );
  host.issuedKeys.add(value);
  await putOnPlan(id, usagePlanId);
  return id;
}

/** A key of ours that is in use. */
async function issued(usagePlanId?: string): Promise<{ key: string; keyId: string }> {
  const key = generateApiKey();
  host.issuedKeys.add(key);
  const keyId = await createKey({ value: hashApiKey(key) }, usagePlanId);
  await untilAnswer(key, ({ status }) => status === 200);
  return { key, keyId };
}

/** The first answer that is as wanted; the last one where none is in time. */
async function untilAnswer(key: string, isWanted: (answer: Answer) => boolean): Promise<Answer> {
  const deadline = performance.now() + SOON_MS;
  let answer = await listWith(key);
  while (!isWanted(answer) && performance.now() < deadline) {
    await sleep(100);
    answer = await listWith(key);
  }
  return answer;
}

const soonStatus = async (key: string, wanted: number) =>
  (await untilAnswer(key, ({ status }) => status === wanted)).status;

const soonLimit = async (key: string, limit: number) => {
  const answer = await untilAnswer(key, (each) => each.status === 200 && each.rateLimit.limit === limit);
  return answer.rateLimit.limit;
};

async function apiStage(): Promise<[apiId: string, stage: string]> {
  const outputs: unknown = await (await fetch(`${host.origin}${OUTPUTS_PATH}`)).json();
  const { ApiId, ApiStage } = v.parse(v.object({ ApiId: v.string(), ApiStage: v.string() }), outputs);
  return [ApiId, ApiStage];
}

/** Runs `aws apigateway …`. @returns what it prints, parsed; undefined where it prints nothing */
async function aws(...args: readonly string[]): Promise<unknown> {
  const command = ['apigateway', ...args, '--endpoint-url', host.origin, '--region', 'us-east-1', '--output', 'json'];
  const env = {
    ...process.env,
    AWS_ACCESS_KEY_ID: 'any',
    AWS_SECRET_ACCESS_KEY: 'any',
    AWS_CONFIG_FILE: devNull,
    AWS_SHARED_CREDENTIALS_FILE: devNull,
    AWS_PAGER: '',
  };
  const { stdout } = await promisify(execFile)('aws', command, { env });
  return stdout.trim() === '' ? undefined : JSON.parse(stdout);
}

describe('A key that an admin changes in API Gateway', () => {
  test('is accepted within five seconds after it was made, whatever its value', async () => {
    const ours = generateApiKey();
    const onConsole = 'zaCELgL0imfnc8mVLWwsAawjYr4Rx-Af50DDqtlx';
    host.issuedKeys.add(ours);
    await createKey({ value: hashApiKey(ours) });
    await createKey({ value: onConsole });
    const { id = '', value: ofGateway = '' } = await gateway.send(new CreateApiKeyCommand({ enabled: true }));
    host.issuedKeys.add(ofGateway);
    await putOnPlan(id, plan('Pro'));

    expect(await Promise.all([soonStatus(ours, 200), soonStatus(onConsole, 200), soonLimit(ofGateway, 300)])).toEqual([
      200, 200, 300,
    ]);
    expect(await listWith(hashApiKey(ours))).toMatchObject({ status: 401 });
  });

  test('is refused within five seconds after it was disabled, deleted or taken off its plan', async () => {
    const [disabled, deleted, offPlan] = await Promise.all([issued(), issued(), issued()]);
    await setEnabled(disabled.keyId, 'false');
    await gateway.send(new DeleteApiKeyCommand({ apiKey: deleted.keyId }));
    await takeOffPlan(offPlan.keyId, plan('Free'));

    expect(await Promise.all([disabled, deleted, offPlan].map(({ key }) => soonStatus(key, 401)))).toEqual([
      401, 401, 401,
    ]);
    await setEnabled(disabled.keyId, 'true');
    await putOnPlan(offPlan.keyId, plan('Free'));
    expect(await Promise.all([disabled, offPlan].map(({ key }) => soonStatus(key, 200)))).toEqual([200, 200]);
    expect(await listWith(deleted.key)).toMatchObject({ status: 401 });
  });

  test('has its new limits within five seconds after it was moved, or others were agreed', async () => {
    const [apiId, stage] = await apiStage();
    const tags = { 'per-minute': '123', 'per-day': '4567' };
    const { id: usagePlanId = '' } = await gateway.send(
      new CreateUsagePlanCommand({ name: 'Acme', apiStages: [{ apiId, stage }], tags }),
    );
    const [moved, ofCustomer] = await Promise.all([issued(), issued(usagePlanId)]);
    expect(await Promise.all([soonLimit(moved.key, 60), soonLimit(ofCustomer.key, 123)])).toEqual([60, 123]);
    await takeOffPlan(moved.keyId, plan('Free'));
    await putOnPlan(moved.keyId, plan('Business'));
    const resourceArn = `arn:aws:apigateway:us-east-1::/usageplans/${usagePlanId}`;
    await gateway.send(new TagResourceCommand({ resourceArn, tags: { 'per-minute': '234' } }));

    expect(await Promise.all([soonLimit(moved.key, 1_000), soonLimit(ofCustomer.key, 234)])).toEqual([1_000, 234]);
  });

  (hasAwsCli ? describe : describe.skip)('with the stock AWS CLI', () => {
    test('is made, used, tagged, read and deleted', async () => {
      const key = 'made-with-the-aws-cli-0123456789';
      host.issuedKeys.add(key);
      const { id } = v.parse(withId, await aws('create-api-key', '--name', 'acme', '--enabled', '--value', key));
      await aws('create-usage-plan-key', '--usage-plan-id', plan('Pro'), '--key-id', id, '--key-type', 'API_KEY');
      expect(await soonLimit(key, 300)).toBe(300);
      const date = new Date().toISOString().slice(0, 10);
      const dates = ['--start-date', date, '--end-date', date];
      const arn = `arn:aws:apigateway:us-east-1::/apikeys/${id}`;
      await aws('tag-resource', '--resource-arn', arn, '--tags', 'note=for tests');

      expect(await aws('get-api-key', '--api-key', id)).toMatchObject({ id, tags: { note: 'for tests' } });
      expect(await aws('get-usage', '--usage-plan-id', plan('Pro'), '--key-id', id, ...dates)).toHaveProperty('items');
      await aws('delete-api-key', '--api-key', id);
      expect(await soonStatus(key, 401)).toBe(401);
      await expect(aws('get-api-key', '--api-key', id)).rejects.toThrow(
        /An error occurred \(NotFoundException\) when calling the GetApiKey operation: Invalid API Key identifier/,
      );
    });
  });
});
