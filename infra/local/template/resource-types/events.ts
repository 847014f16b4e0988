import * as v from 'valibot';
import { account } from '../account.ts';
import { arnOf, named, noEffect, type ResourceType, text, wholeNumber } from './resource-type.ts';

/** EventBridge, and SQS behind it. */
export const eventTypes = {
  'AWS::Events::Rule': {
    properties: v.strictObject({
      Description: noEffect,
      EventPattern: v.optional(v.record(text, v.unknown())),
      ScheduleExpression: v.optional(text),
      State: v.optional(v.picklist(['ENABLED', 'DISABLED']), 'ENABLED'),
      Targets: v.optional(v.array(v.strictObject({ Arn: text, Id: text })), []),
    }),
    ref: named,
    attributes: { Arn: arnOf('events', 'rule/') },
  },
  'AWS::SQS::Queue': {
    properties: v.strictObject({
      KmsDataKeyReusePeriodSeconds: noEffect,
      KmsMasterKeyId: noEffect,
      MessageRetentionPeriod: v.optional(wholeNumber(60, 1_209_600), 345_600),
      RedriveAllowPolicy: noEffect,
      RedrivePolicy: v.optional(v.strictObject({ deadLetterTargetArn: text, maxReceiveCount: wholeNumber(1, 1_000) })),
      SqsManagedSseEnabled: noEffect,
      VisibilityTimeout: v.optional(wholeNumber(0, 43_200), 30),
    }),
    ref: (stack, logicalId) =>
      `https://sqs.${account.region}.${account.urlSuffix}/${account.id}/${named(stack, logicalId)}`,
    attributes: { Arn: arnOf('sqs', ''), QueueName: named },
  },
} as const satisfies Record<string, ResourceType>;
