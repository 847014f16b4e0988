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
  /** The stock table's stream, with old and new images. */
  readonly streamArn: string;
  readonly logRetentionDays: LogRetentionDays;
}

/**
 * Publishes each change of stock on a bus named after the stack (docs/events.md). A failed batch is retried until
 * its records expire after 24 hours, so an outage of the bus loses nothing. A change that the bus refuses would
 * block later ones as long, so the function puts it on a queue.
 */
export class StockEvents extends Construct {
  readonly publisher: ServiceFunction;
  /** The unpublished changes. */
  readonly queue: Queue;

  constructor(scope: Construct, id: string, { streamArn, logRetentionDays }: StockEventsProps) {
    super(scope, id);
    const bus = new EventBus(this, 'Bus', { eventBusName: Stack.of(this).stackName, description: 'Changes of stock' });
    this.queue = new Queue(this, 'Unpublished', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    acknowledge(this.queue, 'SQS3', 'It holds failed changes for an admin; no function reads it.');
    const grantee = new ServiceFunction(this, 'Function', {
      entry: 'publish-stock-changes',
      description: 'Publishes changes of stock as events',
      timeout: Duration.minutes(1),
      // It mostly waits for EventBridge.
      memorySize: 512,
      // X-Ray would trace one batch per second, which costs more than the events with steady traffic.
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
      // LATEST would miss changes while Lambda starts to read.
      startingPosition: StartingPosition.TRIM_HORIZON,
      batchSize: 100,
      bisectBatchOnError: true,
      reportBatchItemFailures: true,
    });
  }
}
