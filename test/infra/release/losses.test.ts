import path from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { readAssembly } from '../../../infra/local/assembly.ts';
import { lostTables, narrowedFunctions, type Template, templateSchema } from '../../../infra/release/losses.ts';
import { type StageSettings, stages, tableNames } from '../../../infra/stages.ts';
import { operations } from '../../../shared/contract/operations.ts';
import { synthesizeApps } from '../../support/synthesize-once.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

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
  const lost = lostTables(template({ Stock: before }), template(Resources));
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
  expect([...lostTables(template({ Stock: kept }), undefined).keys()]).toEqual(['Stock']);
});

/** Tables that a restore has made, one for each of the stack, and how the settings name those of the stack. */
const restoredTables = Object.fromEntries(tableNames.map((name) => [name, `restored-${name}`]));
const own = Object.fromEntries(tableNames.map((name) => [name, 'own']));

/** Production as it is settled from release to release. */
const releases = {
  usual: {},
  restore: { restoredTables, replacedTables: own },
  afterRestore: { restoredTables },
  wayBack: { replacedTables: restoredTables },
} satisfies Record<string, Partial<StageSettings>>;
type Release = keyof typeof releases;

/** Those of the operations, and authorizer and fallback; or, of those that use tables, authorizer and sync. */
const functionCount = Object.keys(operations).length + 2;

const folder = temporaryFolder();

beforeAll(() => {
  const apps = Object.entries(releases).map(([name, settings]) => [name, [{ ...stages.production, ...settings }]]);
  synthesizeApps(folder, Object.fromEntries(apps));
}, 60_000);

const templateOf = (release: Release): Template =>
  v.parse(templateSchema, readAssembly(path.join(folder, release), 'production').template);

const ofType = ({ Resources }: Template, type: string) =>
  Object.entries(Resources).filter(([, resource]) => resource.Type === type);

const functionSchema = v.object({
  Environment: v.object({ Variables: v.record(v.string(), v.unknown()) }),
  Role: v.object({ 'Fn::GetAtt': v.tuple([v.string(), v.literal('Arn')]) }),
});

/** How a policy names the table that a variable names. */
const arnOf = (table: unknown): string =>
  typeof table === 'string'
    ? `:table/${table}"`
    : JSON.stringify({ 'Fn::GetAtt': [v.parse(v.object({ Ref: v.string() }), table).Ref, 'Arn'] });

/** The tables that the functions of one release use, and those of another do not let their roles have. */
function notGranted(running: Template, deployed: Template): string[] {
  return ofType(running, 'AWS::Lambda::Function').flatMap(([id, { Properties }]) => {
    const { success, output } = v.safeParse(functionSchema, Properties);
    if (!success) return [];
    const policies = ofType(deployed, 'AWS::IAM::Policy').map(([, policy]) => JSON.stringify(policy.Properties));
    const grants = policies.filter((text) => text.includes(`{"Ref":"${output.Role['Fn::GetAtt'][0]}"}`)).join('');
    const tables = Object.entries(output.Environment.Variables).filter(([name]) => name.endsWith('_TABLE'));
    return tables.filter(([, table]) => !grants.includes(arnOf(table))).map(([name]) => `${id} ${name}`);
  });
}

describe('restoring every table of production, and the way back', () => {
  const steps: [from: Release, to: Release, changed: number][] = [
    ['usual', 'restore', functionCount],
    ['restore', 'afterRestore', 0],
    ['afterRestore', 'wayBack', functionCount],
    ['wayBack', 'usual', 0],
  ];

  test.each(steps)('from %s to %s takes nothing that a running version uses', (from, to, changed) => {
    const [before, after] = [templateOf(from), templateOf(to)];
    const versions = new Set(ofType(before, 'AWS::Lambda::Version').map(([id]) => id));

    expect(ofType(after, 'AWS::Lambda::Version').filter(([id]) => !versions.has(id))).toHaveLength(changed);
    expect(notGranted(before, after)).toEqual([]);
    expect(notGranted(after, after)).toEqual([]);
    expect(narrowedFunctions(before, after)).toEqual(new Map());
    expect(lostTables(before, after)).toEqual(new Map());
  });

  test.each<[Release, canaries: number]>([
    ['usual', functionCount],
    ['restore', 0],
    ['afterRestore', functionCount],
    ['wayBack', 0],
  ])('%s lets %i functions change by degrees, under the alarms', (release, canaries) => {
    const aliases = ofType(templateOf(release), 'AWS::Lambda::Alias');

    expect(aliases.filter(([, alias]) => 'UpdatePolicy' in alias)).toHaveLength(canaries);
    expect(ofType(templateOf(release), 'AWS::CodeDeploy::DeploymentGroup')).toHaveLength(functionCount);
  });

  test('without the replaced tables would be refused', () => {
    const [before, after] = [templateOf('usual'), templateOf('afterRestore')];

    expect(notGranted(before, after)).not.toEqual([]);
    expect(narrowedFunctions(before, after).size).toBe(functionCount);
  });
});

/** The authorizer may only read keys; with a new version of it, or as it was. */
function withoutWrites(isChanged: boolean): Map<string, string> {
  const text = JSON.stringify(templateOf('usual')).replaceAll('"dynamodb:UpdateItem"', '"dynamodb:GetItem"');
  const changed = isChanged ? text.replaceAll(/(FunctionsAuthorizerCurrentVersion)\w+/g, '$1Other') : text;
  return narrowedFunctions(templateOf('usual'), v.parse(templateSchema, JSON.parse(changed)));
}

describe('a release that takes a grant away', () => {
  test('is refused where it brings another version of the function, and told what that lacks', () => {
    expect([...withoutWrites(true)]).toEqual([
      [
        expect.stringMatching(/^FunctionsAuthorizer/),
        expect.stringMatching(/^changes, and its version until now would lack dynamodb:UpdateItem on .*TablesKeys/),
      ],
    ]);
  });

  test('may pass where the function stays as it is: nobody uses the grant any more', () => {
    expect(withoutWrites(false)).toEqual(new Map());
  });

  test('is refused where a resource goes that the environment until now names', () => {
    const text = JSON.stringify(templateOf('usual')).replaceAll(/(FunctionsGetPetCurrentVersion)\w+/g, '$1Other');
    const after = v.parse(templateSchema, JSON.parse(text));
    const pets = Object.keys(after.Resources).find((id) => id.startsWith('TablesPets')) ?? '';
    delete after.Resources[pets];

    expect([...narrowedFunctions(templateOf('usual'), after).values()]).toEqual([
      `changes, and its version until now would lack ${pets}`,
    ]);
  });
});
