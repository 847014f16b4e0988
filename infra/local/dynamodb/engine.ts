import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { compileCache } from '../compile-cache.ts';
import { holdFolder, makeFolder, openDataFolder, stateFile, unusable } from '../data-folder.ts';
import type { Grant } from './access.ts';
import type { CallerMessage, DynaliteMessage, DynaliteSettings } from './dynalite.worker.ts';

/** A DynamoDB engine that the host uses. */
export interface Engine {
  /** Its address, as an AWS endpoint. */
  readonly endpoint: URL;
  /** Whether it is a part of this host, and ends with it. */
  readonly isEmbedded: boolean;
  /** The address for a caller that may do only what it is granted. Only the embedded engine enforces that. */
  endpointFor(caller: string, grants: readonly Grant[]): URL;
  close(): Promise<void>;
}

/** What the host keeps where. */
export interface DataOptions {
  /** Folder that keeps data and logs; in memory without one. */
  readonly dataFolder: string | undefined;
  /** A DynamoDB engine to use instead of the embedded one. */
  readonly dynamodb?: URL | undefined;
}

/** Starts the engine of a host, or uses another. @throws HostError where the folder cannot be used */
export async function openEngine({ dataFolder, dynamodb }: DataOptions): Promise<Engine> {
  if (dataFolder !== undefined) openDataFolder(dataFolder);
  if (!dynamodb) return startEmbeddedEngine(dataFolder);
  const engine = externalEngine(dynamodb);
  if (dataFolder === undefined) return engine;
  const held = await holdFolder(dataFolder);
  return { ...engine, close: () => held.close() };
}

/** An engine that runs elsewhere, such as DynamoDB Local. */
export function externalEngine(endpoint: URL): Engine {
  return { endpoint, isEmbedded: false, endpointFor: () => endpoint, close: () => Promise.resolve() };
}

/**
 * Starts the embedded engine (dynalite) on a port of its own, reachable from this machine only. Its address has a
 * secret in it, so that only callers that have it from the host can call it.
 *
 * @param folder where it keeps its data; in memory without one
 * @throws HostError where the folder cannot be used
 */
export async function startEmbeddedEngine(folder: string | undefined): Promise<Engine> {
  const settings: DynaliteSettings = {
    folder: folder === undefined ? undefined : makeFolder(folder, 'dynamodb'),
    mustExist: folder !== undefined && existsSync(stateFile(folder)),
    callPath: `/${randomBytes(32).toString('hex')}/`,
  };
  const worker = new Worker(new URL('dynalite.worker.ts', import.meta.url), {
    workerData: settings,
    env: compileCache(),
    // By default V8 lets the room for short-lived objects grow with the traffic.
    resourceLimits: { maxYoungGenerationSizeMb: 8 },
  });
  const [message]: DynaliteMessage[] = await once(worker, 'message');
  if (!message || 'reason' in message) {
    await worker.terminate();
    throw unusable(folder ?? 'in memory', message?.reason ?? 'the engine gave no reason');
  }
  // dynalite throws what its store cannot read or write. Without its database the host cannot go on.
  worker.on('error', (error: Error) => {
    throw unusable(folder ?? 'in memory', error.message);
  });
  const endpoint = new URL(settings.callPath, `http://127.0.0.1:${message.port}`);
  return {
    endpoint,
    isEmbedded: true,
    endpointFor: (caller, grants) => {
      const url = new URL(`${caller}/`, endpoint);
      const granted: CallerMessage = { path: url.pathname, grants };
      worker.postMessage(granted);
      return url;
    },
    close: async () => {
      // Calls that are still under way throw that the store is closed. Nobody waits for them.
      worker.removeAllListeners('error').on('error', () => undefined);
      const exit = new Promise((resolve) => worker.once('exit', resolve));
      worker.postMessage('close');
      await exit;
    },
  };
}
