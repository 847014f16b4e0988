import { HostError } from './host-error.ts';
import type { LambdaFunction } from './lambda/lambda-function.ts';
import type { LogSink } from './log-sink.ts';
import { type ServedStack, only } from './template/stack.ts';

interface SyncScheduleSettings {
  readonly sync: Pick<LambdaFunction, 'invoke'>;
  readonly intervalMs: number;
  /** How long a change waits for more of them. */
  readonly waitMs: number;
  /** Called with each failure. The next sync makes up for it. */
  readonly log: (line: string) => void;
}

/** The sync reads everything, whatever the batch of its queue says. */
const BATCH = JSON.stringify({ Records: [] });

/** Runs the sync of keys at an interval and after changes, one at a time. */
export class SyncSchedule {
  readonly #settings: SyncScheduleSettings;
  readonly #interval: NodeJS.Timeout;
  #next: NodeJS.Timeout | undefined;
  #last = Promise.resolve();

  constructor(settings: SyncScheduleSettings) {
    this.#settings = settings;
    this.#interval = setInterval(() => this.runSoon(), settings.intervalMs);
  }

  /** Runs one sync for all calls that come before it begins. */
  runSoon(): void {
    this.#next ??= setTimeout(() => this.#begin(), this.#settings.waitMs);
  }

  close(): void {
    clearInterval(this.#interval);
    clearTimeout(this.#next);
  }

  #begin(): void {
    this.#next = undefined;
    this.#last = this.#runAfter(this.#last);
  }

  async #runAfter(last: Promise<void>): Promise<void> {
    await last;
    const { sync, log } = this.#settings;
    await sync.invoke(BATCH).catch((error: unknown) => log(`The sync of keys failed: ${String(error)}`));
  }
}

/**
 * Recognises the sync of keys: rules that put events into a queue, one of them on a schedule, and a function that reads
 * the queue. The queue is not imitated: its messages only say that a sync is wanted.
 *
 * @throws HostError on anything else that rules and event sources could be
 */
export function loadSyncSchedule(
  stack: ServedStack,
  functions: ReadonlyMap<string, LambdaFunction>,
  sink: LogSink,
): SyncSchedule {
  const { logicalId, properties: mapping } = only(stack.resources('AWS::Lambda::EventSourceMapping'), 'event source');
  // `name:alias`, which ends the ARN.
  const [, sync] = [...functions].find(([arn]) => arn.endsWith(`:function:${mapping.FunctionName}`)) ?? [];
  if (!sync) throw new HostError(`Resource ${logicalId}: the template has no function ${mapping.FunctionName}`);
  const rules = stack.resources('AWS::Events::Rule');
  for (const { logicalId: rule, properties } of rules) {
    if (properties.Targets.every(({ Arn }) => Arn === mapping.EventSourceArn)) continue;
    throw new HostError(`Resource ${rule}: the local host knows no target of a rule but the queue of the sync`);
  }
  const schedule = only(
    rules.flatMap(({ properties }) => properties.ScheduleExpression ?? []),
    'schedule',
  );
  return new SyncSchedule({
    sync,
    intervalMs: intervalOf(schedule),
    waitMs: mapping.MaximumBatchingWindowInSeconds * 1_000,
    log: (line) => sink(`${new Date().toISOString()} ${line}\n`),
  });
}

/** The interval of a schedule expression such as `rate(5 minutes)`, in milliseconds. */
function intervalOf(expression: string): number {
  const count = /^rate\((\d+) minutes?\)$/.exec(expression)?.[1];
  if (count === undefined) throw new HostError(`The local host knows no schedule but rate(… minutes): ${expression}`);
  return Number(count) * 60_000;
}
