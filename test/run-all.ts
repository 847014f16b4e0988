import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { Command } from 'commander';

/** `npm test`: everything that a change must pass. The checks run beside Jest; one that fails ends it. */
const checks = ['format:check', 'typecheck', 'lint', 'spell'];

/** What a change needs while it is made: no browser, bench, models or synthesis, and one engine for the stores. */
const fast = {
  checks: ['typecheck', 'lint'],
  suites: ['test/shared/(?!client|stores/sorted)', 'test/functions/(?!publish)', 'test/infra/reference/document'],
  env: { FAST_TESTS: 'yes' },
};

new Command('npm test --')
  .description(`Runs everything that a change must pass: ${checks.join(', ')} and jest.`)
  .option('--fast', `only ${fast.checks.join(', ')}, and suites without browser, bench, models and synthesis`)
  .argument('[words...]', 'for Jest, such as a directory of suites')
  .allowUnknownOption()
  .addHelpText('after', '\nExample:\n  npm test -- --fast')
  .action(async (words: readonly string[], { fast: isFast = false }: { readonly fast?: boolean }) => {
    const args = isFast && words.length === 0 ? fast.suites : words;
    const env = { ...process.env, ...(isFast && fast.env) };
    const jest = spawn('npm', ['run', '--silent', 'jest', '--', ...args], { stdio: 'inherit', env });
    const ended = once(jest, 'close');
    const chosen = isFast ? fast.checks : checks;
    const passed = await Promise.all(chosen.map(check));
    const failed = chosen.filter((_, index) => !passed[index]);
    if (failed.length > 0) jest.kill();
    const [exitCode] = await ended;
    if (failed.length > 0) process.stderr.write(`\nFailed: ${failed.join(', ')}\n`);
    process.exitCode = failed.length === 0 && exitCode === 0 ? 0 : 1;
  })
  .parse();

/** Prints all output of a check that has failed, not mixed with another's. @returns whether it passed */
async function check(script: string): Promise<boolean> {
  const child = spawn('npm', ['run', '--silent', script], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  process.stdout.write(exitCode === 0 ? `✓ ${script}\n` : stdout + stderr);
  return exitCode === 0;
}
