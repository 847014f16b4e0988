import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { pathToFileURL } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import type { Context } from 'aws-lambda';
import type {
  EnvironmentMessage,
  EnvironmentSettings,
  FunctionFailure,
  HostMessage,
  Invocation,
} from './invocation.ts';
import { awslambda, isStreaming, ResponseStream } from './response-stream.ts';

/** The Node.js runtime of an execution environment: loads the bundle once, then runs one event at a time. */

type Handler = (event: unknown, ...rest: readonly unknown[]) => unknown;

const settings: EnvironmentSettings = workerData;

function report(message: EnvironmentMessage): void {
  parentPort?.postMessage(message);
}

function failureOf(error: unknown): FunctionFailure {
  return error instanceof Error
    ? { errorType: error.name, errorMessage: error.message }
    : { errorType: typeof error, errorMessage: String(error) };
}

/** In the order in which Lambda's runtime looks for them. */
const ENDINGS = ['.js', '.mjs', '.cjs'];

async function loadHandler(): Promise<Handler> {
  const [file = '', name = ''] = settings.handler.split('.');
  const path = ENDINGS.map((ending) => join(settings.codeFolder, file + ending)).find((each) => existsSync(each));
  if (path === undefined) throw new Error(`Cannot find module '${file}'`);
  const exported: Readonly<Record<string, unknown>> = await import(pathToFileURL(path).href);
  const handler = exported[name];
  if (!isHandler(handler)) throw new TypeError(`${settings.handler} is undefined or not exported`);
  return handler;
}

function isHandler(value: unknown): value is Handler {
  return typeof value === 'function';
}

/** What Lambda passes to a handler. The Node.js 24 runtime has no callbacks in it, which the type still has. */
function contextOf({ requestId, deadline }: Invocation): Omit<Context, 'done' | 'fail' | 'succeed'> {
  return {
    awsRequestId: requestId,
    callbackWaitsForEmptyEventLoop: true,
    functionName: settings.functionName,
    functionVersion: '$LATEST',
    invokedFunctionArn: settings.functionArn,
    memoryLimitInMB: String(settings.memoryMegabytes),
    logGroupName: settings.logGroupName,
    logStreamName: 'local',
    getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
  };
}

/** Called once the host has taken the last chunk. */
let taken: () => void = () => undefined;

function sendChunk(chunk: Uint8Array): Promise<void> {
  report({ kind: 'chunk', chunk });
  return new Promise((resolve) => {
    taken = resolve;
  });
}

/** Does something and reports how it ended. @param work gives the payload */
async function reportEnd(work: () => Promise<string>): Promise<void> {
  try {
    report({ kind: 'succeeded', payload: await work() });
  } catch (error) {
    console.error(error);
    report({ kind: 'failed', failure: failureOf(error) });
  }
}

async function buffered(handler: Handler, invocation: Invocation): Promise<string> {
  const result = await handler(JSON.parse(invocation.event), contextOf(invocation));
  return JSON.stringify(result) ?? 'null';
}

async function streamed(handler: Handler, invocation: Invocation): Promise<string> {
  const stream = new ResponseStream(sendChunk);
  try {
    const result = handler(JSON.parse(invocation.event), stream, contextOf(invocation));
    if (!(result instanceof Promise)) throw new TypeError('Streaming does not support non-async handlers.');
    await result;
    // A handler may leave before its stream does.
    await finished(stream);
    return '';
  } finally {
    // Nothing that is left of it may get into the next answer.
    stream.destroy();
  }
}

await reportEnd(async () => {
  Object.assign(globalThis, { awslambda });
  const handler = await loadHandler();
  const answer = isStreaming(handler) ? streamed : buffered;
  parentPort?.on('message', (message: HostMessage) => {
    if (message.kind === 'taken') taken();
    else void reportEnd(() => answer(handler, message.invocation));
  });
  return '';
});
