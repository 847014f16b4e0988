import { Duration, Stack } from 'aws-cdk-lib';
import { EventBus } from 'aws-cdk-lib/aws-events';
import { Grant } from 'aws-cdk-lib/aws-iam';
import { EventSourceMapping, StartingPosition, Tracing } from 'aws-cdk-lib/aws-lambda';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { LogRetentionDays } from '../stages.ts';
import { acknowledge } from './acknowledge.ts';
import { ServiceFunction } from './service-function.ts';

export interface StockEventsProps {
  /** Of the stock table, with old and new images. */
  readonly streamArn: string;
  readonly logRetentionDays: LogRetentionDays;
}

/**
 * Publishes each change of stock on a bus named after the stack (docs/events.md). A batch that fails comes again until
 * its records leave the stream after 24 hours, so that an outage of the bus loses nothing; what the bus refuses would
 * hold all changes behind it as long, so the function puts that on a queue.
 */
export class StockEvents extends Construct {
  readonly publisher: ServiceFunction;
  /** The changes that were not published. */
  readonly queue: Queue;

  constructor(scope: Construct, id: string, { streamArn, logRetentionDays }: StockEventsProps) {
    super(scope, id);
    const bus = new EventBus(this, 'Bus', { eventBusName: Stack.of(this).stackName, description: 'Changes of stock' });
    this.queue = new Queue(this, 'Unpublished', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    acknowledge(this.queue, 'SQS3', 'It has the changes that failed already: an admin reads it, no function does.');
    const grantee = new ServiceFunction(this, 'Function', {
      entry: 'publish-stock-changes',
      description: 'Publishes changes of stock as events',
      timeout: Duration.minutes(1),
      // It waits for EventBridge.
      memorySize: 512,
      // X-Ray would record the first batch of each second: with steady traffic that costs more than the events.
      tracing: Tracing.PASS_THROUGH,
      logRetentionDays,
      environment: { EVENT_BUS: bus.eventBusName, UNPUBLISHED_QUEUE_URL: this.queue.queueUrl },
    });
    this.publisher = grantee;
    const reading = ['DescribeStream', 'GetRecords', 'GetShardIterator', 'ListStreams'].map(
      (call) => `dynamodb:${call}`,
    );
    Grant.addToPrincipal({ grantee, actions: reading, resourceArns: [streamArn] });
    Grant.addToPrincipal({ grantee, actions: ['events:PutEvents'], resourceArns: [bus.eventBusArn] });
    Grant.addToPrincipal({ grantee, actions: ['sqs:SendMessage'], resourceArns: [this.queue.queueArn] });
    new EventSourceMapping(this, 'Stream', {
      target: grantee.live,
      eventSourceArn: streamArn,
      // With the latest, what changes while Lambda begins to read would be missed.
      startingPosition: StartingPosition.TRIM_HORIZON,
      batchSize: 100,
      bisectBatchOnError: true,
      reportBatchItemFailures: true,
    });
  }
}
