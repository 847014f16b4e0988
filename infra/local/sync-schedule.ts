import * as v from 'valibot';
import { arn } from '../local-endpoint.ts';
import { LocalServerError } from './local-server-error.ts';
import type { LambdaFunction } from './lambda/lambda-functions.ts';
import type { ServedStack } from './template/stack.ts';

export type SyncSchedule = ReturnType<typeof scheduleSync>;

/**
 * Runs a sync at an interval and after changes, one at a time.
 *
 * @param waitMs how long a change waits for others
 * @param log called with each failure; the next sync retries
 */
export function scheduleSync(
  sync: () => Promise<unknown>,
  { intervalMs, waitMs }: { readonly intervalMs: number; readonly waitMs: number },
  log: (line: string) => void,
) {
  let next: NodeJS.Timeout | undefined;
  let last: Promise<unknown> = Promise.resolve();
  const run = (): void => {
    next = undefined;
    last = last.then(sync).catch((error: unknown) => log(`The sync of keys failed: ${String(error)}\n`));
  };
  /** Runs one sync for all calls before it starts. */
  const runSoon = (): void => void (next ??= setTimeout(run, waitMs));
  const interval = setInterval(runSoon, intervalMs);
  return { runSoon, close: (): void => [interval, next].forEach((timer) => clearTimeout(timer)) };
}

/**
 * The sync of keys: the only function that reads a queue, on the only schedule. The queue is not emulated:
 * its messages only trigger a sync. Nor are streams: a laptop has no events.
 *
 * @param functions by ARN
 * @throws LocalServerError if the template has none
 */
export function loadSyncSchedule(
  stack: ServedStack,
  functions: ReadonlyMap<string, LambdaFunction>,
  log: (line: string) => void,
): SyncSchedule {
  const mappings = stack.resources('AWS::Lambda::EventSourceMapping');
  const mapping = mappings.find((one) => one.text('EventSourceArn').startsWith('arn:aws:sqs:'));
  if (!mapping) throw new LocalServerError('The template has no function that reads a queue');
  const name = mapping.text('FunctionName');
  const lambda = functions.get(arn('lambda', `function:${name}`));
  if (!lambda) throw new LocalServerError(`The template has no function ${name}`);
  const rules = stack.resources('AWS::Events::Rule');
  const [schedule] = rules.flatMap((rule) => rule.read('ScheduleExpression', v.optional(v.string())) ?? []);
  const minutes = Number(/^rate\((\d+) minutes?\)$/.exec(schedule ?? '')?.[1]);
  if (!minutes)
    throw new LocalServerError(`The local server supports only schedules of rate(… minutes), not ${schedule}`);
  const waitMs = mapping.read('MaximumBatchingWindowInSeconds', v.optional(v.number(), 0)) * 1_000;
  // The sync reads everything, and ignores the content of its batch.
  const sync = () => lambda.invoke(JSON.stringify({ Records: [] }));
  return scheduleSync(sync, { intervalMs: minutes * 60_000, waitMs }, log);
}
