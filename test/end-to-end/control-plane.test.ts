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
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
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

/** A key of ours. */
async function issued(usagePlanId?: string): Promise<{ key: string; keyId: string }> {
  const key = generateApiKey();
  host.issuedKeys.add(key);
  return { key, keyId: await createKey({ value: hashApiKey(key) }, usagePlanId) };
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

const limitOrStatus = ({ status, rateLimit }: Answer): number => (status === 200 ? rateLimit.limit : status);

/** Waits until the keys are refused (401), or have these limits a minute. @returns what they have in the end */
function soon(wanted: Readonly<Record<string, number>>): Promise<Record<string, number>> {
  const keys = Object.entries(wanted).map(async ([key, limit]): Promise<[string, number]> => {
    const answer = await untilAnswer(key, (each) => limitOrStatus(each) === limit);
    return [key, limitOrStatus(answer)];
  });
  return Promise.all(keys).then((entries) => Object.fromEntries(entries));
}

async function apiStage(): Promise<[apiId: string, stage: string]> {
  const outputs: unknown = await (await fetch(`${host.origin}${OUTPUTS_PATH}`)).json();
  const { ApiId, ApiStage } = v.parse(v.object({ ApiId: v.string(), ApiStage: v.string() }), outputs);
  return [ApiId, ApiStage];
}

test('What an admin changes in API Gateway holds within five seconds', async () => {
  const onConsole = 'zaCELgL0imfnc8mVLWwsAawjYr4Rx-Af50DDqtlx';
  await createKey({ value: onConsole });
  const { id = '', value: ofGateway = '' } = await gateway.send(new CreateApiKeyCommand({ enabled: true }));
  host.issuedKeys.add(ofGateway);
  await putOnPlan(id, plan('Pro'));
  const [apiId, stage] = await apiStage();
  const tags = { 'per-minute': '123', 'per-day': '4567' };
  const { id: usagePlanId = '' } = await gateway.send(
    new CreateUsagePlanCommand({ name: 'Acme', apiStages: [{ apiId, stage }], tags }),
  );
  const [disabled, deleted, offPlan, moved] = await Promise.all([issued(), issued(), issued(), issued()]);
  const ofCustomer = await issued(usagePlanId);
  const made = {
    [onConsole]: 60,
    [ofGateway]: 300,
    [disabled.key]: 60,
    [deleted.key]: 60,
    [offPlan.key]: 60,
    [moved.key]: 60,
    [ofCustomer.key]: 123,
  };
  expect(await soon(made)).toEqual(made);
  expect(await listWith(hashApiKey(moved.key))).toMatchObject({ status: 401 });

  await setEnabled(disabled.keyId, 'false');
  await gateway.send(new DeleteApiKeyCommand({ apiKey: deleted.keyId }));
  await takeOffPlan(offPlan.keyId, plan('Free'));
  await takeOffPlan(moved.keyId, plan('Free'));
  await putOnPlan(moved.keyId, plan('Business'));
  const resourceArn = `arn:aws:apigateway:us-east-1::/usageplans/${usagePlanId}`;
  await gateway.send(new TagResourceCommand({ resourceArn, tags: { 'per-minute': '234' } }));
  const changed = {
    [disabled.key]: 401,
    [deleted.key]: 401,
    [offPlan.key]: 401,
    [moved.key]: 1_000,
    [ofCustomer.key]: 234,
  };
  expect(await soon(changed)).toEqual(changed);

  await setEnabled(disabled.keyId, 'true');
  await putOnPlan(offPlan.keyId, plan('Free'));
  const again = { [disabled.key]: 60, [offPlan.key]: 60, [deleted.key]: 401 };
  expect(await soon(again)).toEqual(again);
});
