import { parseSmokeOptions, type SmokeOptions } from './options.ts';
import { readingChecks } from './reading-checks.ts';
import { refusalChecks, updateRefusalChecks } from './refusal-checks.ts';
import { type Result, runChecks } from './run-checks.ts';
import { Service } from './service.ts';
import { updatingChecks } from './updating-checks.ts';

/** `npm run smoke`: looks at a deployed service from outside, as its users do. */

const marks = { passed: '✓', failed: '✗', skipped: '–' };

try {
  const options = parseSmokeOptions(process.argv.slice(2), process.env);
  if (options) process.exitCode = (await smoke(options)) ? 0 : 1;
} catch (error) {
  const reason = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${reason.replaceAll('\n', ' ')}\n`);
  process.exitCode = 1;
}

/** @returns whether no check failed */
async function smoke({ url, key, readOnly, json }: SmokeOptions): Promise<boolean> {
  const checks = [
    ...readingChecks,
    ...refusalChecks,
    ...(readOnly ? [] : [...updateRefusalChecks, ...updatingChecks()]),
  ];
  const results: Result[] = [];
  // Whatever a service may send back, the key is not shown.
  const print = (text: string): void => void process.stdout.write(`${text.replaceAll(key, '…')}\n`);
  for await (const result of runChecks(new Service(url, key), checks)) {
    results.push(result);
    if (!json) print(`${marks[result.outcome]} ${result.name}: ${result.seen}`);
  }
  const count = (outcome: Result['outcome']): number => results.filter((result) => result.outcome === outcome).length;
  const [passed, failed, skipped] = [count('passed'), count('failed'), count('skipped')];
  if (json) print(JSON.stringify({ url, passed, failed, skipped, checks: results }));
  else print(`\n${url}: ${passed} passed, ${failed} failed, ${skipped} skipped`);
  return failed === 0;
}
