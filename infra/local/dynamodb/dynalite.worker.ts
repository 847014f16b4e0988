import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { Level } from 'level';
import * as v from 'valibot';
import { createEngineServer } from './engine-server.ts';

/** Runs the embedded DynamoDB engine in a thread of its own, so that its work does not hold up the gateway. */

export interface DynaliteSettings {
  /** Folder of the store; in memory without one. */
  readonly folder: string | undefined;
  readonly callPath: string;
}

export type DynaliteMessage =
  { readonly kind: 'listening'; readonly port: number } | { readonly kind: 'failed'; readonly reason: string };

const settings: DynaliteSettings = workerData;

function report(message: DynaliteMessage): void {
  parentPort?.postMessage(message);
}

const unfinishedSchema = v.looseObject({ TableStatus: v.literal('CREATING') });

/** The engine opens its store late and hides why it cannot, so that is found out before. */
async function checkStore(folder: string): Promise<string | undefined> {
  // LevelDB would begin an empty store in its place.
  const hasStore = readdirSync(folder).some((name) => /^MANIFEST-|\.(?:ldb|log)$/.test(name));
  if (hasStore && !existsSync(join(folder, 'CURRENT'))) return 'Corruption: its store has no file CURRENT';
  const store = new Level<string, unknown>(folder, { valueEncoding: 'json' });
  try {
    await store.open();
    await dropUnfinishedTables(store);
    await store.close();
    return undefined;
  } catch (error) {
    return reasonOfLevelFailure(error);
  }
}

/**
 * Forgets tables that a host was creating when it was killed. The engine would take them for unfinished for good, and
 * neither use nor delete them; nothing can be in them.
 */
async function dropUnfinishedTables(store: Level<string, unknown>): Promise<void> {
  for await (const [key, table] of store.iterator({ gte: 'table~', lt: 'table~\u00ff' })) {
    if (v.is(unfinishedSchema, table)) await store.del(key, { sync: true });
  }
}

/** Why a LevelDB store cannot be used, for the user of the host. */
function reasonOfLevelFailure(error: unknown): string {
  const failure = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(failure instanceof Error)) return String(failure);
  return 'code' in failure && failure.code === 'LEVEL_LOCKED' ? 'another host is running on it' : failure.message;
}

function serve(): void {
  const server = createEngineServer(settings);
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    if (address !== null && typeof address === 'object') report({ kind: 'listening', port: address.port });
  });
  parentPort?.on('message', () => {
    server.close(() => process.exit());
    server.closeAllConnections();
  });
}

const reason = settings.folder === undefined ? undefined : await checkStore(settings.folder);
if (reason === undefined) serve();
else report({ kind: 'failed', reason });
