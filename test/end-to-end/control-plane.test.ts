import { setTimeout as sleep } from 'node:timers/promises';
import {
  type APIGatewayClient,
  CreateApiKeyCommand,
  CreateUsagePlanKeyCommand,
  DeleteUsagePlanKeyCommand,
  TagResourceCommand,
  UpdateApiKeyCommand,
} from '@aws-sdk/client-api-gateway';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { templatePlanOf } from '../../infra/local/prepare-data.ts';
import type { PlanId } from '../../shared/keys/plans.ts';
import { ApiClient } from '../support/api-client.ts';
import { gatewayAt } from '../support/gateway-records.ts';
import { issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';
import { parsed } from '../support/tables.ts';

// On a machine that may be busy.
jest.setTimeout(60_000);

/** The end of waiting for a change. */
const SOON_MS = 20_000;

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

/** Makes an enabled API key on a usage plan. @returns its id, and its value, which is its only token */
async function createKey(planId: PlanId, tags?: Record<string, string>) {
  const { id: keyId = '', value = '' } = await gateway.send(new CreateApiKeyCommand({ enabled: true, tags }));
  host.issuedKeys.add(value);
  await gateway.send(new CreateUsagePlanKeyCommand({ usagePlanId: plan(planId), keyId, keyType: 'API_KEY' }));
  return { keyId, value };
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

test('changes in API Gateway take effect within 20 seconds', async () => {
  const ofPro = await createKey('pro');
  const tagged = await createKey('enterprise', { 'per-minute': '123', 'per-day': '4567' });
  const issued = await issueKey(host, { plan: 'free', perMinute: 60, perDay: 1_000 });
  await expectSoon({ [ofPro.value]: 300, [tagged.value]: 123, [issued.token]: 60 });
  expect(await limitOf(parsed(issued.token).recordId)).toBe(401);

  const disable = [{ op: 'replace' as const, path: '/enabled', value: 'false' }];
  await gateway.send(new UpdateApiKeyCommand({ apiKey: (await issued.read()).keyId, patchOperations: disable }));
  await gateway.send(new DeleteUsagePlanKeyCommand({ usagePlanId: plan('pro'), keyId: ofPro.keyId }));
  const resourceArn = `arn:aws:apigateway:us-east-1::/apikeys/${tagged.keyId}`;
  await gateway.send(new TagResourceCommand({ resourceArn, tags: { 'per-minute': '234' } }));
  await expectSoon({ [ofPro.value]: 401, [tagged.value]: 234, [issued.token]: 401 });
});
