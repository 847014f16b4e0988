import { spawnSync } from 'node:child_process';
import { Command } from 'commander';

/** `npm test`: everything that a change must pass, up to the first that fails. */
const scripts = ['typecheck', 'lint', 'format:check', 'validate', 'jest'];

new Command('npm test --')
  .description(`Runs everything that a change must pass: ${scripts.join(', ')}.`)
  .argument('[words...]', 'for Jest, such as the folder of some suites')
  .allowUnknownOption()
  .addHelpText('after', '\nExample:\n  npm test')
  .action((words: readonly string[]) => {
    const failed = scripts.find((script) => !passes(script, script === 'jest' ? words : []));
    process.exitCode = failed === undefined ? 0 : 1;
  })
  .parse();

function passes(script: string, words: readonly string[]): boolean {
  return spawnSync('npm', ['run', script, '--', ...words], { stdio: 'inherit' }).status === 0;
}
