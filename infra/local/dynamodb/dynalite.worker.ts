import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { Level } from 'level';
import * as v from 'valibot';
import type { Grant } from './access.ts';
import { createEngineServer, everything } from './engine-server.ts';

/** Runs the embedded DynamoDB engine in a thread of its own, so that its work does not hold up the gateway. */

export interface DynaliteSettings {
  /** Folder of the store; in memory without one. */
  readonly folder: string | undefined;
  /** By which the host itself calls the engine, and may do everything. */
  readonly callPath: string;
}

/** The first message says the port, or why there is none. */
export type DynaliteMessage = { readonly port: number } | { readonly reason: string };
/** A path, and what may be done by it. */
export type CallerMessage = { readonly path: string; readonly grants: readonly Grant[] };

const { folder, callPath }: DynaliteSettings = workerData;
const callers = new Map([[callPath, everything]]);

function postToHost(message: DynaliteMessage): void {
  parentPort?.postMessage(message);
}

const unfinishedSchema = v.looseObject({ TableStatus: v.literal('CREATING') });

/** The engine opens its store late and hides why it cannot, so that is found out before. */
async function checkStore(path: string): Promise<string | undefined> {
  // LevelDB would begin an empty store in its place.
  const hasStore = readdirSync(path).some((name) => /^MANIFEST-|\.(?:ldb|log)$/.test(name));
  if (hasStore && !existsSync(join(path, 'CURRENT'))) return 'Corruption: its store has no file CURRENT';
  const store = new Level<string, unknown>(path, { valueEncoding: 'json' });
  try {
    await store.open();
    // Tables that a host was creating when it was killed: the engine would take them for unfinished for good, and
    // neither use nor delete them. Nothing can be in them.
    for await (const [key, table] of store.iterator({ gte: 'table~', lt: 'table~\u00ff' })) {
      if (v.is(unfinishedSchema, table)) await store.del(key, { sync: true });
    }
    await store.close();
    return undefined;
  } catch (error) {
    const failure = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    if (!(failure instanceof Error)) return String(failure);
    return 'code' in failure && failure.code === 'LEVEL_LOCKED' ? 'another host is running on it' : failure.message;
  }
}

function serve(): void {
  const server = createEngineServer({ folder, callers });
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

const reason = folder === undefined ? undefined : await checkStore(folder);
if (reason === undefined) serve();
else postToHost({ reason });
