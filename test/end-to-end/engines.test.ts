import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ApiClient } from '../support/api-client.ts';
import { describeOnEachEngine } from '../support/engines.ts';
import { issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';

describeOnEachEngine('The whole service with --dynamodb', () => {
  let host: LocalHost;

  beforeAll(async () => {
    host = await LocalHost.start({ dynamodb: new URL(process.env.AWS_ENDPOINT_URL_DYNAMODB ?? '') });
  });

  afterAll(() => host.close());

  test('sets the stock of a pet and lists it', async () => {
    const api = ApiClient.withKey(host.baseUrl, host.host.keys.enterprise);
    expect(await api.setQuantity('104', 3)).toMatchObject({ status: 200 });
    expect((await api.list()).text).toContain('{"petId":104,"quantity":3,"status":"sold"}');
  });

  test('admits as many requests at once as a new key may make, and refuses the rest', async () => {
    const { token } = await issueKey(host, { perMinute: 20, perDay: 20 });
    const api = ApiClient.withKey(host.baseUrl, token);
    const statuses = (await Promise.all(Array.from({ length: 39 }, () => api.list()))).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(20);
    expect(statuses.filter((status) => status === 429)).toHaveLength(19);
  });
});
