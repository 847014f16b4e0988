import * as v from 'valibot';
import { account, arn } from '../account.ts';
import { arnOf, named, type ResourceType, withoutEffect } from './resource-type.ts';

/** What is around the service on AWS: permissions, logs, alarms, releases, the firewall, names. */
export const surroundingTypes = {
  'AWS::CloudWatch::Alarm': {
    properties: withoutEffect(
      'ActionsEnabled',
      'AlarmActions',
      'AlarmDescription',
      'AlarmName',
      'ComparisonOperator',
      'DatapointsToAlarm',
      'Dimensions',
      'EvaluateLowSampleCountPercentile',
      'EvaluationPeriods',
      'ExtendedStatistic',
      'MetricName',
      'Metrics',
      'Namespace',
      'OKActions',
      'Period',
      'Statistic',
      'Threshold',
      'TreatMissingData',
      'Unit',
    ),
    ref: (stack, logicalId, properties) =>
      v.parse(v.object({ AlarmName: v.optional(v.string()) }), properties).AlarmName ?? named(stack, logicalId),
    attributes: { Arn: arnOf('cloudwatch', 'alarm:') },
  },
  'AWS::CloudWatch::Dashboard': { properties: withoutEffect('DashboardBody', 'DashboardName') },
  'AWS::CodeDeploy::Application': { properties: withoutEffect('ApplicationName', 'ComputePlatform') },
  'AWS::CodeDeploy::DeploymentGroup': {
    properties: withoutEffect(
      'AlarmConfiguration',
      'ApplicationName',
      'AutoRollbackConfiguration',
      'DeploymentConfigName',
      'DeploymentStyle',
      'ServiceRoleArn',
    ),
  },
  'AWS::IAM::Policy': {
    properties: withoutEffect('PolicyName', 'PolicyDocument', 'Roles'),
  },
  'AWS::IAM::Role': {
    properties: withoutEffect('AssumeRolePolicyDocument', 'ManagedPolicyArns'),
    attributes: {
      Arn: (stack, logicalId) => `arn:${account.partition}:iam::${account.id}:role/${named(stack, logicalId)}`,
    },
  },
  'AWS::KMS::Key': {
    properties: withoutEffect('Description', 'EnableKeyRotation', 'KeyPolicy'),
    attributes: { Arn: arnOf('kms', 'key/') },
  },
  'AWS::Logs::LogGroup': {
    properties: withoutEffect('LogGroupName', 'RetentionInDays'),
    ref: named,
    attributes: { Arn: arnOf('logs', 'log-group:') },
  },
  'AWS::Logs::QueryDefinition': { properties: withoutEffect('LogGroupNames', 'Name', 'QueryString') },
  'AWS::Route53::RecordSet': { properties: withoutEffect('AliasTarget', 'HostedZoneId', 'Name', 'Type') },
  'AWS::SNS::Subscription': { properties: withoutEffect('Endpoint', 'Protocol', 'TopicArn') },
  'AWS::SNS::Topic': {
    properties: withoutEffect('DisplayName', 'KmsMasterKeyId'),
    ref: (stack, logicalId) => arn('sns', named(stack, logicalId)),
    attributes: { TopicName: named },
  },
  'AWS::SNS::TopicPolicy': { properties: withoutEffect('PolicyDocument', 'Topics') },
  'AWS::WAFv2::LoggingConfiguration': {
    properties: withoutEffect('LogDestinationConfigs', 'LoggingFilter', 'RedactedFields', 'ResourceArn'),
  },
  'AWS::WAFv2::WebACL': {
    properties: withoutEffect('DefaultAction', 'Rules', 'Scope', 'VisibilityConfig'),
    attributes: { Arn: arnOf('wafv2', 'regional/webacl/') },
  },
  'AWS::WAFv2::WebACLAssociation': { properties: withoutEffect('ResourceArn', 'WebACLArn') },
} as const satisfies Record<string, ResourceType>;
