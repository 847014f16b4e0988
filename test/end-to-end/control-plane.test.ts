import { setTimeout as sleep } from 'node:timers/promises';
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
});
