import path from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { readAssembly } from '../../../infra/local/assembly.ts';
import { lossesOf, type Template, templateSchema } from '../../../infra/release/losses.ts';
import { inRegion, type StageSettings, stages, tableNames } from '../../../infra/stages.ts';
import { operations } from '../../../shared/contract/operations.ts';
import { synthesizeApps } from '../../support/synthesize-once.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** Tables that a restore has made, one for each of the stack, and how the settings name those of the stack. */
const restoredTables = Object.fromEntries(tableNames.map((name) => [name, `restored-${name}`]));
const own = Object.fromEntries(tableNames.map((name) => [name, 'own']));

const certificateArn = 'arn:aws:acm:eu-central-1:111122223333:certificate/6f3a2c1e';
const moving: StageSettings = {
  ...stages.production,
  apiDomain: { name: 'api.example.com', certificateArn },
  regions: { 'eu-west-1': { apiDomain: undefined, restoredTables } },
};

/** Production as it is settled from release to release; and two of them, deployed to go back to them. */
const releases = {
  usual: {},
  restore: { restoredTables, replacedTables: own },
  afterRestore: { restoredTables },
  wayBack: { replacedTables: restoredTables },
  allAtOnce: {},
  backToRestore: { restoredTables, replacedTables: own },
  /** During a move, by region: customers know the old one by both addresses; the new one has copied data, and no domain yet. */
  oldRegion: inRegion(moving, 'eu-central-1'),
  newRegion: inRegion(moving, 'eu-west-1'),
} satisfies Record<string, Partial<StageSettings>>;
type Release = keyof typeof releases;

/** Those of the operations, and authorizer and fallback; or, of those that use tables, authorizer and sync. */
const functionCount = Object.keys(operations).length + 2;

const folder = temporaryFolder();

const back = { rollout: 'allAtOnce' };

beforeAll(() => {
  const apps = Object.entries(releases).map(([name, settings]) => [name, [{ ...stages.production, ...settings }]]);
  synthesizeApps(folder, Object.fromEntries(apps), { contexts: { allAtOnce: back, backToRestore: back } });
}, 60_000);

const templateOf = (release: Release): Template =>
  v.parse(templateSchema, readAssembly(path.join(folder, release), 'production').template);

const ofType = ({ Resources }: Template, type: string) =>
  Object.entries(Resources).filter(([, resource]) => resource.Type === type);

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
    expect(lossesOf(before, after)).toEqual(new Map());
    // CloudFormation takes away what is no longer there when the release is over. It would change a policy at once.
    const policies = ofType(before, 'AWS::IAM::Policy').filter(([id]) => id.startsWith('Functions'));
    for (const [id, policy] of policies) expect([undefined, policy]).toContainEqual(after.Resources[id]);
  });

  test.each<[Release, canaries: number]>([
    ['usual', functionCount],
    ['restore', 0],
    ['afterRestore', functionCount],
    ['wayBack', 0],
    ['allAtOnce', 0],
  ])('%s lets %i functions change by degrees, under the alarms', (release, canaries) => {
    const aliases = ofType(templateOf(release), 'AWS::Lambda::Alias');

    expect(aliases.filter(([, alias]) => 'UpdatePolicy' in alias)).toHaveLength(canaries);
    expect(ofType(templateOf(release), 'AWS::CodeDeploy::DeploymentGroup')).toHaveLength(functionCount);
  });

  test.each<[what: string, from: Release, to: Release, table: RegExp, instead: RegExp]>([
    ['goes back past a restore', 'restore', 'usual', /^restored-stock$/, /TablesStock\w+ takes its place$/],
    [
      'goes back to a restore that was undone',
      'usual',
      'backToRestore',
      /^TablesStock/,
      /restored-stock takes its place$/,
    ],
    [
      'restores without naming what it replaces',
      'usual',
      'afterRestore',
      /^TablesStock/,
      /restored-stock takes its place$/,
    ],
  ])('a release that %s would lose the tables in use', (_, from, to, table, instead) => {
    const losses = [...lossesOf(templateOf(from), templateOf(to))];

    expect(losses).toHaveLength(tableNames.length);
    expect(losses).toContainEqual([expect.stringMatching(table), expect.stringMatching(instead)]);
  });

  test('going back past a release that brought a table would leave the table behind', () => {
    const brought = templateOf('usual');
    Object.assign(brought.Resources, { TablesNotes: { Type: 'AWS::DynamoDB::Table', DeletionPolicy: 'Retain' } });
    Object.assign(brought.Metadata.TablesInUse ?? {}, { notes: 'TablesNotes' });

    expect(lossesOf(brought, templateOf('usual'))).toEqual(
      new Map([['TablesNotes', 'is left behind: its data stay, but the stack no longer has them']]),
    );
  });
});

const proofsOf = (release: Release) => ofType(templateOf(release), 'Custom::Trigger').map(([id]) => id);

const dependencies = v.looseObject({ DependsOn: v.optional(v.array(v.string()), []) });

/** What CloudFormation makes before a resource of the usual release. */
const before = (id: string) => v.parse(dependencies, templateOf('usual').Resources[id]).DependsOn;

describe('the proofs of new versions', () => {
  test('run one after the other, and all before an alias moves', () => {
    const proofs = proofsOf('usual');
    const aliases = ofType(templateOf('usual'), 'AWS::Lambda::Alias').filter(([id]) => id.startsWith('Functions'));

    expect(proofs).toHaveLength(functionCount);
    expect(proofs.map((id) => before(id))).toEqual(proofs.map((_, at) => proofs.slice(Math.max(0, at - 1), at)));
    for (const [id] of aliases) expect(before(id)).toEqual(expect.arrayContaining(proofs));
  });

  // CloudFormation would run one again that it changes back. One that is new it deletes, which invokes nothing.
  test('are new where a version is, and else as they were: no rollback runs one', () => {
    const [usual, restore, afterRestore] = [proofsOf('usual'), proofsOf('restore'), proofsOf('afterRestore')];

    expect(restore.filter((id) => usual.includes(id))).toEqual([expect.stringMatching(/^ProofFallback/)]);
    expect(afterRestore).toEqual(restore);
  });

  test('are not there on the way back', () => {
    expect(proofsOf('allAtOnce')).toEqual([]);
  });
});

const api = v.looseObject({ DisableExecuteApiEndpoint: v.boolean() });

test('A stage in two regions has its own name in one, beside the address of API Gateway, and other tables in the other', () => {
  const [here, there] = [templateOf('oldRegion'), templateOf('newRegion')];
  const [[, restApi] = ['']] = ofType(here, 'AWS::ApiGateway::RestApi');

  expect([here, there].map((one) => ofType(one, 'AWS::ApiGateway::DomainName').length)).toEqual([1, 0]);
  expect(v.parse(api, restApi?.Properties)).toMatchObject({ DisableExecuteApiEndpoint: false });
  expect(there.Metadata.TablesInUse).toEqual(restoredTables);
  expect(lossesOf(templateOf('usual'), here)).toEqual(new Map());
});
