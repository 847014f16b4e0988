import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import {
  rawResourcesOf,
  ref,
  resourcesOf,
  synthesizedStages,
  type SynthesizedStage,
  withoutHash,
} from '../../support/synthesized.ts';

const { staging, production } = synthesizedStages();

const API_FUNCTIONS = ['Authorizer', 'Fallback', 'GetPet', 'ListInventory', 'ListOrders', 'UpdateInventory'];

const groupSchema = v.looseObject({
  ApplicationName: ref,
  AlarmConfiguration: v.strictObject({
    Enabled: v.boolean(),
    Alarms: v.array(v.strictObject({ Name: ref })),
  }),
  AutoRollbackConfiguration: v.strictObject({ Enabled: v.boolean(), Events: v.array(v.string()) }),
  DeploymentConfigName: v.string(),
});

const aliasSchema = v.looseObject({
  Properties: v.strictObject({
    FunctionName: ref,
    FunctionVersion: v.strictObject({ 'Fn::GetAtt': v.tuple([v.string(), v.literal('Version')]) }),
    Name: v.literal('live'),
  }),
  UpdatePolicy: v.optional(
    v.strictObject({ CodeDeployLambdaAliasUpdate: v.strictObject({ ApplicationName: ref, DeploymentGroupName: ref }) }),
  ),
});

const aliasesOf = (stage: SynthesizedStage) =>
  rawResourcesOf(stage, 'AWS::Lambda::Alias').map(([id, alias]) => {
    const { Properties, UpdatePolicy } = v.parse(aliasSchema, alias);
    return { id, Properties, UpdatePolicy };
  });

const groups = resourcesOf(production, 'AWS::CodeDeploy::DeploymentGroup', groupSchema);
const groupOf = new Map(groups.map(({ id, properties }) => [id, properties]));

const dependenciesOf = (stage: SynthesizedStage, type: string): string[] =>
  rawResourcesOf(stage, type).flatMap(
    ([, resource]) => v.parse(v.looseObject({ DependsOn: v.array(v.string()) }), resource).DependsOn,
  );

describe.each([
  ['staging', staging],
  ['production', production],
])('a release to %s', (_, stage) => {
  test('moves the alias of every function to the version of this very code', () => {
    const aliases = aliasesOf(stage);
    const versions = rawResourcesOf(stage, 'AWS::Lambda::Version').map(([id]) => id);
    const functions = rawResourcesOf(stage, 'AWS::Lambda::Function').map(([id]) => id);

    expect(aliases.map(({ Properties }) => Properties.FunctionName).toSorted()).toEqual(functions.toSorted());
    expect(aliases.map(({ Properties }) => Properties.FunctionVersion['Fn::GetAtt'][0]).toSorted()).toEqual(
      versions.toSorted(),
    );
  });

  test('keeps the versions before, which a rollback goes back to, but not one that was taken back', () => {
    for (const [, version] of rawResourcesOf(stage, 'AWS::Lambda::Version')) {
      expect(version).toMatchObject({ DeletionPolicy: 'RetainExceptOnCreate', UpdateReplacePolicy: 'Retain' });
    }
  });

  test('changes the API only after its functions: where they are taken back, it stays as it was', () => {
    const ofRequests = aliasesOf(stage).filter(({ id }) => id.startsWith('Functions'));

    expect(ofRequests).toHaveLength(API_FUNCTIONS.length);
    expect(dependenciesOf(stage, 'AWS::ApiGateway::Deployment')).toEqual(
      expect.arrayContaining(ofRequests.map(({ id }) => id)),
    );
  });
});

test('A release to staging is one at once', () => {
  expect(groupsOf(staging)).toEqual([]);
  expect(aliasesOf(staging).flatMap(({ UpdatePolicy }) => UpdatePolicy ?? [])).toEqual([]);
});

describe('a release to production', () => {
  const released = aliasesOf(production).filter(({ UpdatePolicy }) => UpdatePolicy !== undefined);

  test('goes through CodeDeploy for every function of the API, each in a group of its own', () => {
    const names = released.map(({ Properties }) => withoutHash(Properties.FunctionName).replace('Functions', ''));
    const usedGroups = released.map(
      ({ UpdatePolicy }) => UpdatePolicy?.CodeDeployLambdaAliasUpdate.DeploymentGroupName ?? '',
    );

    expect(names.toSorted()).toEqual(API_FUNCTIONS);
    expect(usedGroups.toSorted()).toEqual([...groupOf.keys()].toSorted());
    for (const { UpdatePolicy } of released) {
      const { ApplicationName, DeploymentGroupName } = UpdatePolicy?.CodeDeployLambdaAliasUpdate ?? {};
      expect(groupOf.get(DeploymentGroupName ?? '')?.ApplicationName).toBe(ApplicationName);
    }
  });

  test.each(groups)('gives a tenth of the requests to the new version for ten minutes: $id', ({ properties }) => {
    expect(properties.DeploymentConfigName).toBe('CodeDeployDefault.LambdaCanary10Percent10Minutes');
  });

  test.each(groups)('is taken back by an alarm, a failure, or by hand: $id', ({ properties }) => {
    expect(properties.AutoRollbackConfiguration).toEqual({
      Enabled: true,
      Events: ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_REQUEST', 'DEPLOYMENT_STOP_ON_ALARM'],
    });
    expect(properties.AlarmConfiguration.Enabled).toBe(true);
  });

  test.each(groups)(
    'is monitored by alarms on 5xx, latency, the authorizer and the functions: $id',
    ({ properties }) => {
      const alarms = properties.AlarmConfiguration.Alarms.map(({ Name }) => withoutHash(Name));

      expect(alarms.toSorted()).toEqual([
        'MonitoringAlarmsApiErrors',
        'MonitoringAlarmsAuthorizerErrors',
        'MonitoringAlarmsFunctionErrors',
        'MonitoringAlarmsSlowAnswers',
      ]);
    },
  );

  test('leaves the sync of keys out, which nobody waits for: its alarms see a bad one', () => {
    const sync = aliasesOf(production).find(({ id }) => id.startsWith('KeySync'));

    expect(sync).toBeDefined();
    expect(sync?.UpdatePolicy).toBeUndefined();
  });
});

function groupsOf(stage: SynthesizedStage): unknown[] {
  return rawResourcesOf(stage, 'AWS::CodeDeploy::DeploymentGroup');
}
