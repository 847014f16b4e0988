import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import {
  rawResourcesOf,
  resourcesOf,
  type SynthesizedStage,
  synthesizedStages,
  withoutHash,
} from '../../support/synthesized.ts';

const synthesized = synthesizedStages();
const stages = ['staging', 'production'] as const;
const tableNames = ['Stock', 'Keys', 'Pets', 'Orders', 'Requests'].map((name) => `Tables${name}`);

function tablesOf(stage: SynthesizedStage): Map<string, unknown> {
  const found = resourcesOf(stage, 'AWS::DynamoDB::Table', v.looseObject({}));
  return new Map(found.map(({ id, properties }) => [withoutHash(id), properties]));
}

const policiesSchema = v.object({ DeletionPolicy: v.string(), UpdateReplacePolicy: v.string() });

/** What becomes of the data when the table goes, and when it is replaced. */
function policiesOf(stage: SynthesizedStage, name: string): string[] {
  const [, table] = rawResourcesOf(stage, 'AWS::DynamoDB::Table').find(([id]) => withoutHash(id) === name) ?? [];
  return Object.values(v.parse(policiesSchema, table));
}

type KeyTypes = Readonly<Record<string, 'S' | 'N'>>;

/** A key by its attributes and their types: the partition key, and the sort key if there is one. */
const keySchema = (key: KeyTypes) =>
  Object.keys(key).map((AttributeName, index) => ({ AttributeName, KeyType: index === 0 ? 'HASH' : 'RANGE' }));

const stockKey = { storeId: 'S', petId: 'N' } as const;
const ordersKey = { storeId: 'S', orderId: 'N' } as const;

describe.each(stages)('the tables of %s', (stage) => {
  const tables = tablesOf(synthesized[stage]);

  test('are one for the stock, the keys, the pets, the orders, and requests that are repeated', () => {
    expect([...tables.keys()].toSorted()).toEqual(tableNames.toSorted());
  });

  test.each([
    ['a stock item per pet of a store, in petId order', 'TablesStock', stockKey],
    ['a key by its hash', 'TablesKeys', { keyHash: 'S' }],
    ['a pet by its id', 'TablesPets', { petId: 'N' }],
    ['an order of a store, in the order of their ids', 'TablesOrders', ordersKey],
    ['a request by its id', 'TablesRequests', { requestId: 'S' }],
  ] as const)('keep %s', (_, name, key) => {
    expect(tables.get(name)).toMatchObject({ KeySchema: keySchema(key) });
  });

  test.each(tableNames)('%s has no index to pay for', (name) => {
    expect(tables.get(name)).not.toHaveProperty('GlobalSecondaryIndexes');
  });

  test.each([
    ['requests once they have expired', 'TablesRequests', 'expiresAt'],
    ['keys some time after they were revoked', 'TablesKeys', 'purgeAt'],
  ])('forget %s', (_, name, AttributeName) => {
    expect(tables.get(name)).toMatchObject({ TimeToLiveSpecification: { AttributeName, Enabled: true } });
  });

  test.each(tableNames.filter((name) => name !== 'TablesRequests' && name !== 'TablesKeys'))(
    '%s forgets nothing',
    (name) => {
      expect(tables.get(name)).not.toHaveProperty('TimeToLiveSpecification');
    },
  );

  test.each(tableNames)('%s is paid by the request', (name) => {
    expect(tables.get(name)).toMatchObject({ BillingMode: 'PAY_PER_REQUEST' });
    expect(tables.get(name)).not.toHaveProperty('ProvisionedThroughput');
  });

  test.each(tableNames)('%s is encrypted with a key that AWS manages in the account', (name) => {
    expect(tables.get(name)).toMatchObject({ SSESpecification: { SSEEnabled: true } });
  });

  test.each(tableNames)('%s can be restored to any moment of the last weeks', (name) => {
    expect(tables.get(name)).toMatchObject({ PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } });
  });

  test.each(tableNames)('%s has no name of its own, so that a restored one can take its place', (name) => {
    expect(tables.get(name)).not.toHaveProperty('TableName');
  });
});

describe('the data of a stage', () => {
  test.each(tableNames)('%s outlives the stack on production, and cannot be deleted', (name) => {
    expect(policiesOf(synthesized.production, name)).toEqual(['Retain', 'Retain']);
    expect(tablesOf(synthesized.production).get(name)).toHaveProperty('DeletionProtectionEnabled', true);
  });

  test.each(tableNames)('%s goes with the stack on staging', (name) => {
    expect(policiesOf(synthesized.staging, name)).toEqual(['Delete', 'Delete']);
    expect(tablesOf(synthesized.staging).get(name)).toHaveProperty('DeletionProtectionEnabled', false);
  });
});
