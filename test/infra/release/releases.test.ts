import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { operations } from '../../../shared/contract/operations.ts';
import { propertiesIn, resourcesIn, templateIn } from '../../support/service-template.ts';
import { synthesizedOnce } from '../../support/synthesize-once.ts';

const templateOf = (variant?: 'everything' | 'allAtOnce') => templateIn(synthesizedOnce(variant), 'production');

/** Production; with functions that have changed, as all do whose pages have moved; and to go back to it. */
const releases = { usual: templateOf(), changed: templateOf('everything'), allAtOnce: templateOf('allAtOnce') };
type Release = keyof typeof releases;

/** Those of the operations, and authorizer and fallback. */
const functionCount = Object.keys(operations).length + 2;

test('A release with new versions keeps the policies that running versions use', () => {
  const { usual, changed } = releases;
  const versions = new Set(resourcesIn(usual, 'AWS::Lambda::Version').map(([id]) => id));

  expect(resourcesIn(changed, 'AWS::Lambda::Version').filter(([id]) => !versions.has(id))).toHaveLength(functionCount);
  // CloudFormation takes away what is no longer there when the release is over. It would change a policy at once: so
  // one with other grants has another id.
  const policies = resourcesIn(usual, 'AWS::IAM::Policy', 'Functions');
  expect(policies).toHaveLength(functionCount);
  for (const [id] of policies) expect(id).toMatch(/[0-9a-f]{32}$/);
});

test.each<[Release, canaries: number]>([
  ['usual', functionCount],
  ['allAtOnce', 0],
])('In the release %s, %i functions are canaries, monitored by alarms', (release, canaries) => {
  const aliases = resourcesIn(releases[release], 'AWS::Lambda::Alias');
  const groups = propertiesIn(releases[release], 'AWS::CodeDeploy::DeploymentGroup');
  const alarms = ['SlowAnswers', 'FunctionErrors'].map((name) => `MonitoringAlarms${name}`);

  expect(aliases.filter(([, alias]) => 'UpdatePolicy' in alias)).toHaveLength(canaries);
  expect(groups).toHaveLength(functionCount);
  for (const group of groups)
    expect(group).toMatchObject({
      DeploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent10Minutes',
      AutoRollbackConfiguration: {
        Enabled: true,
        Events: ['FAILURE', 'STOP_ON_REQUEST', 'STOP_ON_ALARM'].map((event) => `DEPLOYMENT_${event}`),
      },
      AlarmConfiguration: {
        Alarms: [...alarms, 'RolloutFewErrors'].map((name) => ({ Name: { Ref: expect.stringMatching(`^${name}`) } })),
      },
    });
});

const checksOf = (release: Release) => resourcesIn(releases[release], 'Custom::Trigger').map(([id]) => id);

const dependencies = v.looseObject({ DependsOn: v.optional(v.array(v.string()), []) });

/** What CloudFormation makes before a resource. */
const before = (id: string, release: Release = 'usual') =>
  v.parse(dependencies, releases[release].Resources[id]).DependsOn;

// Lambda allows 15 such calls per second. The aliases of a canary move at once, each for ten minutes.
test.each<[kind: string, Release, inSequence: boolean]>([
  ['Function', 'usual', true],
  ['Function', 'allAtOnce', true],
  ['Alias', 'usual', false],
  ['Alias', 'allAtOnce', true],
])('Each %s changes after the one before it in the release %s: %s', (kind, release, inSequence) => {
  const all = resourcesIn(releases[release], `AWS::Lambda::${kind}`).map(([id]) => id);
  const ids = all.filter((id) => /^(?:Functions|StockEvents)/.test(id));

  expect(ids).toHaveLength(functionCount + 1);
  const previous = ids.map((id) => before(id, release).filter((one) => ids.includes(one)));
  expect(previous).toEqual(ids.map((_, at) => (inSequence ? ids.slice(Math.max(0, at - 1), at) : [])));
});

describe('The checks of new versions', () => {
  test('run one after the other, before any alias moves', () => {
    const checks = checksOf('usual');

    // That of the publisher of events too, which takes no requests.
    expect(checks).toHaveLength(functionCount + 1);
    expect(checks.map((id) => before(id))).toEqual(checks.map((_, at) => checks.slice(Math.max(0, at - 1), at)));
    const aliases = resourcesIn(releases.usual, 'AWS::Lambda::Alias', 'Functions').map(([id]) => id);
    for (const id of aliases) expect(before(id)).toEqual(expect.arrayContaining(checks));
    // And the API comes last: where a function is rolled back, it stays as it was.
    for (const [id] of resourcesIn(releases.usual, 'AWS::ApiGateway::Deployment'))
      expect(before(id)).toEqual(expect.arrayContaining(aliases));
  });

  // CloudFormation would run one again that it changes back. One that is new it deletes, which invokes nothing.
  test('are new if their version is new, so that no rollback runs one', () => {
    // The publisher has no page that could move, so that its version stays.
    const same = checksOf('changed').filter((id) => checksOf('usual').includes(id));
    expect(same).toEqual([expect.stringMatching(/^VersionCheckFunction[0-9A-F]{8}/)]);
  });

  test('do not exist in a rollback, which keeps their log', () => {
    const [logs] = resourcesIn(releases.usual, 'AWS::Logs::LogGroup', 'VersionCheck');

    expect(checksOf('allAtOnce')).toEqual([]);
    expect(resourcesIn(releases.allAtOnce, 'AWS::Logs::LogGroup', 'VersionCheck')).toEqual([logs]);
    expect(logs).toBeDefined();
  });
});
