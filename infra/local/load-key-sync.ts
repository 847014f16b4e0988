import { HostError } from './host-error.ts';
import { KeySync } from './key-sync.ts';
import type { LambdaFunction } from './lambda/lambda-function.ts';
import type { LogSink } from './log-sink.ts';
import { only } from './template/only.ts';
import type { LocalStack } from './template/stack.ts';

const unitsMs = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;

/**
 * Recognises the sync of keys: a rule with a schedule and one for changes, both into a queue, and a function that reads
 * it. The queue is not imitated: what is in it says nothing but that a sync is wanted.
 *
 * @throws HostError on anything else that rules, queues and event sources could be
 */
export function loadKeySync(stack: LocalStack, functions: ReadonlyMap<string, LambdaFunction>, sink: LogSink): KeySync {
  const { logicalId, properties: mapping } = only(stack.resources('AWS::Lambda::EventSourceMapping'), 'event source');
  // `name:alias`, which ends the ARN.
  const [, sync] = [...functions].find(([arn]) => arn.endsWith(`:function:${mapping.FunctionName}`)) ?? [];
  if (!sync) throw new HostError(`Resource ${logicalId}: the template has no function ${mapping.FunctionName}`);
  checkQueues(stack, mapping.EventSourceArn);
  const rules = stack.resources('AWS::Events::Rule');
  for (const { logicalId: rule, properties } of rules) {
    if (properties.Targets.length === 1 && properties.Targets[0]?.Arn === mapping.EventSourceArn) continue;
    throw new HostError(`Resource ${rule}: the local host knows no target of a rule but the queue of the sync`);
  }
  only(
    rules.filter(({ properties }) => properties.EventPattern !== undefined),
    'rule for changes',
  );
  const schedule = only(
    rules.filter(({ properties }) => properties.ScheduleExpression !== undefined),
    'schedule',
  );
  return new KeySync({
    sync,
    periodMs: periodOf(schedule.properties.ScheduleExpression ?? '', schedule.logicalId),
    waitMs: mapping.MaximumBatchingWindowInSeconds * 1_000,
    log: (line) => sink(`${new Date().toISOString()} ${line}\n`),
  });
}

/** The queues are the one of the sync, and the one of what it failed on. */
function checkQueues(stack: LocalStack, syncQueueArn: string): void {
  const queues = stack.resources('AWS::SQS::Queue').map(({ logicalId, properties }) => ({
    logicalId,
    arn: stack.attribute(logicalId, 'Arn'),
    failedArn: properties.RedrivePolicy?.deadLetterTargetArn,
  }));
  const queue = queues.find(({ arn }) => arn === syncQueueArn);
  if (!queue) throw new HostError(`The template has no queue ${syncQueueArn}`);
  const other = queues.find(({ arn }) => arn !== queue.arn && arn !== queue.failedArn);
  if (other) throw new HostError(`Resource ${other.logicalId}: the local host knows no queue but that of the sync`);
}

/** The period of a schedule expression such as `rate(5 minutes)`, in milliseconds. */
function periodOf(expression: string, logicalId: string): number {
  const [, count = '', unit = ''] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression) ?? [];
  const isUnit = (name: string): name is keyof typeof unitsMs => name in unitsMs;
  if (!isUnit(unit) || Number(count) < 1) {
    throw new HostError(`Resource ${logicalId}: the local host knows no schedule but a rate(…), not ${expression}`);
  }
  return Number(count) * unitsMs[unit];
}
