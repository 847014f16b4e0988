import { HostError } from './host-error.ts';
import type { LambdaFunction } from './lambda/lambda-function.ts';
import type { LogSink } from './log-sink.ts';
import { type ServedStack, only } from './template/stack.ts';

interface SyncScheduleSettings {
  readonly sync: Pick<LambdaFunction, 'invoke'>;
  /** Milliseconds between two syncs where nothing changes. */
  readonly periodMs: number;
  /** How long a change waits for more of them. */
  readonly waitMs: number;
  /** Told of each sync that fails. The next one makes up for it. */
  readonly log: (line: string) => void;
}

/** The sync looks at everything, whatever the batch of its queue says. */
const BATCH = JSON.stringify({ Records: [] });

/** Runs the sync of keys on its schedule and after changes, one at a time. */
export class SyncSchedule {
  readonly #settings: SyncScheduleSettings;
  #schedule: NodeJS.Timeout | undefined;
  #next: NodeJS.Timeout | undefined;
  #isUnderWay = false;
  #isClosed = false;

  constructor(settings: SyncScheduleSettings) {
    this.#settings = settings;
  }

  start(): void {
    this.#schedule = setInterval(() => this.runSoon(), this.#settings.periodMs);
  }

  /** Runs one sync for all calls that come before it begins. */
  runSoon(): void {
    if (this.#isClosed) return;
    this.#next ??= setTimeout(() => void this.#run(), this.#settings.waitMs);
  }

  /** Starts no more syncs; the one under way is the function's to end. */
  close(): void {
    this.#isClosed = true;
    clearInterval(this.#schedule);
    clearTimeout(this.#next);
  }

  async #run(): Promise<void> {
    this.#next = undefined;
    // The one under way may have read what has changed since.
    if (this.#isUnderWay) return this.runSoon();
    this.#isUnderWay = true;
    try {
      await this.#settings.sync.invoke(BATCH);
    } catch (error) {
      if (!this.#isClosed) this.#settings.log(`The sync of keys failed: ${String(error)}`);
    } finally {
      this.#isUnderWay = false;
    }
  }
}

/**
 * Recognises the sync of keys: rules that put events into a queue, one of them on a schedule, and a function that reads
 * the queue. The queue is not imitated: what is in it says nothing but that a sync is wanted.
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
  const schedules = rules.filter(({ properties }) => properties.ScheduleExpression !== undefined);
  const schedule = only(schedules, 'schedule');
  return new SyncSchedule({
    sync,
    periodMs: periodOf(schedule.properties.ScheduleExpression ?? '', schedule.logicalId),
    waitMs: mapping.MaximumBatchingWindowInSeconds * 1_000,
    log: (line) => sink(`${new Date().toISOString()} ${line}\n`),
  });
}

/** The period of a schedule expression such as `rate(5 minutes)`, in milliseconds. */
function periodOf(expression: string, logicalId: string): number {
  const count = /^rate\((\d+) minutes?\)$/.exec(expression)?.[1];
  if (count === undefined) {
    throw new HostError(
      `Resource ${logicalId}: the local host knows no schedule but rate(… minutes), not ${expression}`,
    );
  }
  return Number(count) * 60_000;
}
