import { AsyncLocalStorage } from 'node:async_hooks';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { pathToFileURL } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import type {
  FunctionFailure,
  FunctionSettings,
  Invocation,
  RuntimeMessage,
  RuntimeRequest,
} from './lambda-functions.ts';
import { awslambda, ResponseStream, streamsResponse } from './response-stream.ts';

/**
 * The Node.js runtime of all functions. Each bundle is loaded with its first event. The current function is a value of
 * the asynchronous context: so `process.env` has only its variables, and a line goes to its log group.
 */

type Handler = (event: unknown, ...rest: readonly unknown[]) => unknown;

const settingsOfAll: readonly FunctionSettings[] = workerData;
const functions = new Map(settingsOfAll.map((settings) => [settings.functionName, settings]));
const handlers = new Map<string, Promise<Handler>>();
const current = new AsyncLocalStorage<FunctionSettings>();

const post = (message: RuntimeMessage): void => parentPort?.postMessage(message);

function write(text: string | Uint8Array): boolean {
  post({ kind: 'log', group: current.getStore()?.logGroupName, text: Buffer.from(text).toString() });
  return true;
}

Object.defineProperty(process, 'env', { get: () => current.getStore()?.variables ?? {} });
for (const stream of [process.stdout, process.stderr]) Object.assign(stream, { write });
Object.assign(globalThis, { awslambda });
process.setSourceMapsEnabled(true);
process.on('uncaughtException', (error) => {
  console.error(error);
  process.exit(1);
});

async function load({ codeDirectory, handler: name }: FunctionSettings): Promise<Handler> {
  const [file, member = ''] = name.split('.');
  const path = join(codeDirectory, `${file}.mjs`);
  const exported: Readonly<Record<string, Handler | undefined>> = await import(pathToFileURL(path).href);
  const handler = exported[member];
  if (typeof handler !== 'function') throw new TypeError(`${name} is undefined or not exported`);
  return handler;
}

/** The used parts of Lambda's context. */
function contextOf({ id, timeoutMs }: Invocation, { functionName, arn, memoryMegabytes }: FunctionSettings): object {
  const deadline = performance.now() + timeoutMs;
  return {
    awsRequestId: id,
    functionName,
    invokedFunctionArn: arn,
    memoryLimitInMB: String(memoryMegabytes),
    getRemainingTimeInMillis: () => Math.max(0, deadline - performance.now()),
  };
}

async function respond(invocation: Invocation, settings: FunctionSettings): Promise<void> {
  const { id, event, functionName, response } = invocation;
  try {
    const begunAt = performance.now();
    const loading = handlers.get(functionName);
    const loaded = loading ?? load(settings);
    handlers.set(functionName, loaded);
    const handler = await loaded;
    const initDurationMs = loading ? undefined : performance.now() - begunAt;
    const context = contextOf(invocation, settings);
    const isStreamed = streamsResponse(handler);
    if (response && !isStreamed) throw new TypeError(`${functionName} does not stream its response`);
    const payload = isStreamed
      ? await streamed(response ?? new WritableStream(), (stream) => handler(JSON.parse(event), stream, context))
      : (JSON.stringify(await handler(JSON.parse(event), context)) ?? 'null');
    post({ kind: 'ended', id, payload, initDurationMs });
  } catch (error) {
    console.error(error);
    post({ kind: 'ended', id, failure: failureOf(error) });
  }
}

/** A function whose reader disconnects keeps running, as on AWS. */
const ignore = (): undefined => undefined;

/** Sends a handler's stream, until both have ended. If it fails, the server ends the response. */
async function streamed(response: WritableStream, handle: (stream: ResponseStream) => unknown): Promise<''> {
  const writer = response.getWriter();
  writer.closed.catch(ignore);
  // A chunk may be a slice of a pool, which would be copied whole.
  const stream = new ResponseStream((part) =>
    writer.write(typeof part === 'string' ? part : new Uint8Array(part)).catch(ignore),
  );
  const result = handle(stream);
  if (!(result instanceof Promise)) throw new TypeError('Streaming does not support non-async handlers.');
  await result;
  // A handler may end before its stream.
  await finished(stream);
  await writer.close().catch(ignore);
  return '';
}

const failureOf = (error: unknown): FunctionFailure =>
  error instanceof Error
    ? { errorType: error.name, errorMessage: error.message }
    : { errorType: typeof error, errorMessage: String(error) };

parentPort?.on('message', (message: RuntimeRequest) => {
  if (message === 'ping') return post({ kind: 'pong' });
  const settings = functions.get(message.functionName);
  if (settings) void current.run(settings, respond, message, settings);
});
