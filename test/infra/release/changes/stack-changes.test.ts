import { describe, expect, test } from '@jest/globals';
import { compareStack } from '../../../../infra/release/changes/stack-changes.ts';
import type { Resource, Template } from '../../../../infra/release/changes/template.ts';
import { asTemplate } from '../../../../infra/release/changes/template.ts';
import type { StageName } from '../../../../infra/stages.ts';
import { inventoryTemplate, tableId } from '../../../support/changed-assembly.ts';

type Change = (template: Template, table: Resource, id: string) => void;

/** Compares a stage as it is synthesized with what becomes of it by a change to a table and its surroundings. */
function compare(stage: StageName, name: string, change: Change, changeBefore: Change = () => undefined) {
  const [before, after] = [templateOf(stage), templateOf(stage)];
  const id = tableId(before, name);
  changeBefore(before, resource(before, id), id);
  change(after, resource(after, id), id);
  const { tables, ...rest } = compareStack({ id: `${stage}/Inventory`, name: `${stage}-Inventory` }, before, after);
  for (const { table } of tables) expect(table).toBe(`${stage}/Inventory/${id}`);
  return { ...rest, found: tables.map(({ kind, what }) => `${kind}: ${what}`) };
}

function templateOf(stage: StageName): Template {
  const template = asTemplate(inventoryTemplate(stage));
  if (!template) throw new Error('The template is none');
  return template;
}

function resource({ Resources }: Template, id: string): Resource {
  const found = Resources[id];
  if (!found) throw new Error(`There is no ${id}`);
  return found;
}

const set =
  (property: string, value: unknown): Change =>
  (_, { Properties }) =>
    void (Properties[property] = value);
const remove: Change = ({ Resources }, _, id) => void delete Resources[id];
const text = JSON.stringify;

const otherKey = set('KeySchema', [{ AttributeName: 'storeId', KeyType: 'HASH' }]);
const retyped: Change = (_, { Properties }) => {
  Properties['AttributeDefinitions'] = JSON.parse(
    text(Properties['AttributeDefinitions']).replace(
      '"AttributeName":"petId","AttributeType":"N"',
      '"AttributeName":"petId","AttributeType":"S"',
    ),
  );
};
const renamed: Change = ({ Resources }, table, id) => {
  Resources['TablesStocks00000000'] = table;
  delete Resources[id];
};

const emptied = (reason: string, fate: string) =>
  `loss: is replaced by an empty one, for its ${reason}; the old one ${fate}`;

const letGo: Change = (_, table) => void (table.DeletionPolicy = 'Delete');

describe('a table that is lost', () => {
  const kept = 'is left behind with its data';
  const deleted = 'is deleted with all its data';

  test.each<[what: string, stage: StageName, change: Change, found: string]>([
    ['its key changes', 'production', otherKey, emptied('KeySchema', kept)],
    ['its key changes on staging', 'staging', otherKey, emptied('KeySchema', deleted)],
    ['the type of its key changes', 'production', retyped, emptied('AttributeDefinitions', kept)],
    ['it gets a name', 'production', set('TableName', 'stock'), emptied('TableName', kept)],
    [
      'it gets a local index, which a table is made with',
      'production',
      set('LocalSecondaryIndexes', [{ IndexName: 'x' }]),
      emptied('LocalSecondaryIndexes', kept),
    ],
    [
      'it becomes a global table',
      'production',
      (_, table) => void (table.Type = 'AWS::DynamoDB::GlobalTable'),
      emptied('Type', kept),
    ],
    ['it gets another logical id', 'staging', renamed, 'loss: is deleted with all its data'],
    ['it is taken out', 'staging', remove, 'loss: is deleted with all its data'],
    [
      'it is taken out of production',
      'production',
      remove,
      'loss: is left behind with its data: the stack no longer has it',
    ],
    [
      'it is there on a condition only',
      'production',
      (_, table) => void (table.Condition = 'Sometimes'),
      'loss: is deleted where the condition Sometimes does not hold',
    ],
  ])('because %s (%s)', (_, stage, change, found) => {
    expect(compare(stage, 'Stock', change).found).toEqual([found]);
  });

  test('is one whose deletion protection will stop the deploy, where its policy lets it go', () => {
    expect(compare('production', 'Stock', remove, letGo).found).toEqual([
      'loss: is to be deleted with all its data: its deletion protection makes the deploy fail',
    ]);
  });

  test('is one of a stack that the app no longer has', () => {
    const stack = { id: 'production/Inventory', name: 'production-Inventory' };
    const { summary, tables } = compareStack(stack, templateOf('production'), undefined);

    expect(summary).toBe('no longer in the app; it stays as it is');
    expect(tables).toHaveLength(6);
    for (const { kind, what } of tables) {
      expect([kind, what]).toEqual(['loss', 'is left behind with its data: the app no longer has its stack']);
    }
  });
});

describe('a table that stays', () => {
  test.each<[what: string, name: string, change: Change, found: string[]]>([
    [
      'loses what keeps its data',
      'Keys',
      (_, table) => {
        table.DeletionPolicy = 'Delete';
        delete table.UpdateReplacePolicy;
        table.Properties['DeletionProtectionEnabled'] = false;
        table.Properties['PointInTimeRecoverySpecification'] = { PointInTimeRecoveryEnabled: false };
      },
      [
        'warning: loses its DeletionPolicy: without it, the data goes with the table',
        'warning: loses its UpdateReplacePolicy: without it, the data goes with the table',
        'warning: loses its deletion protection',
        'warning: loses its backups: point-in-time recovery is turned off',
      ],
    ],
    [
      'begins to forget items',
      'Stock',
      set('TimeToLiveSpecification', { Enabled: true, AttributeName: 'expiresAt' }),
      ['warning: forgets items from now on: those with a time in expiresAt that is over'],
    ],
    [
      'loses an index',
      'Stock',
      set('GlobalSecondaryIndexes', []),
      ['note: loses its index byStatus, which loses no data'],
    ],
    [
      'gets another index of the same name',
      'Stock',
      (_, { Properties }) => {
        Properties['GlobalSecondaryIndexes'] = JSON.parse(
          text(Properties['GlobalSecondaryIndexes']).replace('KEYS_ONLY', 'ALL'),
        );
      },
      ['note: has its index byStatus built anew, which loses no data'],
    ],
    [
      'gets a further index, with an attribute of its own',
      'Pets',
      (_, { Properties }) => {
        Properties['AttributeDefinitions'] = [
          { AttributeName: 'petId', AttributeType: 'N' },
          { AttributeName: 'name', AttributeType: 'S' },
        ];
        Properties['GlobalSecondaryIndexes'] = [
          { IndexName: 'byName', KeySchema: [{ AttributeName: 'name', KeyType: 'HASH' }] },
        ];
      },
      [],
    ],
    ['is billed otherwise', 'Pets', set('BillingMode', 'PROVISIONED'), []],
    ['is as it was', 'Pets', () => undefined, []],
  ])('and %s', (_, name, change, found) => {
    expect(compare('production', name, change).found).toEqual(found);
  });
});

const named: Change = ({ Resources }, _, id) => {
  Resources['Follower'] = {
    Type: 'AWS::S3::Bucket',
    Properties: { BucketName: { Ref: id } },
  };
};

describe('the changes of a stack', () => {
  test('are none between equal templates', () => {
    expect(compare('production', 'Stock', () => undefined)).toEqual({
      id: 'production/Inventory',
      summary: undefined,
      details: '',
      found: [],
    });
  });

  test('are counted, and shown as cdk diff shows them, without colours', () => {
    const { summary, details } = compare('production', 'Stock', otherKey);

    expect(summary).toBe('1 replaced');
    expect(details).toMatch(/^Resources\n\[~\] AWS::DynamoDB::Table TablesStock[0-9A-F]{8} replace\n/);
    expect(details).toContain('KeySchema (requires replacement)');
  });

  test('are those of what refers to a table that is replaced, too', () => {
    const both: Change = (template, table, id) => {
      named(template, table, id);
      otherKey(template, table, id);
    };

    expect(compare('production', 'Stock', both, named).summary).toBe('2 replaced');
  });

  test('of one that is not deployed yet are all that it has', () => {
    const after = templateOf('staging');
    const count = Object.keys(after.Resources).length;

    expect(compareStack({ id: 'staging/Inventory', name: 'staging-Inventory' }, undefined, after)).toEqual({
      id: 'staging/Inventory',
      summary: `new, with ${count} resources`,
      details: '',
      tables: [],
    });
  });
});
