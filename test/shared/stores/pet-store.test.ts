import { type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { petItem } from '../../../infra/table-items.ts';
import { writeItems } from '../../../infra/write-items.ts';
import type { PetRecord } from '../../../shared/contract/pets.ts';
import { documentClient } from '../../../shared/dynamodb.ts';
import { PetStore } from '../../../shared/stores/pet-store.ts';
import { describeOnEachEngine, localEndpoint, pointSdkAt } from '../../support/engines.ts';
import { acceptForeignErrors } from '../../support/foreign-errors.ts';
import { int64, MAX_INT64, MIN_INT64 } from '../../support/int64.ts';
import { freePort } from '../../support/listening.ts';
import { patientClient } from '../../support/patient-client.ts';
import { createPetsTable } from '../../support/tables.ts';

acceptForeignErrors();

const aPet = (id: string, differences: Partial<PetRecord> = {}): PetRecord => ({
  id: int64(id),
  name: 'Rex',
  photoUrls: [],
  ...differences,
});

describe('The pet store, where DynamoDB is out of reach', () => {
  test('finds nothing and says so', async () => {
    pointSdkAt(localEndpoint(await freePort()));
    const store = new PetStore(documentClient({ maxAttempts: 2, requestTimeout: 1_000 }), 'pets');

    await expect(store.find(int64('1'))).rejects.toThrow(
      expect.objectContaining({ code: 'SERVICE_UNAVAILABLE', status: 503 }),
    );
  });
});

describeOnEachEngine('The pet store', () => {
  let client: DynamoDBDocumentClient;
  let tableName = '';
  let store: PetStore;

  beforeAll(() => {
    client = patientClient();
  });

  beforeEach(async () => {
    tableName = await createPetsTable(client);
    store = new PetStore(client, tableName);
  });

  const put = (...pets: PetRecord[]) => writeItems(client, tableName, pets, petItem);

  test.each<[string, Partial<PetRecord>]>([
    ['a name only', {}],
    ['photos', { photoUrls: ['https://example.com/1.jpg', 'https://example.com/2.jpg'] }],
    ['a category', { category: { id: int64(MAX_INT64), name: 'dogs' } }],
    [
      'tags',
      {
        tags: [
          { id: int64(MIN_INT64), name: 'a' },
          { id: int64('9007199254740993'), name: 'b' },
        ],
      },
    ],
    ['no tags in a list of them', { tags: [] }],
  ])('finds a pet with %s', async (_, differences) => {
    await put(aPet('42', differences));

    expect(await store.find(int64('42'))).toEqual(aPet('42', differences));
  });

  test.each([MIN_INT64, '-1', '0', '9007199254740993', MAX_INT64])('finds pet %s and no other', async (id) => {
    await put(aPet('9007199254740992', { name: 'another' }), aPet(id));

    expect(await store.find(int64(id))).toEqual(aPet(id));
  });

  test('finds nothing where there is no such pet', async () => {
    await put(aPet('9007199254740992'));

    expect(await store.find(int64('9007199254740993'))).toBeUndefined();
  });

  test('gives no record that is broken', async () => {
    await client.send(new PutCommand({ TableName: tableName, Item: { petId: 42, name: 'Rex' } }));

    await expect(store.find(int64('42'))).rejects.toThrow('photoUrls');
  });
});
