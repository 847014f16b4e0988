import {
  type APIGatewayClient,
  CreateApiKeyCommand,
  CreateUsagePlanCommand,
  CreateUsagePlanKeyCommand,
  DeleteApiKeyCommand,
  DeleteUsagePlanCommand,
  DeleteUsagePlanKeyCommand,
  GetApiKeyCommand,
  GetRestApisCommand,
  GetTagsCommand,
  GetUsageCommand,
  GetUsagePlanCommand,
  GetUsagePlanKeyCommand,
  paginateGetApiKeys,
  paginateGetUsage,
  paginateGetUsagePlans,
  TagResourceCommand,
  UntagResourceCommand,
  UpdateApiKeyCommand,
  UpdateUsagePlanCommand,
} from '@aws-sdk/client-api-gateway';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import * as v from 'valibot';
import { usagePlanOf } from '../../infra/local/issue-demo-keys.ts';
import { generateApiKey, hashApiKey } from '../../shared/keys/api-key.ts';
import { ApiClient } from '../support/api-client.ts';
import { gatewayAt } from '../support/gateway-client.ts';
import { aKey } from '../support/key-records.ts';
import { LocalHost } from '../support/local-host.ts';

// Hundreds of calls one after the other, on a machine that may be busy.
jest.setTimeout(60_000);

const today = () => new Date().toISOString().slice(0, 10);

describe('API Gateway’s own API, with the AWS SDK', () => {
  let host: LocalHost;
  let gateway: APIGatewayClient;
  let freePlan: string;
  let apiStage: { apiId: string; stage: string };

  beforeAll(async () => {
    host = await LocalHost.start();
    gateway = gatewayAt(host.origin);
    const plan = usagePlanOf(host.host.records, 'free');
    freePlan = plan?.id ?? '';
    apiStage = { apiId: '', stage: '', ...plan?.apiStages[0] };
  });

  afterAll(async () => {
    gateway.destroy();
    await host.close();
  });

  test('an API key is made, read, changed and deleted', async () => {
    const made = await gateway.send(
      new CreateApiKeyCommand({ name: 'acme', enabled: true, value: 'x'.repeat(20), tags: { a: 'b' } }),
    );
    const { id: apiKey = '' } = made;
    const changed = await gateway.send(
      new UpdateApiKeyCommand({ apiKey, patchOperations: [{ op: 'replace', path: '/enabled', value: 'false' }] }),
    );
    const read = await gateway.send(new GetApiKeyCommand({ apiKey, includeValue: true }));
    await gateway.send(new DeleteApiKeyCommand({ apiKey }));

    expect(made).toMatchObject({ name: 'acme', value: 'x'.repeat(20), createdDate: expect.any(Date), stageKeys: [] });
    expect(changed).toMatchObject({ enabled: false, tags: { a: 'b' } });
    expect(read).toMatchObject({
      id: apiKey,
      value: 'x'.repeat(20),
      enabled: false,
      lastUpdatedDate: expect.any(Date),
    });
    await expect(gateway.send(new GetApiKeyCommand({ apiKey }))).rejects.toMatchObject({ name: 'NotFoundException' });
  });

  test('a usage plan is made, read, changed and deleted', async () => {
    const made = await gateway.send(
      new CreateUsagePlanCommand({
        name: 'acme',
        apiStages: [apiStage],
        throttle: { rateLimit: 1.5, burstLimit: 3 },
        quota: { limit: 10, period: 'DAY' },
      }),
    );
    const { id: usagePlanId = '' } = made;
    const value = `${apiStage.apiId}:${apiStage.stage}`;
    const changed = await gateway.send(
      new UpdateUsagePlanCommand({
        usagePlanId,
        patchOperations: [
          { op: 'remove', path: '/apiStages', value },
          { op: 'replace', path: '/quota/limit', value: '20' },
        ],
      }),
    );
    const read = await gateway.send(new GetUsagePlanCommand({ usagePlanId }));
    await gateway.send(new DeleteUsagePlanCommand({ usagePlanId }));

    expect(made).toMatchObject({ apiStages: [apiStage], throttle: { rateLimit: 1.5, burstLimit: 3 } });
    expect(changed).toMatchObject({ apiStages: [], quota: { limit: 20, offset: 0, period: 'DAY' } });
    expect(read).toMatchObject({ id: usagePlanId, name: 'acme', quota: { limit: 20 } });
    await expect(gateway.send(new GetUsagePlanCommand({ usagePlanId }))).rejects.toMatchObject({
      name: 'NotFoundException',
    });
  });

  test('the plans of the template are there, with the demo keys on them', async () => {
    const names: (string | undefined)[] = [];
    for await (const { items = [] } of paginateGetUsagePlans({ client: gateway, pageSize: 2 }, {})) {
      names.push(...items.map(({ name }) => name));
    }
    const demo = await gateway.send(new GetUsagePlanKeyCommand({ usagePlanId: freePlan, keyId: 'demo-free' }));

    for (const title of ['Free', 'Pro', 'Business', 'Enterprise', 'Overflow']) {
      expect(names).toContainEqual(expect.stringMatching(`${title}$`));
    }
    expect(demo).toMatchObject({ id: 'demo-free', type: 'API_KEY', name: 'Demo Free' });
  });

  test('tags are set, read and removed', async () => {
    const resourceArn = `arn:aws:apigateway:us-east-1::/usageplans/${freePlan}`;
    await gateway.send(
      new TagResourceCommand({ resourceArn, tags: { 'per-minute': '5', 'a tag/with: signs': 'x&y' } }),
    );
    const set = await gateway.send(new GetTagsCommand({ resourceArn }));
    await gateway.send(new UntagResourceCommand({ resourceArn, tagKeys: ['per-minute', 'a tag/with: signs'] }));
    const removed = await gateway.send(new GetTagsCommand({ resourceArn }));

    expect(set.tags).toMatchObject({ 'per-minute': '5', 'a tag/with: signs': 'x&y' });
    expect(Object.keys(removed.tags ?? {})).not.toContain('per-minute');
  });

  test('more keys than fit on one page are all listed, once each', async () => {
    const made: (string | undefined)[] = [];
    for (let count = 0; count < 510; count++) {
      made.push((await gateway.send(new CreateApiKeyCommand({ name: `many ${count}` }))).id);
    }
    const pages: (string | undefined)[][] = [];
    for await (const { items = [] } of paginateGetApiKeys({ client: gateway, pageSize: 500 }, { nameQuery: 'many ' })) {
      pages.push(items.map(({ id }) => id));
    }

    expect(pages.map(({ length }) => length)).toEqual([500, 10]);
    expect(new Set(pages.flat())).toEqual(new Set(made));
  });

  test('a key that is made there, with its record in the keys table, is metered from the next request on', async () => {
    const token = generateApiKey();
    const keyHash = hashApiKey(token);
    const { id: keyId = '' } = await gateway.send(new CreateApiKeyCommand({ value: keyHash, enabled: true }));
    const Item = aKey({ keyHash, keyId });
    await host.documents.send(new PutCommand({ TableName: host.keysTable, Item }));
    const api = ApiClient.withKey(host.baseUrl, token);
    expect(await api.list()).toMatchObject({ status: 401 });
    await gateway.send(new CreateUsagePlanKeyCommand({ usagePlanId: freePlan, keyId, keyType: 'API_KEY' }));
    expect(await api.list()).toMatchObject({ status: 200 });
    expect(await api.list()).toMatchObject({ status: 200 });

    const values: Record<string, number[][]> = {};
    const days = { usagePlanId: freePlan, startDate: today(), endDate: today() };
    for await (const { items } of paginateGetUsage({ client: gateway, pageSize: 1 }, days))
      Object.assign(values, items);
    expect(values).toMatchObject({ [keyId]: [[2, 1_058]], 'demo-free': [[0, 1_060]] });

    await gateway.send(new DeleteUsagePlanKeyCommand({ usagePlanId: freePlan, keyId }));
    expect(await api.list()).toMatchObject({ status: 401 });
  });

  describe('says what is wrong by the error of its kind:', () => {
    test.each<[string, () => Promise<unknown>]>([
      ['BadRequestException', () => gateway.send(new CreateApiKeyCommand({ value: 'short' }))],
      ['BadRequestException', () => gateway.send(new DeleteUsagePlanCommand({ usagePlanId: freePlan }))],
      ['NotFoundException', () => gateway.send(new DeleteApiKeyCommand({ apiKey: 'none' }))],
      [
        'ConflictException',
        () =>
          gateway.send(new CreateUsagePlanKeyCommand({ usagePlanId: freePlan, keyId: 'demo-pro', keyType: 'API_KEY' })),
      ],
      ['UnknownOperationException', () => gateway.send(new GetRestApisCommand({}))],
      [
        'BadRequestException',
        () => gateway.send(new GetUsageCommand({ usagePlanId: freePlan, startDate: 'today', endDate: today() })),
      ],
    ])('%s', async (name, call) => {
      await expect(call()).rejects.toMatchObject({
        name,
        message: expect.stringMatching(/\S/),
        $metadata: { requestId: expect.stringMatching(/^[0-9a-f-]{36}$/) },
      });
    });
  });

  describe('is closed to', () => {
    test.each<[string, RequestInit]>([
      ['a call without a signature', {}],
      ['a bearer token', { headers: { Authorization: 'Bearer psk_x' } }],
      ['the preflight of a web page', { method: 'OPTIONS', headers: { Origin: 'https://example.com' } }],
      [
        'a web page that pretends to sign',
        { headers: { Authorization: 'AWS4-HMAC-SHA256 x', Origin: 'http://rebound.example.com' } },
      ],
    ])('%s', async (_, request) => {
      const { status, headers } = await fetch(`${host.origin}/apikeys`, request);

      expect(status).toBe(403);
      expect(headers.get('Access-Control-Allow-Origin')).toBeNull();
    });
  });

  test('reads no body without end', async () => {
    const headers = { Authorization: 'AWS4-HMAC-SHA256 x' };
    const body = JSON.stringify({ description: 'x'.repeat(70_000) });
    const response = await fetch(`${host.origin}/apikeys`, { method: 'POST', headers, body });

    expect(response.status).toBe(400);
    expect(v.parse(v.object({ message: v.string() }), await response.json()).message).toMatch(
      /longer than 65536 bytes/,
    );
  });
});
