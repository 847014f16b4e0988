import { setTimeout as sleep } from 'node:timers/promises';
import {
  type APIGatewayClient,
  CreateApiKeyCommand,
  type CreateApiKeyRequest,
  CreateUsagePlanKeyCommand,
  DeleteApiKeyCommand,
  DeleteUsagePlanKeyCommand,
  TagResourceCommand,
  UpdateApiKeyCommand,
} from '@aws-sdk/client-api-gateway';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { templatePlanOf } from '../../infra/local/issue-demo-keys.ts';
import type { PlanId } from '../../shared/keys/plans.ts';
import { ApiClient } from '../support/api-client.ts';
import { gatewayAt } from '../support/gateway-records.ts';
import { issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';
import { parsed } from '../support/tables.ts';

// On a machine that may be busy.
jest.setTimeout(60_000);

/** How long a change in the console may take to hold. */
const SOON_MS = 5_000;

let host: LocalHost;
let gateway: APIGatewayClient;

beforeAll(async () => {
  host = await LocalHost.start();
  gateway = gatewayAt(host.origin);
});

afterAll(async () => {
  gateway.destroy();
  await host.close();
});

const plan = (id: PlanId) => templatePlanOf(host.host.records, id)?.id ?? '';
const putOnPlan = (keyId: string, usagePlanId: string) =>
  gateway.send(new CreateUsagePlanKeyCommand({ usagePlanId, keyId, keyType: 'API_KEY' }));
const takeOffPlan = (keyId: string, usagePlanId: string) =>
  gateway.send(new DeleteUsagePlanKeyCommand({ usagePlanId, keyId }));
const setEnabled = (apiKey: string, value: 'true' | 'false') =>
  gateway.send(new UpdateApiKeyCommand({ apiKey, patchOperations: [{ op: 'replace', path: '/enabled', value }] }));

/** Makes an enabled API key on a usage plan. */
async function createKey(planId: PlanId, request: CreateApiKeyRequest) {
  const { id = '', value = '' } = await gateway.send(new CreateApiKeyCommand({ enabled: true, ...request }));
  host.issuedKeys.add(value);
  await putOnPlan(id, plan(planId));
  return { id, value };
}

/** A key on Free as the admin command makes it, with its one token. */
async function issued() {
  const key = await issueKey(host, { plan: 'free', perMinute: 60, perDay: 1_000 });
  return { key: key.token, id: (await key.read()).keyId };
}

/** The limit a minute of a key, or the status of a refusal. */
async function limitOf(key: string): Promise<number> {
  const { status, rateLimit } = await ApiClient.withKey(host.baseUrl, key).list();
  return status === 200 ? rateLimit.limit : status;
}

/** Waits until all keys have these limits a minute, or are refused (401), and not for long. */
async function expectSoon(wanted: Readonly<Record<string, number>>): Promise<void> {
  const deadline = performance.now() + SOON_MS;
  const keys = Object.entries(wanted).map(async ([key, limit]) => {
    let now = await limitOf(key);
    for (; now !== limit && performance.now() < deadline; now = await limitOf(key)) await sleep(100);
    return [key, now];
  });
  expect(Object.fromEntries(await Promise.all(keys))).toEqual(wanted);
}

test('What an admin changes in API Gateway holds within five seconds', async () => {
  const { value: onConsole } = await createKey('free', { value: 'zaCELgL0imfnc8mVLWwsAawjYr4Rx-Af50DDqtlx' });
  const { value: ofGateway } = await createKey('pro', {});
  const tagged = await createKey('enterprise', { tags: { 'per-minute': '123', 'per-day': '4567' } });
  const [disabled, deleted, offPlan, moved] = await Promise.all([issued(), issued(), issued(), issued()]);
  await expectSoon({
    [onConsole]: 60,
    [ofGateway]: 300,
    [tagged.value]: 123,
    [disabled.key]: 60,
    [deleted.key]: 60,
    [offPlan.key]: 60,
    [moved.key]: 60,
  });
  expect(await limitOf(parsed(moved.key).recordId)).toBe(401);

  await setEnabled(disabled.id, 'false');
  await gateway.send(new DeleteApiKeyCommand({ apiKey: deleted.id }));
  await takeOffPlan(offPlan.id, plan('free'));
  await takeOffPlan(moved.id, plan('free'));
  await putOnPlan(moved.id, plan('business'));
  const resourceArn = `arn:aws:apigateway:us-east-1::/apikeys/${tagged.id}`;
  await gateway.send(new TagResourceCommand({ resourceArn, tags: { 'per-minute': '234' } }));
  await expectSoon({
    [disabled.key]: 401,
    [deleted.key]: 401,
    [offPlan.key]: 401,
    [moved.key]: 1_000,
    [tagged.value]: 234,
  });

  await setEnabled(disabled.id, 'true');
  await putOnPlan(offPlan.id, plan('free'));
  await expectSoon({ [disabled.key]: 60, [offPlan.key]: 60, [deleted.key]: 401 });
});
