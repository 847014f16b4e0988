import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { Command } from 'commander';

/** `npm test`: everything that a change must pass. The checks run beside Jest; one that fails ends it. */
const checks = ['format:check', 'typecheck', 'lint', 'spell'];

new Command('npm test --')
  .description(`Runs everything that a change must pass: ${checks.join(', ')} and jest.`)
  .argument('[words...]', 'for Jest, such as a directory of suites')
  .allowUnknownOption()
  .addHelpText('after', '\nExample:\n  npm test')
  .action(async (words: readonly string[]) => {
    const jest = spawn('npm', ['run', 'jest', '--', ...words], { stdio: 'inherit' });
    const ended = once(jest, 'close');
    const passed = await Promise.all(checks.map(check));
    const failed = checks.filter((_, index) => !passed[index]);
    if (failed.length > 0) jest.kill();
    const [exitCode] = await ended;
    if (failed.length > 0) process.stderr.write(`\nFailed: ${failed.join(', ')}\n`);
    process.exitCode = failed.length === 0 && exitCode === 0 ? 0 : 1;
  })
  .parse();

/** Prints all output of a check once it has ended, not mixed with another's. @returns whether it passed */
async function check(script: string): Promise<boolean> {
  const child = spawn('npm', ['run', script], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  process.stdout.write(stdout + stderr);
  return exitCode === 0;
}
