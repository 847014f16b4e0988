import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { samplePets, sampleStock } from '../../infra/local/sample-data.ts';
import { petItem } from '../../infra/table-items.ts';
import { type Answer, ApiClient } from '../support/api-client.ts';
import { MAX_INT64 } from '../support/int64.ts';
import { issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';

let host: LocalHost;
let api: ApiClient;

beforeAll(async () => {
  host = await LocalHost.start();
  api = ApiClient.withKey(host.baseUrl, (await issueKey(host)).token);
});

afterAll(() => host.close());

const get = (petId: string): Promise<Answer> => api.send('GET', `/pets/${petId}`);

test('GET /pets/{petId}: 200 with the record of a sample pet, and the status of its stock entry', async () => {
  const answer = await get('103');
  const { name } = samplePets.find(({ id }) => id === '103') ?? {};
  const { status } = sampleStock.find(({ petId }) => petId === '103') ?? {};

  expect(answer.status).toBe(200);
  expect(JSON.parse(answer.text)).toMatchObject({ id: 103, name, status });
});

test('200 with all digits of the largest int64, and without status for a pet without a stock entry', async () => {
  const label = { id: MAX_INT64, name: 'large' };
  const Item = petItem({ id: MAX_INT64, name: 'Max', photoUrls: [], category: label, tags: [label] });
  await host.documents.send(new PutCommand({ TableName: host.host.outputs['PetsTableName'], Item }));

  expect((await get(MAX_INT64)).text).toBe(
    `{"id":${MAX_INT64},"category":{"id":${MAX_INT64},"name":"large"},"name":"Max","photoUrls":[],"tags":[{"id":${MAX_INT64},"name":"large"}]}`,
  );
});

test.each(['GET', 'HEAD'])('304 to %s for whoever has the answer already', async (method) => {
  const headers = { 'If-None-Match': (await get('101')).headers.get('ETag') ?? '' };

  expect(await api.send(method, '/pets/101', { headers })).toMatchObject({ status: 304, text: '' });
  expect(await api.send(method, '/pets/102', { headers })).toMatchObject({ status: 200 });
});

test.each([
  ['-101', 404, 'PET_NOT_FOUND'],
  ['%31%30%31', 400, 'INVALID_PET_ID'],
])('%s is %i %s', async (petId, status, code) => {
  expect(await get(petId)).toMatchObject({ status, error: { code } });
});

test.each(['101', 'abc'])('every answer says that it is deprecated (RFC 9745, RFC 8594): %s', async (petId) => {
  const { headers } = await get(petId);
  const deprecatedAt = Number(/^@(\d+)$/.exec(headers.get('Deprecation') ?? '')?.[1]);
  const sunsetAt = Date.parse(headers.get('Sunset') ?? '');

  expect(headers.get('Sunset')).toBe(new Date(sunsetAt).toUTCString());
  expect(sunsetAt / 1_000).toBeGreaterThan(deprecatedAt);
  expect(headers.get('Link')).toMatch(/^<https?:[^>]+>; rel="deprecation"; type="text\/html", <.+>; rel="sunset"/);
});
