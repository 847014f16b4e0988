import { HostError } from '../host-error.ts';
import type { LambdaFunction } from '../lambda/lambda-function.ts';
import type { LogSink } from '../log-sink.ts';
import type { LocalStack, Resource } from '../template/stack.ts';
import { AsynchronousInvocation } from './asynchronous-invocation.ts';
import { EventBus, type EventTarget, type Rule } from './event-bus.ts';
import { parseEventPattern } from './event-pattern.ts';
import { EventSourceMapping } from './event-source-mapping.ts';
import { loadQueues } from './load-queues.ts';
import { periodOf } from './schedule.ts';
import type { SqsQueue } from './sqs-queue.ts';

/** Batches of a mapping that sets no bound: Lambda starts with as many, and scales from there. */
const DEFAULT_CONCURRENCY = 5;

/** The event rules of the stack with all that is behind them. */
export interface Events {
  readonly bus: EventBus;
  /** By their ARN. */
  readonly queues: ReadonlyMap<string, SqsQueue>;
  /** Starts no more work; what is under way is the functions' to end. */
  close(): void;
}

type RuleResource = Resource<'AWS::Events::Rule'>;
type Functions = ReadonlyMap<string, LambdaFunction>;

/** @throws HostError on what the local host cannot do as EventBridge does */
export function loadEvents(stack: LocalStack, functions: Functions, sink: LogSink): Events {
  const log = (line: string): void => sink(`${new Date().toISOString()} ${line}\n`);
  const queues = loadQueues(stack, log);
  const mappings = stack
    .resources('AWS::Lambda::EventSourceMapping')
    .flatMap((resource) => loadMapping(resource, queues, functions, log));
  const invocations: AsynchronousInvocation[] = [];
  const targetOf = (arn: string, logicalId: string): EventTarget => {
    const queue = queues.get(arn);
    if (queue) return { deliver: (event) => queue.send(event) };
    const lambda = functions.get(arn);
    if (!lambda) throw new HostError(`Resource ${logicalId}: the local host knows no target ${arn}`);
    const invocation = new AsynchronousInvocation(lambda, nameOf(lambda), log);
    invocations.push(invocation);
    return invocation;
  };
  const bus = new EventBus(
    stack.resources('AWS::Events::Rule').flatMap((resource) => loadRule(resource, stack, targetOf)),
  );
  const close = (): void => {
    bus.close();
    for (const part of [...mappings, ...invocations]) part.close();
  };
  return { bus, queues, close };
}

function loadRule(
  { logicalId, properties }: RuleResource,
  stack: LocalStack,
  targetOf: (arn: string, logicalId: string) => EventTarget,
): Rule[] {
  const { EventPattern, ScheduleExpression, State, Targets } = properties;
  const place = `Resource ${logicalId} (AWS::Events::Rule)`;
  const rule = {
    arn: stack.attribute(logicalId, 'Arn'),
    pattern: EventPattern && parseEventPattern(EventPattern, `${place}: EventPattern`),
    periodMs: ScheduleExpression === undefined ? undefined : periodOf(ScheduleExpression, place),
    targets: Targets.map(({ Arn }) => targetOf(Arn, logicalId)),
  };
  return State === 'ENABLED' ? [rule] : [];
}

function loadMapping(
  { logicalId, properties }: Resource<'AWS::Lambda::EventSourceMapping'>,
  queues: ReadonlyMap<string, SqsQueue>,
  functions: Functions,
  log: (line: string) => void,
): EventSourceMapping[] {
  const queue = queues.get(properties.EventSourceArn);
  if (!queue) throw new HostError(`Resource ${logicalId}: the template has no queue ${properties.EventSourceArn}`);
  const { FunctionName: named } = properties;
  const [, lambda] = [...functions].find(([arn]) => arn === named || arn.endsWith(`:function:${named}`)) ?? [];
  if (!lambda) throw new HostError(`Resource ${logicalId}: the template has no function ${properties.FunctionName}`);
  if (!properties.Enabled) return [];
  const settings = {
    queue,
    target: lambda,
    functionName: nameOf(lambda),
    batchSize: properties.BatchSize,
    batchingWindowMs: properties.MaximumBatchingWindowInSeconds * 1_000,
    maxConcurrency: properties.ScalingConfig?.MaximumConcurrency ?? DEFAULT_CONCURRENCY,
  };
  return [new EventSourceMapping(settings, log)];
}

function nameOf({ arn }: LambdaFunction): string {
  return arn.split(':').at(-1) ?? arn;
}
