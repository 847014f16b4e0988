import { AsyncLocalStorage } from 'node:async_hooks';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { pathToFileURL } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import type {
  FunctionFailure,
  FunctionSettings,
  Invocation,
  RuntimeMessage,
  ThreadData,
  WorkerMessage,
} from './invocation.ts';
import { awslambda, streamsResponse, ResponseStream } from './response-stream.ts';

/**
 * The Node.js runtime of all functions. Each bundle is loaded with its first event. The function that runs is a value
 * of the asynchronous context: by it `process.env` has only this function's variables, and a line finds its log group.
 */

type Handler = (event: unknown, ...rest: readonly unknown[]) => unknown;

const BEAT_MS = 100;

const { settings: settingsOfAll, beats }: ThreadData = workerData;
const functions = new Map(settingsOfAll.map((settings) => [settings.functionName, settings]));
const handlers = new Map<string, Promise<Handler>>();
const streams = new Map<string, ResponseStream>();
const running = new AsyncLocalStorage<FunctionSettings>();

const beat = () => Atomics.add(beats, 0, 1);

/** A message is a sign of life too: with many events at once, timers wait. */
function post(message: RuntimeMessage, transfer: ArrayBuffer[] = []): void {
  beat();
  parentPort?.postMessage(message, transfer);
}

function write(text: string | Uint8Array): boolean {
  post({ kind: 'log', group: running.getStore()?.logGroupName, text: Buffer.from(text).toString() });
  return true;
}

Object.defineProperty(process, 'env', { get: () => running.getStore()?.variables ?? {} });
for (const stream of [process.stdout, process.stderr]) Object.assign(stream, { write });
Object.assign(globalThis, { awslambda });
process.on('uncaughtException', (error) => {
  console.error(error);
  process.exit(1);
});

/** In the order in which Lambda's runtime looks for them. */
const ENDINGS = ['.js', '.mjs', '.cjs'];

async function load({ codeFolder, handler: name }: FunctionSettings): Promise<Handler> {
  const [file = '', member = ''] = name.split('.');
  const path = ENDINGS.map((ending) => join(codeFolder, file + ending)).find((each) => existsSync(each));
  if (path === undefined) throw new Error(`Cannot find module '${file}'`);
  const exported: Readonly<Record<string, unknown>> = await import(pathToFileURL(path).href);
  const handler = exported[member];
  if (!isHandler(handler)) throw new TypeError(`${name} is undefined or not exported`);
  return handler;
}

function isHandler(value: unknown): value is Handler {
  return typeof value === 'function';
}

/** What functions read of what Lambda passes to a handler. */
const contextOf = ({ id, functionName, deadline }: Invocation) => ({
  awsRequestId: id,
  functionName,
  getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
});

async function answer(invocation: Invocation, settings: FunctionSettings): Promise<void> {
  const { id, event, functionName } = invocation;
  try {
    const begunAt = performance.now();
    const loading = handlers.get(functionName);
    const loaded = loading ?? load(settings);
    handlers.set(functionName, loaded);
    const handler = await loaded;
    const initDurationMs = loading ? undefined : performance.now() - begunAt;
    const context = contextOf(invocation);
    const payload = streamsResponse(handler)
      ? await streamed(id, (stream) => handler(JSON.parse(event), stream, context))
      : (JSON.stringify(await handler(JSON.parse(event), context)) ?? 'null');
    post({ kind: 'ended', id, payload, initDurationMs });
  } catch (error) {
    console.error(error);
    post({ kind: 'ended', id, failure: failureOf(error) });
  }
}

/** Posts what a handler streams, until it has left and its stream has ended. */
async function streamed(id: string, handle: (stream: ResponseStream) => unknown): Promise<''> {
  const stream = new ResponseStream((bytes) => {
    // The part may be a small piece of a pool, all of which would be copied.
    const chunk = new Uint8Array(bytes);
    post({ kind: 'chunk', id, chunk }, [chunk.buffer]);
  });
  streams.set(id, stream);
  try {
    const result = handle(stream);
    if (!(result instanceof Promise)) throw new TypeError('Streaming does not support non-async handlers.');
    await result;
    // A handler may leave before its stream does.
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

parentPort?.on('message', (message: WorkerMessage) => {
  if (message.kind === 'timedOut') streams.get(message.id)?.destroy();
  else if (message.kind !== 'invoke') streams.get(message.id)?.hold(message.kind === 'hold');
  else {
    const settings = functions.get(message.functionName);
    if (settings) void running.run(settings, answer, message, settings);
  }
});
beat();
setInterval(beat, BEAT_MS);
