import { expect, test } from '@jest/globals';
import { stageNames } from '../../../infra/stages.ts';
import { inventoryTemplate, propertiesIn, resourcesIn } from '../../support/service-template.ts';

const key = (AttributeName: string, KeyType: string) => ({ AttributeName, KeyType });
const attribute = (AttributeName: string, AttributeType: string) => ({ AttributeName, AttributeType });

/**
 * What CloudFormation knows the tables by. Another logical id, key or type of a key makes an empty table in the place
 * of this one, which stays in the account unseen, or on staging is deleted; its data come over by `restore` alone. Less
 * retention or protection lets a mistake delete them. The deploy command refuses only the first (`--allow-table-loss`).
 */
const tables = {
  TablesStock190D1C2E: [
    key('storeId', 'HASH'),
    key('petId', 'RANGE'),
    attribute('storeId', 'S'),
    attribute('petId', 'N'),
  ],
  TablesKeys6B5A3ABF: [key('recordId', 'HASH'), attribute('recordId', 'S')],
  TablesPetsD2B49199: [key('petId', 'HASH'), attribute('petId', 'N')],
  TablesOrdersACF7C9C0: [
    key('storeId', 'HASH'),
    key('orderId', 'RANGE'),
    attribute('storeId', 'S'),
    attribute('orderId', 'N'),
  ],
  TablesRequests3CA232D6: [key('requestId', 'HASH'), attribute('requestId', 'S')],
  TablesHistory40CCE7D9: [
    key('recordId', 'HASH'),
    key('revision', 'RANGE'),
    attribute('recordId', 'S'),
    attribute('revision', 'N'),
  ],
  TablesUsageA60E9525: [
    key('recordId', 'HASH'),
    key('day', 'RANGE'),
    attribute('recordId', 'S'),
    attribute('day', 'S'),
  ],
};

test.each([
  ['staging', 'Delete', false],
  ['production', 'Retain', true],
] as const)('%s has exactly these tables: a changed id or key loses data', (stage, policy, isProtected) => {
  const found = Object.entries(inventoryTemplate(stage).Resources).filter(([, { Type }]) => Type.includes('Table'));

  expect(
    Object.fromEntries(
      found.map(([id, { Properties }]) => {
        const { KeySchema, AttributeDefinitions } = Properties;
        return [id, [KeySchema, AttributeDefinitions].flat()];
      }),
    ),
  ).toEqual(tables);
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

test('DynamoDB expires records of keys, requests, history and usage only', () => {
  const timeToLive = propertiesIn(inventoryTemplate('production'), 'AWS::DynamoDB::Table').flatMap(
    ({ TimeToLiveSpecification }) => TimeToLiveSpecification ?? [],
  );

  expect(timeToLive).toEqual([
    { AttributeName: 'purgeAt', Enabled: true },
    ...Array.from({ length: 3 }, () => ({ AttributeName: 'ttl', Enabled: true })),
  ]);
});

test.each(stageNames)('The API of %s keeps its logical id, on which its address depends', (stage) => {
  const [[id] = []] = resourcesIn(inventoryTemplate(stage), 'AWS::ApiGateway::RestApi');

  expect(id).toBe('ApiRestApiE35FEAFE');
});
