import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { lostTables, type Template, templateSchema } from '../../../infra/release/lost-tables.ts';
import type { StageName } from '../../../infra/stages.ts';
import { inventoryTemplate, tableId } from '../../support/service-template.ts';

type Table = Template['Resources'][string];
type Change = (table: Table, template: Template, id: string) => void;

/** What becomes of the stock table of a stage, by a change to it; undefined where it stays. */
function fateOfStock(stage: StageName, change: Change): string | undefined {
  const [before, after] = [inventoryTemplate(stage), inventoryTemplate(stage)].map((template) =>
    v.parse(templateSchema, template),
  );
  const id = tableId(inventoryTemplate(stage), 'Stock');
  const table = after?.Resources[id];
  if (!before || !after || !table) throw new Error(`There is no ${id}`);
  change(table, after, id);
  const lost = lostTables(before, after);
  expect([...lost.keys()]).toEqual(lost.size === 0 ? [] : [id]);
  return lost.get(id);
}

const set =
  (property: string, value: unknown): Change =>
  ({ Properties }) =>
    void (Properties[property] = value);
const remove: Change = (_, { Resources }, id) => void delete Resources[id];
const rename: Change = (table, { Resources }, id) => {
  Resources['TablesStocks00000000'] = table;
  delete Resources[id];
};
const retype: Change = ({ Properties }) => {
  for (const definition of Properties.AttributeDefinitions) {
    if (definition.AttributeName === 'petId') definition.AttributeType = 'S';
  }
};

const REPLACED = 'is replaced by an empty one';
const LEFT = 'is left behind: its data stay, but the stack no longer has them';

describe('a table is lost', () => {
  test.each<[what: string, stage: StageName, change: Change, fate: string]>([
    ['its key changes', 'production', set('KeySchema', [{ AttributeName: 'storeId', KeyType: 'HASH' }]), REPLACED],
    ['the type of its key changes', 'production', retype, REPLACED],
    ['it gets a name', 'production', set('TableName', 'stock'), REPLACED],
    ['it gets a local index', 'production', set('LocalSecondaryIndexes', [{ IndexName: 'x' }]), REPLACED],
    ['it becomes a global table', 'production', (table) => void (table.Type = 'AWS::DynamoDB::GlobalTable'), REPLACED],
    ['it gets another logical id', 'staging', rename, 'is deleted'],
    ['it is taken out', 'staging', remove, 'is deleted'],
    ['it is taken out and its data are kept', 'production', remove, LEFT],
    [
      'it is there on a condition only',
      'production',
      (table) => void (table.Condition = 'Sometimes'),
      'is deleted where its condition does not hold',
    ],
  ])('because %s (%s)', (_, stage, change, fate) => {
    expect(fateOfStock(stage, change)).toBe(fate);
  });

  test('because the app no longer has its stack', () => {
    const before = v.parse(templateSchema, inventoryTemplate('production'));

    expect([...lostTables(before, undefined).keys()]).toContain(tableId(inventoryTemplate('production'), 'Stock'));
  });
});

test.each<[what: string, change: Change]>([
  ['is as it was', () => undefined],
  ['loses its indexes', set('GlobalSecondaryIndexes', [])],
  [
    'gets an attribute for an index',
    ({ Properties: { AttributeDefinitions } }) =>
      void AttributeDefinitions.push({ AttributeName: 'name', AttributeType: 'S' }),
  ],
  ['is billed otherwise', set('BillingMode', 'PROVISIONED')],
  ['loses its protection, which cdk diff shows', set('DeletionProtectionEnabled', false)],
])('a table stays that %s', (_, change) => {
  expect(fateOfStock('production', change)).toBeUndefined();
});
