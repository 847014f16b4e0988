import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { performance } from 'node:perf_hooks';
import { Command } from 'commander';
import { messageOf } from '../shared/log.ts';
import { TestRun } from './support/test-run.ts';

/** `npm test`: everything that a change must pass. The checks run beside Jest; one that fails ends it. */
const checks = ['format:check', 'typecheck', 'lint', 'spell'];

/** What a change needs while it is made: no browser, bench, models or synthesis, and one engine for the stores. */
const fast = {
  checks: ['typecheck', 'lint'],
  suites: ['test/shared/(?!client|stores/sorted)', 'test/functions/(?!publish)', 'test/infra/reference/document'],
  env: { FAST_TESTS: 'yes' },
};

const jest = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js'];

interface Options {
  readonly fast: boolean;
  readonly suitesOnly: boolean;
}

const command = new Command('npm test --')
  .description(`Runs everything that a change must pass: ${checks.join(', ')} and jest.`)
  .option('--fast', `only ${fast.checks.join(', ')}, and suites without browser, bench, models and synthesis`, false)
  .option('--suites-only', 'only the suites, as npm run jest does', false)
  .argument('[words...]', 'for Jest, such as a directory of suites')
  .allowUnknownOption()
  .addHelpText('after', '\nExample:\n  npm test -- --fast')
  .action(runAll);

await command.parseAsync().catch((error: unknown) => command.error(messageOf(error)));

async function runAll(words: readonly string[], { fast: isFast, suitesOnly }: Options): Promise<void> {
  const run = new TestRun(isFast ? fast.env : {});
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => void run.stop().then(() => process.exit(128 + constants.signals[signal])));
  const seconds: string[] = [];
  const timed = async (name: string, work: Promise<number | null>): Promise<number | null> => {
    const status = await work;
    seconds.push(`${name} ${Math.round(performance.now() / 1_000)} s`);
    return status;
  };
  const args = isFast && words.length === 0 ? fast.suites : words;
  const suites = timed(
    'suites',
    statusOf(run.start(process.execPath, [...jest, ...args], ['ignore', 'inherit', 'inherit'])),
  );
  const chosen = isFast ? fast.checks : checks;
  const statuses = await Promise.all(suitesOnly ? [] : chosen.map((name) => timed(name, check(run, name))));
  const failed = chosen.filter((_, index) => statuses[index] !== 0 && !suitesOnly);
  if (failed.length > 0) await run.stop();
  const exitCode = await suites;
  await run.stop();
  const problems = run.problems();
  if (failed.length > 0) problems.unshift(`Failed: ${failed.join(', ')}`);
  process.stdout.write(`Ended after: ${seconds.join(', ')}\n`);
  for (const problem of problems) process.stderr.write(`\n${problem}\n`);
  process.exitCode = problems.length === 0 && exitCode === 0 ? 0 : 1;
}

async function statusOf(child: ChildProcess): Promise<number | null> {
  await once(child, 'close');
  return child.exitCode;
}

/** Prints all output of a check that has failed, not mixed with another's. @returns its exit status */
async function check(run: TestRun, script: string): Promise<number | null> {
  const child = run.start('npm', ['run', '--silent', script], ['ignore', 'pipe', 'pipe']);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const status = await statusOf(child);
  process.stdout.write(status === 0 ? `✓ ${script}\n` : output);
  return status;
}
