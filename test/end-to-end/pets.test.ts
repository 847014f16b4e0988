import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { petItem } from '../../infra/table-items.ts';
import { samplePets, sampleStock } from '../../infra/local/sample-data/shelves.ts';
import { isInt64 } from '../../shared/contract/int64.ts';
import { type Answer, ApiClient } from '../support/api-client.ts';
import { issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';

describe('GET /pets/{petId}', () => {
  let host: LocalHost;
  let api: ApiClient;

  beforeAll(async () => {
    host = await LocalHost.start();
    api = ApiClient.withKey(host.baseUrl, (await issueKey(host)).token);
  });

  afterAll(() => host.close());

  const get = (petId: string): Promise<Answer> => api.send('GET', `/pets/${petId}`);

  test('200 with the record of every sample pet, and the status of its stock entry', async () => {
    for (const pet of samplePets.slice(0, 5)) {
      const { status } = sampleStock.find(({ petId }) => petId === pet.id) ?? {};
      const answer = await get(pet.id);

      expect(answer.status).toBe(200);
      expect(JSON.parse(answer.text)).toMatchObject({ id: Number(pet.id), name: pet.name, status });
    }
  });

  test('the largest int64 keeps its digits everywhere, and a pet out of stock has no status', async () => {
    const largest = '9223372036854775807';
    if (!isInt64(largest)) throw new Error('It is one');
    const label = { id: largest, name: 'large' };
    const pet = { id: largest, name: 'Max', photoUrls: [], category: label, tags: [label] };
    const TableName = host.host.outputs.PetsTableName;
    await host.documents.send(new PutCommand({ TableName, Item: petItem(pet) }));

    expect((await get(largest)).text).toBe(
      `{"id":${largest},"category":{"id":${largest},"name":"large"},"name":"Max","photoUrls":[],"tags":[{"id":${largest},"name":"large"}]}`,
    );
  });

  test.each(['1', '-101', '9223372036854775806'])('404 for %s, which is no pet', async (petId) => {
    expect(await get(petId)).toMatchObject({ status: 404, error: { code: 'PET_NOT_FOUND' } });
  });

  test.each(['abc', '0101', '9223372036854775808', '1.0', '%31%30%31'])(
    '400 for %s, which is no petId',
    async (petId) => {
      expect(await get(petId)).toMatchObject({ status: 400, error: { code: 'INVALID_PET_ID' } });
    },
  );

  test.each(['101', '1', 'abc'])('every answer says that it is deprecated (RFC 9745, RFC 8594): %s', async (petId) => {
    const { headers } = await get(petId);
    const deprecatedAt = Number(/^@(\d+)$/.exec(headers.get('Deprecation') ?? '')?.[1]);
    const sunsetAt = Date.parse(headers.get('Sunset') ?? '');

    expect(headers.get('Sunset')).toBe(new Date(sunsetAt).toUTCString());
    expect(sunsetAt / 1_000).toBeGreaterThan(deprecatedAt);
    expect(headers.get('Link')).toMatch(/^<https?:[^>]+>; rel="deprecation"; type="text\/html", <.+>; rel="sunset"/);
  });

  test('other operations say nothing of the kind', async () => {
    expect((await api.list()).headers.get('Deprecation')).toBeNull();
  });
});

describe('GET /store/orders', () => {
  let host: LocalHost;
  let api: ApiClient;

  beforeAll(async () => {
    host = await LocalHost.start();
    api = ApiClient.withKey(host.baseUrl, (await issueKey(host)).token);
  });

  afterAll(() => host.close());

  test('is marked as beta', async () => {
    expect((await api.send('GET', '/store/orders')).headers.get('X-API-Stability')).toBe('beta');
  });

  test('401 without a key', async () => {
    expect(await new ApiClient(host.baseUrl, undefined).send('GET', '/store/orders')).toMatchObject({ status: 401 });
  });
});
