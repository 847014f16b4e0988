import { readdirSync } from 'node:fs';
import { basename, dirname, relative } from 'node:path';
import {
  type AggregatedResult,
  type Reporter,
  type Test,
  type TestContext,
  type TestResult,
  utils,
} from '@jest/reporters';

interface Directory {
  suites: number;
  passed: number;
  failed: number;
}

/**
 * Prints a line for each directory once its suites have ended, a line for each failure, the failures in full, and how
 * many there were: a hook that fails is one. Then the slowest suites.
 */
export default class Progress implements Pick<Reporter, 'onTestResult' | 'onRunComplete'> {
  readonly #directories = new Map<string, Directory>();
  readonly #failures: string[] = [];

  onTestResult({ path, context }: Test, { testResults, testExecError, numPassingTests }: TestResult): void {
    const file = relative(context.config.rootDir, path);
    const directory = this.#directories.get(dirname(file)) ?? { suites: suitesIn(dirname(path)), passed: 0, failed: 0 };
    this.#directories.set(dirname(file), directory);
    // A hook that fails reports the same failure for each of its tests.
    const failures = new Map<string, string[]>();
    for (const { fullName, failureMessages } of testResults)
      for (const message of failureMessages) failures.set(message, [...(failures.get(message) ?? []), fullName]);
    if (testExecError) failures.set(testExecError.stack || testExecError.message, ['The suite does not run']);
    for (const [message, [name, ...others]] of failures) {
      const more = others.length > 0 ? ` (and ${others.length} more)` : '';
      print(`✗ ${file}: ${name}${more}`);
      // Lines of the stack that are Jest's own say nothing.
      this.#failures.push(`${file}: ${name}${more}\n${message.replaceAll(/\n +at .*node_modules.*/g, '')}`);
    }
    directory.suites -= 1;
    directory.passed += numPassingTests;
    directory.failed += failures.size;
    if (directory.suites === 0) this.#end(dirname(file), directory);
  }

  onRunComplete(_: Set<TestContext>, results: AggregatedResult): void {
    for (const [name, directory] of this.#directories) if (directory.suites > 0) this.#end(name, directory);
    for (const failure of this.#failures) print(`\n✗ ${failure}`);
    const numTotalTests = results.numTotalTests - results.numFailedTests + this.#failures.length;
    print(`\n${utils.getSummary({ ...results, numFailedTests: this.#failures.length, numTotalTests })}`);
    print(`Slowest: ${slowestOf(results.testResults).join(', ')}`);
  }

  #end(name: string, { passed, failed }: Directory): void {
    print(`${failed > 0 ? '✗' : '✓'} ${name}: ${passed} passed${failed > 0 ? `, ${failed} failed` : ''}`);
  }
}

function slowestOf(results: readonly TestResult[]): string[] {
  const slowestFirst = results.toSorted((a, b) => b.perfStats.runtime - a.perfStats.runtime).slice(0, 10);
  return slowestFirst.map(
    ({ testFilePath, perfStats }) => `${basename(testFilePath, '.test.ts')} ${Math.round(perfStats.runtime / 1_000)} s`,
  );
}

const suitesIn = (directory: string): number =>
  readdirSync(directory).filter((name) => name.endsWith('.test.ts')).length;

const print = (line: string): void => void process.stdout.write(`${line}\n`);
