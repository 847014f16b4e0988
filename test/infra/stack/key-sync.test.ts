import * as apiGateway from '@aws-sdk/client-api-gateway';
import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import {
  attribute,
  ref,
  resourcesOf,
  type SynthesizedStage,
  synthesizedStages,
  withoutHash,
} from '../../support/synthesized.ts';

const synthesized = synthesizedStages();
const stages = ['staging', 'production'] as const;
const queueNames = ['KeySyncQueue', 'KeySyncFailedSyncs'] as const;

const name = v.pipe(ref, v.transform(withoutHash));
const attributeOf = v.pipe(attribute, v.transform(withoutHash));

/** All resources of a type, by their logical ids without the hash. */
function named<Schema extends v.GenericSchema>(stage: SynthesizedStage, type: string, schema: Schema) {
  return new Map(resourcesOf(stage, type, schema).map(({ id, properties }) => [withoutHash(id), properties]));
}

const queueSchema = v.looseObject({
  VisibilityTimeout: v.optional(v.number()),
  RedrivePolicy: v.optional(v.strictObject({ deadLetterTargetArn: attributeOf, maxReceiveCount: v.number() })),
});

const ruleSchema = v.looseObject({
  State: v.string(),
  ScheduleExpression: v.optional(v.string()),
  EventPattern: v.optional(v.record(v.string(), v.unknown())),
  Targets: v.array(v.looseObject({ Arn: attributeOf })),
});

const condition = v.union([
  v.strictObject({ ArnEquals: v.strictObject({ 'aws:SourceArn': attributeOf }) }),
  v.strictObject({ Bool: v.strictObject({ 'aws:SecureTransport': v.string() }) }),
]);

const queuePolicySchema = v.object({
  Queues: v.array(name),
  PolicyDocument: v.object({
    Statement: v.array(v.looseObject({ Effect: v.string(), Resource: attributeOf, Condition: condition })),
  }),
});

const functionSchema = v.looseObject({ Timeout: v.number(), Environment: v.object({ Variables: v.looseObject({}) }) });

describe.each(stages)('the sync of keys on %s', (stageName) => {
  const stage = synthesized[stageName];
  const queues = named(stage, 'AWS::SQS::Queue', queueSchema);
  const rules = named(stage, 'AWS::Events::Rule', ruleSchema);
  const policies = resourcesOf(stage, 'AWS::SQS::QueuePolicy', queuePolicySchema).map(({ properties }) => properties);
  const sync = resourcesOf(stage, 'AWS::Lambda::Function', v.looseObject({})).find(
    ({ id }) => withoutHash(id) === 'KeySyncFunction',
  );
  const { Timeout: timeout, Environment: environment } = v.parse(functionSchema, sync?.properties);
  const [mapping, ...otherMappings] = resourcesOf(stage, 'AWS::Lambda::EventSourceMapping', v.looseObject({}));

  const statementsOf = (queue: string) =>
    policies.filter(({ Queues }) => Queues.includes(queue)).flatMap(({ PolicyDocument }) => PolicyDocument.Statement);

  describe('the function', () => {
    test('has the time that all keys and usage plans of an account take: 330 calls at 5 a second, and the table', () => {
      expect(timeout).toBe(300);
    });

    test('counts its metrics by the stack', () => {
      expect(environment.Variables).toMatchObject({
        METRICS_NAMESPACE: 'PetStoreInventory',
        STACK_NAME: `${stageName}-Inventory`,
      });
    });

    test('looks at the one API and its one stage', () => {
      const [restApi] = resourcesOf(stage, 'AWS::ApiGateway::RestApi', v.unknown());
      const [apiStage] = resourcesOf(stage, 'AWS::ApiGateway::Stage', v.unknown());

      expect(environment.Variables).toMatchObject({ API_ID: { Ref: restApi?.id }, API_STAGE: { Ref: apiStage?.id } });
    });

    test('is started by its queue alone, once for all that has come up within a second, and at most twice at once', () => {
      expect(otherMappings).toEqual([]);
      expect(mapping?.properties).toEqual({
        EventSourceArn: { 'Fn::GetAtt': [expect.stringMatching(/^KeySyncQueue[0-9A-F]{8}$/), 'Arn'] },
        FunctionName: { 'Fn::Join': ['', [expect.anything(), ':live']] },
        BatchSize: 1_000,
        MaximumBatchingWindowInSeconds: 1,
        ScalingConfig: { MaximumConcurrency: 2 },
      });
    });
  });

  describe('the queues', () => {
    test('are one, and one for what failed', () => {
      expect([...queues.keys()].toSorted()).toEqual(queueNames.toSorted());
    });

    test.each(queueNames)('%s is encrypted', (queue) => {
      expect(queues.get(queue)).toMatchObject({ SqsManagedSseEnabled: true });
    });

    test.each(queueNames)('%s refuses whoever comes without TLS', (queue) => {
      expect(statementsOf(queue)).toContainEqual({
        Effect: 'Deny',
        Principal: { AWS: '*' },
        Action: 'sqs:*',
        Resource: `${queue}.Arn`,
        Condition: { Bool: { 'aws:SecureTransport': 'false' } },
      });
    });

    test('show no message again before Lambda has had its time with it: six times the timeout of the function', () => {
      expect(queues.get('KeySyncQueue')?.VisibilityTimeout).toBeGreaterThanOrEqual(6 * timeout);
    });

    test('put aside what failed three times, for two weeks', () => {
      expect(queues.get('KeySyncQueue')?.RedrivePolicy).toEqual({
        deadLetterTargetArn: 'KeySyncFailedSyncs.Arn',
        maxReceiveCount: 3,
      });
      expect(queues.get('KeySyncFailedSyncs')).toMatchObject({ MessageRetentionPeriod: 14 * 86_400 });
    });
  });

  describe('the rules', () => {
    test('are one for the time and one for changes', () => {
      expect([...rules.keys()].toSorted()).toEqual(['KeySyncChanges', 'KeySyncSchedule']);
    });

    test.each(['KeySyncChanges', 'KeySyncSchedule'])('%s is on, and sends to the queue alone', (rule) => {
      expect(rules.get(rule)).toMatchObject({ State: 'ENABLED', Targets: [{ Arn: 'KeySyncQueue.Arn' }] });
    });

    test('sync every five minutes, whatever happens', () => {
      expect(rules.get('KeySyncSchedule')?.ScheduleExpression).toBe('rate(5 minutes)');
      expect(rules.get('KeySyncSchedule')).not.toHaveProperty('EventPattern');
    });

    test('sync after each call that CloudTrail saw change a key, a usage plan or a tag, and after no other', () => {
      expect(rules.get('KeySyncChanges')).not.toHaveProperty('ScheduleExpression');
      expect(rules.get('KeySyncChanges')?.EventPattern).toEqual({
        source: ['aws.apigateway'],
        'detail-type': ['AWS API Call via CloudTrail'],
        detail: {
          eventSource: ['apigateway.amazonaws.com'],
          eventName: [
            'CreateApiKey',
            'ImportApiKeys',
            'UpdateApiKey',
            'DeleteApiKey',
            'CreateUsagePlan',
            'UpdateUsagePlan',
            'DeleteUsagePlan',
            'CreateUsagePlanKey',
            'DeleteUsagePlanKey',
            'TagResource',
            'UntagResource',
          ],
        },
      });
    });

    test('know every such call that API Gateway has', () => {
      const changing = Object.keys(apiGateway).flatMap((exported) => {
        const [, call = ''] = /^(.*(?:ApiKeys?|UsagePlan(?:Key)?|agResource))Command$/.exec(exported) ?? [];
        return call === '' || call.startsWith('Get') ? [] : [call];
      });

      expect(changing).toHaveLength(11);
      expect(rules.get('KeySyncChanges')?.EventPattern).toHaveProperty(
        'detail.eventName',
        expect.arrayContaining(changing),
      );
    });

    test('are all that may send to the queue, and may do no more to it', () => {
      const allowed = statementsOf('KeySyncQueue').filter(({ Effect }) => Effect === 'Allow');

      expect(allowed).toEqual(
        ['KeySyncSchedule', 'KeySyncChanges'].map((rule) => ({
          Effect: 'Allow',
          Principal: { Service: 'events.amazonaws.com' },
          Action: ['sqs:GetQueueAttributes', 'sqs:GetQueueUrl', 'sqs:SendMessage'],
          Resource: 'KeySyncQueue.Arn',
          Condition: { ArnEquals: { 'aws:SourceArn': `${rule}.Arn` } },
        })),
      );
    });

    test('may not send to the queue of what failed, and nobody else may', () => {
      expect(statementsOf('KeySyncFailedSyncs').filter(({ Effect }) => Effect === 'Allow')).toEqual([]);
    });
  });
});
