import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import * as v from 'valibot';
import { AdminError, reasonOf } from '../failures.ts';
import type { AnyStageName } from '../stages.ts';
import { run } from './run.ts';

const output = promisify(execFile);

export const outputsSchema = v.record(v.string(), v.string());
type Outputs = v.InferOutput<typeof outputsSchema>;

const keySchema = v.object({ id: v.string(), token: v.string() });

const admin = (stage: AnyStageName, ...words: string[]) => {
  const args = ['infra/admin/main.ts', 'keys', ...words, '--stage', stage, '--json'];
  return output('node', args, { env: process.env }).catch((error: unknown) => {
    throw new AdminError(reasonOf(error));
  });
};

/**
 * Runs the smoke test with a key that is revoked afterwards, and that expires if this command is killed.
 *
 * @param outputs addresses of API Gateway and CloudFront, which work before custom domains; `advice` for a failure
 */
export async function smokeTest(stage: AnyStageName, outputs: Outputs, advice: string): Promise<void> {
  const { stdout } = await admin(stage, 'create', '--name', 'smoke', '--plan', 'pro', '--expires', '2h');
  const { id, token } = v.parse(keySchema, JSON.parse(stdout));
  const { GatewayUrl = '', CloudFrontUrl: page } = outputs;
  const args = ['test/smoke/main.ts', '--url', GatewayUrl, ...(page === undefined ? ['--no-page'] : ['--page', page])];
  if (stage === 'production') args.push('--read-only');
  const failure = () => `This version stays deployed. ${advice}`;
  try {
    await run('node', args, { PET_STORE_API_KEY: token }, failure);
  } finally {
    // Keep the failure of the smoke test. The key expires by itself.
    await admin(stage, 'revoke', id, '--yes').catch((error: unknown) => {
      process.stderr.write(`The key ${id} of the smoke test was not revoked: ${reasonOf(error)}\n`);
    });
  }
}
