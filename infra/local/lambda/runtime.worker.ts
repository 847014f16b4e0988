import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe } from 'node:diagnostics_channel';
import { ClientRequest } from 'node:http';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { pathToFileURL } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import type { FunctionFailure, FunctionSettings, Invocation, RuntimeMessage, WorkerMessage } from './invocation.ts';
import { awslambda, streamsResponse, ResponseStream } from './response-stream.ts';

/**
 * The Node.js runtime of all functions. Each bundle is loaded with its first event. The current event is a value of
 * the asynchronous context: so `process.env` has only its function's variables, a line goes to its log group,
 * and no call is made for an event that has timed out.
 */

type Handler = (event: unknown, ...rest: readonly unknown[]) => unknown;

/** An event, and when it times out, by `performance.now()`. */
interface RunningEvent {
  readonly settings: FunctionSettings;
  deadline: number;
}

/** Max concurrent events of a function: the connections of its client, so no call waits for one. */
const MAX_CONCURRENT_EVENTS = 50;

const settingsOfAll: readonly FunctionSettings[] = workerData;
/** Running and queued events of each function. */
const lanes = new Map(
  settingsOfAll.map((settings) => [settings.functionName, { settings, running: 0, waiting: new Set<Invocation>() }]),
);
const handlers = new Map<string, Promise<Handler>>();
const streams = new Map<string, ResponseStream>();
const running = new AsyncLocalStorage<RunningEvent>();

function post(message: RuntimeMessage, transfer: ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, transfer);
}

function write(text: string | Uint8Array): boolean {
  post({ kind: 'log', group: running.getStore()?.settings.logGroupName, text: Buffer.from(text).toString() });
  return true;
}

Object.defineProperty(process, 'env', { get: () => running.getStore()?.settings.variables ?? {} });
for (const stream of [process.stdout, process.stderr]) Object.assign(stream, { write });
Object.assign(globalThis, { awslambda });
process.setSourceMapsEnabled(true);
// Calls waiting for a connection are not sent either.
subscribe('http.client.request.created', (message) => {
  const event = running.getStore();
  if (!event || typeof message !== 'object' || message === null || !('request' in message)) return;
  const { request } = message;
  if (!(request instanceof ClientRequest)) return;
  request.once('socket', () => {
    if (performance.now() >= event.deadline) request.destroy(new Error('The function has timed out.'));
  });
});
process.on('uncaughtException', (error) => {
  console.error(error);
  process.exit(1);
});

async function load({ codeDirectory, handler: name }: FunctionSettings): Promise<Handler> {
  const [file = '', member = ''] = name.split('.');
  const path = join(codeDirectory, `${file}.mjs`);
  const exported: Readonly<Record<string, unknown>> = await import(pathToFileURL(path).href);
  const handler = exported[member];
  if (!isHandler(handler)) throw new TypeError(`${name} is undefined or not exported`);
  return handler;
}

function isHandler(value: unknown): value is Handler {
  return typeof value === 'function';
}

/** The used parts of Lambda's context. */
const contextOf = ({ id, functionName }: Invocation, deadline: number) => ({
  awsRequestId: id,
  functionName,
  getRemainingTimeInMillis: () => Math.max(0, deadline - performance.now()),
});

async function respond(invocation: Invocation, current: RunningEvent): Promise<void> {
  const { id, event, functionName } = invocation;
  const { settings, deadline } = current;
  post({ kind: 'begun', id });
  try {
    const begunAt = performance.now();
    const loading = handlers.get(functionName);
    const loaded = loading ?? load(settings);
    handlers.set(functionName, loaded);
    const handler = await loaded;
    const initDurationMs = loading ? undefined : performance.now() - begunAt;
    const context = contextOf(invocation, deadline);
    const payload = streamsResponse(handler)
      ? await streamed(id, (stream) => handler(JSON.parse(event), stream, context))
      : (JSON.stringify(await handler(JSON.parse(event), context)) ?? 'null');
    post({ kind: 'ended', id, payload, initDurationMs });
  } catch (error) {
    console.error(error);
    post({ kind: 'ended', id, failure: failureOf(error) });
  } finally {
    // Resources for later events are not bound by its timeout.
    if (performance.now() < deadline) current.deadline = Infinity;
  }
}

/** Posts a handler's stream, until both have ended. */
async function streamed(id: string, handle: (stream: ResponseStream) => unknown): Promise<''> {
  const stream = new ResponseStream((bytes) => {
    // The chunk may be a slice of a pool, which would be copied whole.
    const chunk = new Uint8Array(bytes);
    post({ kind: 'chunk', id, chunk }, [chunk.buffer]);
  });
  streams.set(id, stream);
  try {
    const result = handle(stream);
    if (!(result instanceof Promise)) throw new TypeError('Streaming does not support non-async handlers.');
    await result;
    // A handler may end before its stream.
    await finished(stream);
    return '';
  } finally {
    streams.delete(id);
    stream.destroy();
  }
}

function failureOf(error: unknown): FunctionFailure {
  return error instanceof Error
    ? { errorType: error.name, errorMessage: error.message }
    : { errorType: typeof error, errorMessage: String(error) };
}

const waitedTooLong: FunctionFailure = { errorType: 'Sandbox.Timedout', errorMessage: 'The event was never started' };

/** Starts events of a function in their order of arrival. */
function beginEvents(functionName: string): void {
  const lane = lanes.get(functionName);
  for (const invocation of lane?.waiting ?? []) {
    if (!lane || lane.running === MAX_CONCURRENT_EVENTS) return;
    lane.waiting.delete(invocation);
    if (Date.now() > invocation.beginsUntil) {
      post({ kind: 'ended', id: invocation.id, failure: waitedTooLong });
      continue;
    }
    lane.running += 1;
    const event = { settings: lane.settings, deadline: performance.now() + invocation.timeoutMs };
    const end = (): void => {
      lane.running -= 1;
      beginEvents(functionName);
    };
    void running.run(event, respond, invocation, event).finally(end);
  }
}

parentPort?.on('message', (message: WorkerMessage) => {
  if (message.kind === 'invoke') {
    lanes.get(message.functionName)?.waiting.add(message);
    beginEvents(message.functionName);
  } else if (message.kind === 'retire') {
    for (const { waiting } of lanes.values()) waiting.clear();
    post({ kind: 'retired' });
  } else streams.get(message.id)?.hold(message.kind === 'hold');
});
