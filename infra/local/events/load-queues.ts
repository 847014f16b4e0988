import { HostError } from '../host-error.ts';
import type { LocalStack } from '../template/stack.ts';
import { SqsQueue } from './sqs-queue.ts';

/** The queues of the template by their ARN, each with its dead-letter queue. @throws HostError where one has none */
export function loadQueues(stack: LocalStack, log: (line: string) => void): Map<string, SqsQueue> {
  const resources = new Map(
    stack
      .resources('AWS::SQS::Queue')
      .map(({ logicalId, properties }) => [stack.attribute(logicalId, 'Arn'), { logicalId, properties }]),
  );
  const queues = new Map<string, SqsQueue>();
  const queueAt = (arn: string, redrivenFrom: readonly string[]): SqsQueue => {
    const existing = queues.get(arn);
    if (existing) return existing;
    const resource = resources.get(arn);
    if (!resource || redrivenFrom.includes(arn)) {
      throw new HostError(`The local host knows no dead-letter queue ${arn} for ${redrivenFrom.at(-1)}`);
    }
    const { RedrivePolicy, VisibilityTimeout, MessageRetentionPeriod } = resource.properties;
    const settings = {
      name: stack.attribute(resource.logicalId, 'QueueName'),
      arn,
      visibilityTimeoutMs: VisibilityTimeout * 1_000,
      retentionMs: MessageRetentionPeriod * 1_000,
      redrive: RedrivePolicy && {
        deadLetterQueue: queueAt(RedrivePolicy.deadLetterTargetArn, [...redrivenFrom, arn]),
        maxReceiveCount: RedrivePolicy.maxReceiveCount,
      },
    };
    const queue = new SqsQueue(settings, log);
    queues.set(arn, queue);
    return queue;
  };
  for (const arn of resources.keys()) queueAt(arn, []);
  return queues;
}
