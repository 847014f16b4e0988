import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { messageOf } from '../../../shared/log.ts';
import { compileCache } from '../compile-cache.ts';
import { hasStore, makeDirectory, openDataDirectory, unusable } from '../data-directory.ts';
import type { Grant } from './access.ts';
import type { CallerMessage, DynaliteMessage, DynaliteSettings } from './dynalite.worker.ts';

/** The DynamoDB engine of a local server. */
export interface Engine {
  /** Its address, as an AWS endpoint. */
  readonly endpoint: URL;
  /** The address for a caller with restricted permissions. */
  endpointFor(caller: string, grants: readonly Grant[]): URL;
  close(): Promise<void>;
}

/**
 * Starts the embedded engine (dynalite) on its own port, reachable from this machine only. Its address contains a
 * secret, so only callers that got it from the server can call it.
 *
 * @param directory the data directory; in memory without one
 * @throws HostError if the directory cannot be used
 */
export async function startEmbeddedEngine(directory: string | undefined): Promise<Engine> {
  if (directory !== undefined) openDataDirectory(directory);
  const store = directory === undefined ? undefined : makeDirectory(directory, 'dynamodb');
  const settings: DynaliteSettings = {
    directory: store,
    mustExist: store !== undefined && hasStore(store),
    callPath: `/${randomBytes(32).toString('hex')}/`,
  };
  const worker = new Worker(new URL('dynalite.worker.ts', import.meta.url), {
    workerData: settings,
    env: compileCache(),
    // By default V8's young generation grows with the traffic.
    resourceLimits: { maxYoungGenerationSizeMb: 8 },
  });
  const [message]: (DynaliteMessage | undefined)[] = await Promise.race([
    once(worker, 'message').catch((error: unknown) => [{ reason: messageOf(error) }]),
    once(worker, 'exit').then(() => []),
  ]);
  if (!message || 'reason' in message) {
    await worker.terminate();
    throw unusable(directory ?? 'in memory', message?.reason ?? 'the engine gave no reason');
  }
  // dynalite throws if its store cannot read or write. Without its database the server cannot continue.
  worker.on('error', (error: Error) => {
    throw unusable(directory ?? 'in memory', error.message);
  });
  const endpoint = new URL(settings.callPath, `http://127.0.0.1:${message.port}`);
  return {
    endpoint,
    endpointFor: (caller, grants) => {
      const url = new URL(`${caller}/`, endpoint);
      const granted: CallerMessage = { path: url.pathname, grants };
      worker.postMessage(granted);
      return url;
    },
    close: async () => {
      // Calls in progress throw that the store is closed. No caller waits for them.
      worker.removeAllListeners('error').on('error', () => undefined);
      const exit = new Promise((resolve) => worker.once('exit', resolve));
      worker.postMessage('close');
      await exit;
    },
  };
}
