import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../../../shared/log.ts';
import type { Grant } from './access.ts';
import { createEngineServer, everything } from './engine-server.ts';

/** Runs the embedded DynamoDB engine in a separate thread, so it does not block the gateway. */

export interface DynaliteSettings {
  /** Directory of the store; in memory without one. */
  readonly directory: string | undefined;
  readonly mustExist: boolean;
  /** The server's own path to the engine, with all permissions. */
  readonly callPath: string;
}

/** The first message has the port, or the reason of a failure. */
export type DynaliteMessage = { readonly port: number } | { readonly reason: string };
/** A path, and its permissions. */
export type CallerMessage = { readonly path: string; readonly grants: readonly Grant[] };

const { callPath, ...store }: DynaliteSettings = workerData;
const callers = new Map([[callPath, everything]]);

function postToHost(message: DynaliteMessage): void {
  parentPort?.postMessage(message);
}

async function serve(): Promise<void> {
  const server = await createEngineServer({ ...store, callers });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    if (address !== null && typeof address === 'object') postToHost({ port: address.port });
  });
  parentPort?.on('message', (message: CallerMessage | 'close') => {
    if (message !== 'close') return void callers.set(message.path, message.grants);
    server.close(() => process.exit());
    return server.closeAllConnections();
  });
}

await serve().catch((error: unknown) => postToHost({ reason: messageOf(error) }));
