import { Duration, Stack } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { SqsQueue } from 'aws-cdk-lib/aws-events-targets';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { ServiceFunction } from './service-function.ts';
import type { Tables } from './tables.ts';

/** A store with 10,000 keys on 300 usage plans requires about 330 calls, at 4 per second. */
const TIMEOUT = Duration.minutes(5);

/** Every call that changes keys or usage plans. */
const CHANGES = [
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
];

/** Its actions and paths on API Gateway's control plane. */
const GATEWAY_PERMISSIONS = [
  ['GET', '/apikeys', '/apikeys/*', '/usageplans', '/usageplans/*/keys', '/usageplans/*/keys/*'],
  ['POST', '/apikeys', '/usageplans/*/keys'],
  ['PATCH', '/apikeys/*'],
  // A tag's path contains its key's ARN, which is unknown while the key is created.
  ['PUT', '/tags/*'],
  ['DELETE', '/apikeys/*', '/usageplans/*/keys/*', '/tags/*'],
] as const;

/**
 * Syncs the keys table and API Gateway's keys: every five minutes, and soon after a change if the
 * account has a CloudTrail trail. The events go through a queue, so concurrent changes lead to one sync.
 */
export class KeySync extends Construct {
  readonly sync: ServiceFunction;

  constructor(scope: Construct, id: string, { restApi, tables }: { restApi: RestApi; tables: Tables }) {
    super(scope, id);
    const queue = new Queue(this, 'Queue', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      // At least six times the function's timeout plus the window, as Lambda recommends.
      visibilityTimeout: Duration.minutes(6 * TIMEOUT.toMinutes() + 1),
      retentionPeriod: Duration.hours(1),
    });
    const sync = new ServiceFunction(this, 'Function', {
      entry: 'sync-keys',
      description: 'Syncs the keys table and the keys of API Gateway',
      timeout: TIMEOUT,
      // It mostly waits for API Gateway.
      memorySize: 512,
      environment: { API_ID: restApi.restApiId, API_STAGE: restApi.deploymentStage.stageName },
    });
    this.sync = sync;
    sync.live.addEventSource(
      // Two is the minimum of SQS; concurrent syncs are safe.
      new SqsEventSource(queue, { batchSize: 1_000, maxBatchingWindow: Duration.seconds(1), maxConcurrency: 2 }),
    );
    tables.permit(sync, {
      keys: ['Scan', 'GetItem', 'UpdateItem'],
      history: ['PutItem'],
      usage: ['Query', 'UpdateItem'],
    });
    const { region, partition } = Stack.of(this);
    for (const [action, ...paths] of GATEWAY_PERMISSIONS) {
      const resources = paths.map((path) => `arn:${partition}:apigateway:${region}::${path}`);
      sync.addToRolePolicy(new PolicyStatement({ actions: [`apigateway:${action}`], resources }));
    }
    new Rule(this, 'Schedule', {
      description: 'Syncs the keys at an interval',
      schedule: Schedule.rate(Duration.minutes(5)),
      targets: [new SqsQueue(queue)],
    });
    new Rule(this, 'Changes', {
      description: 'Syncs the keys after a change of keys or usage plans, such as in the console',
      eventPattern: {
        source: ['aws.apigateway'],
        detailType: ['AWS API Call via CloudTrail'],
        detail: { eventSource: ['apigateway.amazonaws.com'], eventName: CHANGES },
      },
      targets: [new SqsQueue(queue)],
    });
  }
}
