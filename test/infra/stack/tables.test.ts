import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { resourcesOf, type SynthesizedStage, synthesizeStages, withoutHash } from '../../support/synthesized.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const synthesized = synthesizeStages(temporaryFolder());
const stages = ['staging', 'production'] as const;
const tableNames = ['TablesStock', 'TablesKeys'] as const;

function tablesOf(stage: SynthesizedStage): Map<string, unknown> {
  const found = resourcesOf(stage, 'AWS::DynamoDB::Table', v.looseObject({}));
  return new Map(found.map(({ id, properties }) => [withoutHash(id), properties]));
}

function policyOf(stage: SynthesizedStage, name: string, policy: 'DeletionPolicy' | 'UpdateReplacePolicy'): unknown {
  const tables = Object.entries(stage.template.findResources('AWS::DynamoDB::Table'));
  return tables.find(([id]) => withoutHash(id) === name)?.[1]?.[policy];
}

describe.each(stages)('the tables of %s', (stage) => {
  const tables = tablesOf(synthesized[stage]);

  test('are one for the stock and one for the keys', () => {
    expect([...tables.keys()].toSorted()).toEqual(tableNames.toSorted());
  });

  test('keep a stock item per pet of a store, in petId order', () => {
    expect(tables.get('TablesStock')).toMatchObject({
      KeySchema: [
        { AttributeName: 'storeId', KeyType: 'HASH' },
        { AttributeName: 'petId', KeyType: 'RANGE' },
      ],
      AttributeDefinitions: [
        { AttributeName: 'storeId', AttributeType: 'S' },
        { AttributeName: 'petId', AttributeType: 'N' },
      ],
    });
  });

  test('keep a key by its hash', () => {
    expect(tables.get('TablesKeys')).toMatchObject({
      KeySchema: [{ AttributeName: 'keyHash', KeyType: 'HASH' }],
      AttributeDefinitions: [{ AttributeName: 'keyHash', AttributeType: 'S' }],
    });
  });

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
    expect(policyOf(synthesized.production, name, 'DeletionPolicy')).toBe('Retain');
    expect(policyOf(synthesized.production, name, 'UpdateReplacePolicy')).toBe('Retain');
    expect(tablesOf(synthesized.production).get(name)).toHaveProperty('DeletionProtectionEnabled', true);
  });

  test.each(tableNames)('%s goes with the stack on staging', (name) => {
    expect(policyOf(synthesized.staging, name, 'DeletionPolicy')).toBe('Delete');
    expect(policyOf(synthesized.staging, name, 'UpdateReplacePolicy')).toBe('Delete');
    expect(tablesOf(synthesized.staging).get(name)).toHaveProperty('DeletionProtectionEnabled', false);
  });
});
