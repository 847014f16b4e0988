import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { AdminError } from '../failures.ts';

/** Runs a program, whose output is that of this command. @throws AdminError if it fails, with what that means and what helps */
export async function run(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  failure: () => string | Promise<string> = () => 'The cause is above. Nothing was deployed.',
): Promise<void> {
  process.stdout.write(`Run: ${program} ${args.join(' ')}\n`);
  const [status] = await once(spawn(program, args, { stdio: 'inherit', env: { ...process.env, ...env } }), 'exit');
  if (status !== 0) throw new AdminError(`Failed: ${program} ${args[0]}. ${await failure()}`);
}
