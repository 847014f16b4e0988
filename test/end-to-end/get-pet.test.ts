import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { samplePets, sampleStock } from '../../infra/local/sample-data.ts';
import { petItem } from '../../infra/table-items.ts';
import { type Answer, ApiClient } from '../support/api-client.ts';
import { MAX_INT64 } from '../support/int64.ts';
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

  test('200 with the record of a sample pet, and the status of its stock entry', async () => {
    for (const pet of samplePets.slice(0, 3)) {
      const { status } = sampleStock.find(({ petId }) => petId === pet.id) ?? {};
      const answer = await get(pet.id);

      expect(answer.status).toBe(200);
      expect(JSON.parse(answer.text)).toMatchObject({ id: Number(pet.id), name: pet.name, status });
    }
  });

  test('200 with all digits of the largest int64, and without status for a pet without a stock entry', async () => {
    const label = { id: MAX_INT64, name: 'large' };
    const Item = petItem({ id: MAX_INT64, name: 'Max', photoUrls: [], category: label, tags: [label] });
    await host.documents.send(new PutCommand({ TableName: host.host.outputs['PetsTableName'], Item }));

    expect((await get(MAX_INT64)).text).toBe(
      `{"id":${MAX_INT64},"category":{"id":${MAX_INT64},"name":"large"},"name":"Max","photoUrls":[],"tags":[{"id":${MAX_INT64},"name":"large"}]}`,
    );
  });

  test('304 for whoever has the answer already, to HEAD too', async () => {
    const answer = await get('101');
    const asked = { headers: { 'If-None-Match': answer.headers.get('ETag') ?? '' } };

    for (const method of ['GET', 'HEAD'])
      expect(await api.send(method, '/pets/101', asked)).toMatchObject({ status: 304, text: '' });
    expect((await get('102')).headers.get('ETag')).not.toBe(answer.headers.get('ETag'));
  });

  test('404 for a petId that no pet has', async () => {
    expect(await get('-101')).toMatchObject({ status: 404, error: { code: 'PET_NOT_FOUND' } });
  });

  test.each(['abc', '%31%30%31'])('400 for %s, which is no petId', async (petId) => {
    expect(await get(petId)).toMatchObject({ status: 400, error: { code: 'INVALID_PET_ID' } });
  });

  test.each(['101', 'abc'])('every answer says that it is deprecated (RFC 9745, RFC 8594): %s', async (petId) => {
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
