import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { makeFolder, unusable } from '../data-folder.ts';
import type { DynaliteMessage, DynaliteSettings } from './dynalite.worker.ts';

/** Room for short-lived objects. By default V8 lets it grow with the traffic. */
const YOUNG_GENERATION_MEGABYTES = 8;

/** A DynamoDB engine that the host uses. */
export interface Engine {
  /** Its address, as an AWS endpoint. */
  readonly endpoint: URL;
  close(): Promise<void>;
}

/** An engine that runs elsewhere, such as DynamoDB Local. */
export function externalEngine(endpoint: URL): Engine {
  return { endpoint, close: () => Promise.resolve() };
}

/**
 * Starts the embedded engine (dynalite) on a port of its own, reachable from this machine only. Its address has a secret
 * in it, so that only callers that have it from the host can call it.
 *
 * @param folder where it keeps its data; in memory without one
 * @throws HostError where the folder cannot be used
 */
export async function startEmbeddedEngine(folder: string | undefined): Promise<Engine> {
  const callPath = `/${randomBytes(32).toString('hex')}/`;
  const storeFolder = folder === undefined ? undefined : makeFolder(folder, 'dynamodb');
  const settings: DynaliteSettings = { folder: storeFolder, callPath };
  const worker = new Worker(new URL('dynalite.worker.ts', import.meta.url), {
    workerData: settings,
    env: { ...process.env, ...compileCache() },
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MEGABYTES },
  });
  const [message]: DynaliteMessage[] = await once(worker, 'message');
  if (message?.kind !== 'listening') {
    await worker.terminate();
    throw unusable(folder ?? 'in memory', message?.reason ?? 'the engine gave no reason');
  }
  // dynalite throws what its store cannot read or write. Without its database the host cannot go on.
  worker.on('error', (error: Error) => {
    throw unusable(folder ?? 'in memory', error.message);
  });
  return { endpoint: new URL(callPath, `http://127.0.0.1:${message.port}`), close: () => closeWorker(worker) };
}

/** Where the thread finds what Node.js has made of its sources, so that it loads no compiler: 11 MB less. */
function compileCache(): Record<string, string> {
  // Below the folder, each version of Node.js has one of its own.
  const ofThisVersion = getCompileCacheDir();
  return ofThisVersion === undefined ? {} : { NODE_COMPILE_CACHE: dirname(ofThisVersion) };
}

async function closeWorker(worker: Worker): Promise<void> {
  const exit = once(worker, 'exit');
  worker.postMessage('close');
  await exit;
}
