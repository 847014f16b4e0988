import path from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { readAssembly } from '../../../infra/local/assembly.ts';
import { type StageSettings, stages } from '../../../infra/stages.ts';
import { operations } from '../../../shared/contract/operations.ts';
import { type EditableTemplate, templateSchema } from '../../support/service-template.ts';
import { synthesizeApps } from '../../support/synthesize-once.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** Production; with functions that have changed, as all do whose pages have moved; and to go back to it. */
const releases = {
  usual: {},
  changed: {
    pageDomain: { name: 'docs.example.com', certificateArn: 'arn:aws:acm:us-east-1:111122223333:certificate/6f' },
  },
  allAtOnce: {},
} satisfies Record<string, Partial<StageSettings>>;
type Release = keyof typeof releases;

/** Those of the operations, and authorizer and fallback. */
const functionCount = Object.keys(operations).length + 2;

const folder = temporaryFolder();

beforeAll(() => {
  const apps = Object.entries(releases).map(([name, settings]) => [name, [{ ...stages.production, ...settings }]]);
  synthesizeApps(folder, Object.fromEntries(apps), { contexts: { allAtOnce: { rollout: 'allAtOnce' } } });
}, 60_000);

const templateOf = (release: Release): EditableTemplate =>
  v.parse(templateSchema, readAssembly(path.join(folder, release), 'production').template);

const ofType = ({ Resources }: EditableTemplate, type: string) =>
  Object.entries(Resources).filter(([, resource]) => resource.Type === type);

test('A release with new versions takes nothing that a running version uses', () => {
  const [before, after] = [templateOf('usual'), templateOf('changed')];
  const versions = new Set(ofType(before, 'AWS::Lambda::Version').map(([id]) => id));

  expect(ofType(after, 'AWS::Lambda::Version').filter(([id]) => !versions.has(id))).toHaveLength(functionCount);
  // CloudFormation takes away what is no longer there when the release is over. It would change a policy at once.
  const policies = ofType(before, 'AWS::IAM::Policy').filter(([id]) => id.startsWith('Functions'));
  for (const [id, policy] of policies) expect([undefined, policy]).toContainEqual(after.Resources[id]);
});

test.each<[Release, canaries: number]>([
  ['usual', functionCount],
  ['allAtOnce', 0],
])('%s lets %i functions change by degrees, under the alarms', (release, canaries) => {
  const aliases = ofType(templateOf(release), 'AWS::Lambda::Alias');

  expect(aliases.filter(([, alias]) => 'UpdatePolicy' in alias)).toHaveLength(canaries);
  expect(ofType(templateOf(release), 'AWS::CodeDeploy::DeploymentGroup')).toHaveLength(functionCount);
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
  test('are new where a version is: no rollback runs one', () => {
    expect(proofsOf('changed').filter((id) => proofsOf('usual').includes(id))).toEqual([]);
  });

  test('are not there on the way back', () => {
    expect(proofsOf('allAtOnce')).toEqual([]);
  });
});
