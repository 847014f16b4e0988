import * as v from 'valibot';
import { account } from '../account.ts';
import { arnOf, named, noEffect, type ResourceType, text } from './resource-type.ts';

/** EventBridge, and SQS behind it, as far as the sync of keys takes them. */
export const eventTypes = {
  'AWS::Events::Rule': {
    properties: v.strictObject({
      Description: noEffect,
      EventPattern: v.optional(v.looseObject({ source: v.tuple([v.literal('aws.apigateway')]) })),
      ScheduleExpression: v.optional(text),
      State: v.optional(v.literal('ENABLED'), 'ENABLED'),
      Targets: v.array(v.strictObject({ Arn: text, Id: text })),
    }),
    ref: named,
    attributes: { Arn: arnOf('events', 'rule/') },
  },
  'AWS::SQS::Queue': {
    properties: v.strictObject({
      KmsDataKeyReusePeriodSeconds: noEffect,
      KmsMasterKeyId: noEffect,
      MessageRetentionPeriod: noEffect,
      RedriveAllowPolicy: noEffect,
      RedrivePolicy: v.optional(v.object({ deadLetterTargetArn: text })),
      SqsManagedSseEnabled: noEffect,
      VisibilityTimeout: noEffect,
    }),
    ref: (stack, logicalId) =>
      `https://sqs.${account.region}.${account.urlSuffix}/${account.id}/${named(stack, logicalId)}`,
    attributes: { Arn: arnOf('sqs', ''), QueueName: named },
  },
} as const satisfies Record<string, ResourceType>;
