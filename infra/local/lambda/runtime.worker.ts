import { createRequire } from 'node:module';
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import type { Context } from 'aws-lambda';
import type { EnvironmentMessage, EnvironmentSettings, FunctionFailure, Invocation } from './invocation.ts';

/** The Node.js runtime of an execution environment: loads the bundle once, then runs one event at a time. */

type Handler = (event: unknown, context: Context) => unknown;

const settings: EnvironmentSettings = workerData;

function report(message: EnvironmentMessage): void {
  parentPort?.postMessage(message);
}

function failureOf(error: unknown): FunctionFailure {
  return error instanceof Error
    ? { errorType: error.name, errorMessage: error.message }
    : { errorType: typeof error, errorMessage: String(error) };
}

function loadHandler(): Handler {
  const [file = '', name = ''] = settings.handler.split('.');
  const load = createRequire(join(settings.codeFolder, 'index.js'));
  const handler: unknown = load(join(settings.codeFolder, file))[name];
  if (!isHandler(handler)) throw new TypeError(`${settings.handler} is undefined or not exported`);
  return handler;
}

function isHandler(value: unknown): value is Handler {
  return typeof value === 'function';
}

function contextOf({ requestId, deadline }: Invocation): Context {
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
    done: unsupported,
    fail: unsupported,
    succeed: unsupported,
  };
}

function unsupported(): never {
  throw new Error('The Node.js 24 runtime has no callbacks: return a promise');
}

async function run(handler: Handler, invocation: Invocation): Promise<void> {
  try {
    const result = await handler(JSON.parse(invocation.event), contextOf(invocation));
    report({ kind: 'succeeded', payload: JSON.stringify(result) ?? 'null' });
  } catch (error) {
    console.error(error);
    report({ kind: 'failed', failure: failureOf(error) });
  }
}

try {
  const handler = loadHandler();
  parentPort?.on('message', (invocation: Invocation) => void run(handler, invocation));
  report({ kind: 'ready' });
} catch (error) {
  console.error(error);
  report({ kind: 'initFailed', failure: failureOf(error) });
}
