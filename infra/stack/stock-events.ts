import { Duration, Stack } from 'aws-cdk-lib';
import { EventBus } from 'aws-cdk-lib/aws-events';
import { Grant } from 'aws-cdk-lib/aws-iam';
import { EventSourceMapping, StartingPosition, Tracing } from 'aws-cdk-lib/aws-lambda';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { ServiceFunction } from './service-function.ts';
import type { Tables } from './tables.ts';

/**
 * Publishes each change of stock on a bus named after the stack (docs/events.md). A failed batch is retried until
 * its records expire after 24 hours, so an outage of the bus loses nothing. EventBridge accepts and loses events of a
 * bus that was deleted, so the function also fails without it, and the alarm late-events fires: recreate the bus. A
 * change that the bus refuses would block later ones as long, so the function puts it on a queue.
 */
export class StockEvents extends Construct {
  readonly publisher: ServiceFunction;
  /** The unpublished changes. */
  readonly queue: Queue;

  constructor(scope: Construct, id: string, { stock }: Pick<Tables, 'stock'>) {
    super(scope, id);
    const bus = new EventBus(this, 'Bus', { eventBusName: Stack.of(this).stackName, description: 'Changes of stock' });
    this.queue = new Queue(this, 'Unpublished', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    const grantee = new ServiceFunction(this, 'Function', {
      entry: 'publish-stock-changes',
      description: 'Publishes changes of stock as events',
      timeout: Duration.minutes(1),
      // It mostly waits for EventBridge.
      memorySize: 512,
      // X-Ray would trace one batch per second, which costs more than the events with steady traffic.
      tracing: Tracing.PASS_THROUGH,
      environment: { EVENT_BUS: bus.eventBusName, UNPUBLISHED_QUEUE_URL: this.queue.queueUrl },
    });
    this.publisher = grantee;
    stock.grantStreamRead(grantee);
    const onBus = ['events:PutEvents', 'events:DescribeEventBus'];
    Grant.addToPrincipal({ grantee, actions: onBus, resourceArns: [bus.eventBusArn] });
    Grant.addToPrincipal({ grantee, actions: ['sqs:SendMessage'], resourceArns: [this.queue.queueArn] });
    new EventSourceMapping(this, 'Stream', {
      target: grantee.live,
      ...(stock.tableStreamArn !== undefined && { eventSourceArn: stock.tableStreamArn }),
      // LATEST would miss changes while Lambda starts to read.
      startingPosition: StartingPosition.TRIM_HORIZON,
      batchSize: 100,
      // An import writes 500 changes per second, and one batch of 100 takes up to half a second. Lambda keeps the order
      // of each item's changes, not only of each partition key's.
      parallelizationFactor: 10,
      bisectBatchOnError: true,
      reportBatchItemFailures: true,
    });
  }
}
