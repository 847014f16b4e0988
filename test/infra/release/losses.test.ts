import { expect, test } from '@jest/globals';
import * as v from 'valibot';
import { lossesOf, templateSchema } from '../../../infra/release/losses.ts';

const stock = {
  Type: 'AWS::DynamoDB::Table',
  DeletionPolicy: 'Delete',
  UpdateReplacePolicy: 'Delete',
  Properties: {
    AttributeDefinitions: [
      { AttributeName: 'storeId', AttributeType: 'S' },
      { AttributeName: 'petId', AttributeType: 'N' },
    ],
    KeySchema: [
      { AttributeName: 'storeId', KeyType: 'HASH' },
      { AttributeName: 'petId', KeyType: 'RANGE' },
    ],
    BillingMode: 'PAY_PER_REQUEST',
    DeletionProtectionEnabled: true,
  },
};
const kept = { ...stock, DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' };

const template = (Resources: object) => v.parse(templateSchema, { Resources });

/** What becomes of a table whose stack has these resources afterwards; undefined where it stays. */
function fateOf(before: object, Resources: object): string | undefined {
  const lost = lossesOf(template({ Stock: before }), template(Resources));
  expect([...lost.keys()]).toEqual(lost.size === 0 ? [] : ['Stock']);
  return lost.get('Stock');
}

const withProperties = (Properties: object) => ({
  Stock: { ...kept, Properties: { ...kept.Properties, ...Properties } },
});
const attributes = (petId: string, ...more: object[]) => ({
  AttributeDefinitions: [
    stock.Properties.AttributeDefinitions[0],
    { AttributeName: 'petId', AttributeType: petId },
    ...more,
  ],
});

const REPLACED = 'is replaced by an empty one';
const LEFT = 'is left behind: its data stay, but the stack no longer has them';

test.each<[what: string, before: object, after: object, fate: string | undefined]>([
  ['its key changes', kept, withProperties({ KeySchema: [{ AttributeName: 'storeId', KeyType: 'HASH' }] }), REPLACED],
  ['the type of its key changes', kept, withProperties(attributes('S')), REPLACED],
  ['it gets a local index', kept, withProperties({ LocalSecondaryIndexes: [{ IndexName: 'x' }] }), REPLACED],
  ['it becomes a global table', kept, { Stock: { ...kept, Type: 'AWS::DynamoDB::GlobalTable' } }, REPLACED],
  ['it gets another logical id', stock, { Stocks: stock }, 'is deleted'],
  ['it is taken out and its data are kept', kept, {}, LEFT],
  ['it gets a condition', kept, { Stock: { ...kept, Condition: 'C' } }, 'is deleted where its condition does not hold'],
  ['it is as it was', kept, { Stock: kept }, undefined],
  [
    'it gets an attribute for an index',
    kept,
    withProperties(attributes('N', { AttributeName: 'name', AttributeType: 'S' })),
    undefined,
  ],
  ['it is billed otherwise', kept, withProperties({ BillingMode: 'PROVISIONED' }), undefined],
])('A table where %s', (_, before, after, fate) => {
  expect(fateOf(before, after)).toBe(fate);
});

test('The tables of a stack that the app no longer has are lost', () => {
  expect([...lossesOf(template({ Stock: kept }), undefined).keys()]).toEqual(['Stock']);
});
