import * as v from 'valibot';
import { arnOf, named, noEffect, reference, type ResourceType, text, texts } from './resource-type.ts';

/** How a resource of the template says which function it belongs to. */
const namesFunction = v.object({ FunctionName: v.object({ Ref: text }), Name: text });

const functionArn = arnOf('lambda', 'function:');

/** Lambda. */
export const lambdaTypes = {
  'AWS::Lambda::Alias': {
    properties: v.strictObject({ FunctionName: text, FunctionVersion: text, Name: text }),
    ref: (stack, _logicalId, properties) => {
      const { FunctionName, Name } = v.parse(namesFunction, properties);
      return `${functionArn(stack, FunctionName.Ref)}:${Name}`;
    },
  },
  'AWS::Lambda::EventSourceMapping': {
    properties: v.strictObject({
      EventSourceArn: text,
      FunctionName: text,
      BatchSize: noEffect,
      MaximumBatchingWindowInSeconds: v.optional(v.number(), 0),
      // One at a time.
      ScalingConfig: noEffect,
      Enabled: v.optional(v.literal(true), true),
    }),
  },
  'AWS::Lambda::Function': {
    properties: v.strictObject({
      Code: v.strictObject({ S3Bucket: text, S3Key: text }),
      Handler: text,
      Runtime: v.literal('nodejs24.x'),
      Architectures: noEffect,
      Description: noEffect,
      Environment: v.optional(v.strictObject({ Variables: texts }), { Variables: {} }),
      LoggingConfig: v.strictObject({ LogGroup: reference }),
      MemorySize: v.number(),
      // It protects the other functions of an account, which a laptop does not have.
      ReservedConcurrentExecutions: noEffect,
      Role: noEffect,
      Timeout: v.number(),
      TracingConfig: noEffect,
    }),
    ref: named,
    attributes: { Arn: functionArn },
  },
  'AWS::Lambda::Version': {
    properties: v.strictObject({ FunctionName: text }),
    // There is one version at a time: what was synthesized.
    attributes: { Version: () => '1' },
  },
} as const satisfies Record<string, ResourceType>;
