import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import * as v from 'valibot';
import { AdminError, reasonOf } from '../admin/admin-error.ts';
import type { AnyStageName } from '../stages.ts';

/** @throws AdminError where it fails */
export async function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<void> {
  process.stdout.write(`Run: ${program} ${args.join(' ')}\n`);
  const [status] = await once(spawn(program, args, { stdio: 'inherit', env: { ...process.env, ...env } }), 'exit');
  if (status !== 0) throw new AdminError(`Failed: ${program} ${args[0]}. The same command goes on from there.`);
}

export const output = promisify(execFile);

const keySchema = v.object({ id: v.string(), key: v.string(), baseUrl: v.string() });
type Key = v.InferOutput<typeof keySchema>;

const admin = (stage: AnyStageName, ...words: string[]) =>
  output('node', ['infra/admin/main.ts', 'keys', ...words, '--stage', stage, '--json']).catch((error: unknown) => {
    throw new AdminError(reasonOf(error));
  });

/** A key that ends by itself, should this command be killed. */
export async function issueKey(stage: AnyStageName): Promise<Key> {
  const { stdout } = await admin(stage, 'create', '--name', 'smoke', '--plan', 'pro', '--expires', '2h');
  return v.parse(keySchema, JSON.parse(stdout));
}

export const revokeKey = (stage: AnyStageName, id: string) => admin(stage, 'revoke', id, '--yes');

const smoke = (url: string, readOnly: boolean) => [
  'test/smoke/main.ts',
  '--url',
  url,
  ...(readOnly ? ['--read-only'] : []),
];

export const smokeTest = ({ baseUrl, key }: Key, readOnly: boolean): Promise<void> =>
  run('node', smoke(baseUrl, readOnly), { PET_STORE_API_KEY: key });

/** Reads each minute, so that a canary has requests on a quiet stage too. What comes of them is for the alarms to say. */
export async function sendTraffic({ baseUrl, key }: Key, signal: AbortSignal): Promise<void> {
  const env = { ...process.env, PET_STORE_API_KEY: key };
  while (!signal.aborted) {
    await once(spawn('node', smoke(baseUrl, true), { stdio: 'ignore', env }), 'exit');
    await sleep(60_000, undefined, { signal }).catch(() => undefined);
  }
}
