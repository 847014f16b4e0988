import { expect, test } from '@jest/globals';
import * as v from 'valibot';
import { stageNames } from '../../../infra/stages.ts';
import { inventoryTemplate, propertiesIn, resourcesIn } from '../../support/service-template.ts';

/**
 * What CloudFormation knows the tables by. Another logical id, key or type of a key makes an empty table in the place
 * of this one, which stays in the account unseen, or on staging is deleted; its data come over by `restore` alone. Less
 * retention or protection lets a mistake delete them. The deploy command refuses only the first (`--allow-table-loss`).
 */
const tables = {
  TablesStock190D1C2E: 'storeId S HASH, petId N RANGE',
  TablesKeys6B5A3ABF: 'recordId S HASH',
  TablesPetsD2B49199: 'petId N HASH',
  TablesOrdersACF7C9C0: 'storeId S HASH, orderId N RANGE',
  TablesRequests3CA232D6: 'requestId S HASH',
  TablesChangesCE5E7F7A: 'petId N HASH, change S RANGE',
  TablesHistory40CCE7D9: 'recordId S HASH, revision N RANGE',
  TablesUsageA60E9525: 'recordId S HASH, day S RANGE',
};

const tableSchema = v.object({
  KeySchema: v.array(v.object({ AttributeName: v.string(), KeyType: v.string() })),
  AttributeDefinitions: v.array(v.object({ AttributeName: v.string(), AttributeType: v.string() })),
});

/** The key of a table: the name, type and role of each attribute. */
function keyOf(properties: unknown): string {
  const { KeySchema, AttributeDefinitions } = v.parse(tableSchema, properties);
  const types = new Map(AttributeDefinitions.map(({ AttributeName, AttributeType }) => [AttributeName, AttributeType]));
  return KeySchema.map(({ AttributeName: name, KeyType }) => `${name} ${types.get(name)} ${KeyType}`).join(', ');
}

test.each([
  ['staging', 'Delete', false],
  ['production', 'Retain', true],
] as const)('%s has exactly these tables: a changed id or key loses data', (stage, policy, isProtected) => {
  const found = Object.entries(inventoryTemplate(stage).Resources).filter(([, { Type }]) => Type.includes('Table'));

  expect(Object.fromEntries(found.map(([id, { Properties }]) => [id, keyOf(Properties)]))).toEqual(tables);
  // It is switched on and off without another table.
  expect(found.map(([, { Properties }]) => Properties['StreamSpecification'])).toEqual([
    { StreamViewType: 'NEW_AND_OLD_IMAGES' },
    ...Array.from({ length: 5 }, () => undefined),
  ]);
  for (const [, table] of found)
    expect(table).toMatchObject({
      DeletionPolicy: policy,
      UpdateReplacePolicy: policy,
      Properties: {
        DeletionProtectionEnabled: isProtected,
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      },
    });
});

test('DynamoDB expires records of keys, requests, histories and usage only', () => {
  const timeToLive = propertiesIn(inventoryTemplate('production'), 'AWS::DynamoDB::Table').flatMap(
    ({ TimeToLiveSpecification }) => TimeToLiveSpecification ?? [],
  );

  expect(timeToLive).toEqual([
    { AttributeName: 'purgeAt', Enabled: true },
    ...Array.from({ length: 4 }, () => ({ AttributeName: 'ttl', Enabled: true })),
  ]);
});

test.each(stageNames)('The API of %s keeps its logical id, on which its address depends', (stage) => {
  const [[id] = []] = resourcesIn(inventoryTemplate(stage), 'AWS::ApiGateway::RestApi');

  expect(id).toBe('ApiRestApiE35FEAFE');
});
