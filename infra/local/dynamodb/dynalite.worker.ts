import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../../../shared/log.ts';
import { createEngineServer, type EngineServerOptions } from './engine-server.ts';

/** Runs the embedded DynamoDB engine in a separate thread, so it does not block the gateway. */

/** A path, and its permissions. */
export type CallerMessage = Parameters<EngineServerOptions['callers']['set']>;

const options: EngineServerOptions = workerData;
const server = await createEngineServer(options).catch((error: unknown) => {
  // Its cause does not reach the other thread.
  throw new Error(messageOf(error));
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => parentPort?.postMessage(server.address()));
parentPort?.on('message', (caller: CallerMessage) => options.callers.set(...caller));
