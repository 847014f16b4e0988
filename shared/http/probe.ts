import { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from 'aws-lambda';

/** A call of a function's own store, which changes nothing. @throws the error that a request would fail with */
type Probe = () => Promise<unknown>;

/** All that a function may call. A release runs all of them; Lambda's initialization of a function the first alone. */
export type Probes = readonly Probe[];

/** Max wait of a cold start for its probe, in milliseconds. */
const WARM_UP_MS = 1_000;

/** Min time left before the function times out to start the probes, in milliseconds. */
const LAST_ATTEMPT_MS = 3_000;
const PAUSE_MS = 500;

/**
 * The exports of a function: its handler, and its initialization before the first event. Any event that its trigger
 * does not send, or none, runs the probes, to check the function before a release routes traffic to it.
 */
export function probed<Event, Rest extends readonly unknown[], Result>(
  serve: (event: Event, ...rest: Rest) => Promise<Result>,
  probes: Probes,
) {
  const handler = (event?: Event, ...rest: Rest): Promise<Result | undefined> =>
    isOfTrigger(event) ? serve(event, ...rest) : runProbes(probes, rest);
  return { handler, initialize: () => warmUp(probes[0]) };
}

/** Runs a probe to set up what the first call of DynamoDB needs: the connection, TLS, the client's lazy parts. */
async function warmUp(probe: Probe | undefined): Promise<void> {
  const { promise: timedOut, resolve: giveUp } = Promise.withResolvers<void>();
  const timer = setTimeout(giveUp, WARM_UP_MS);
  try {
    await Promise.race([probe?.(), timedOut]);
  } catch {
    // Only time is lost: the first request makes its own call, and reports its own failure.
  } finally {
    clearTimeout(timer);
  }
}

/** Whether the event is API Gateway's, which has a request context, or a stream's, which has records. */
const isOfTrigger = <Event>(event: Event | undefined): event is Event =>
  typeof event === 'object' && event !== null && ('requestContext' in event || 'Records' in event);

/** @param args of the handler after the event: the context, after the stream of a streaming handler */
async function runProbes(probes: Probes, args: readonly unknown[]): Promise<undefined> {
  const context = args.find(isContext);
  while (!(await arePassed(probes, context))) await sleep(PAUSE_MS);
  for (const stream of args) if (stream instanceof Writable) stream.end();
  return undefined;
}

/** False if the probes may pass later: new IAM permissions may take seconds to propagate. */
async function arePassed(probes: Probes, context: LambdaContext | undefined): Promise<boolean> {
  try {
    await Promise.all(probes.map((probe) => probe()));
    return true;
  } catch (error) {
    const isRefused = error instanceof Error && error.name === 'AccessDeniedException';
    if (!isRefused || (context?.getRemainingTimeInMillis() ?? 0) < LAST_ATTEMPT_MS) throw error;
    return false;
  }
}

type LambdaContext = Pick<Context, 'getRemainingTimeInMillis'>;

const isContext = (value: unknown): value is LambdaContext =>
  typeof value === 'object' && value !== null && 'getRemainingTimeInMillis' in value;
