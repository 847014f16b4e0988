import { HostError } from './host-error.ts';
import type { LambdaFunction } from './lambda/lambda-functions.ts';
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
    this.#next ??= setTimeout(() => {
      this.#next = undefined;
      this.#last = this.#last.then(() => this.#run());
    }, this.#settings.waitMs);
  }

  close(): void {
    clearInterval(this.#interval);
    clearTimeout(this.#next);
  }

  async #run(): Promise<void> {
    const { sync, log } = this.#settings;
    await sync.invoke(BATCH).catch((error: unknown) => log(`The sync of keys failed: ${String(error)}\n`));
  }
}

/**
 * The sync of keys: the one function that reads a queue, at the one schedule that there is. The queue is not imitated: its
 * messages only say that a sync is wanted.
 *
 * @param functions by ARN: `name:alias` ends it
 * @throws HostError where the template has none
 */
export function loadSyncSchedule(
  stack: ServedStack,
  functions: ReadonlyMap<string, LambdaFunction>,
  log: (line: string) => void,
): SyncSchedule {
  const { properties: mapping } = only(stack.resources('AWS::Lambda::EventSourceMapping'), 'event source');
  const [, sync] = [...functions].find(([arn]) => arn.endsWith(`:function:${mapping.FunctionName}`)) ?? [];
  if (!sync) throw new HostError(`The template has no function ${mapping.FunctionName}`);
  const expressions = stack
    .resources('AWS::Events::Rule')
    .flatMap(({ properties }) => properties.ScheduleExpression ?? []);
  const schedule = only(expressions, 'schedule');
  const minutes = Number(/^rate\((\d+) minutes?\)$/.exec(schedule)?.[1]);
  if (!minutes) throw new HostError(`The local host knows no schedule but rate(… minutes): ${schedule}`);
  return new SyncSchedule({
    sync,
    intervalMs: minutes * 60_000,
    waitMs: mapping.MaximumBatchingWindowInSeconds * 1_000,
    log,
  });
}
