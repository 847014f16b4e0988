import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, globSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { Argument, Command, InvalidArgumentError } from 'commander';
import { formatted, pageAt, tableOf, withRows } from '../bench/pages.ts';
import { messageOf } from '../../shared/log.ts';
import { type Detector, type Mutant, namedMutants, root } from './named-mutants.ts';
import { randomMutants } from './random-mutants.ts';

/** `npm run mutate`: whether the tests notice faults that are planted in the code. */

const NAMED = 'named';
const directories = globSync('shared/*/', { cwd: root }).toSorted();
/** Where the suites are of a directory that has few of its own. */
const suitesOf: Readonly<Record<string, string>> = { 'shared/contract': 'shared/(?:contract|http)' };
/** Of the table on the page of numbers. */
const HEAD = 'directory';
const page = pageAt('numbers.md');
/** The page has the numbers of this sample. */
const EVERY = 6;
/** A change may make a loop endless. */
const TIMEOUT_MS = 300_000;
/** Large, and no part of the code. */
const NOT_COPIED = new Set(['.git', 'cdk.out', 'node_modules']);

/** Changes of a directory, and those that no suite notices. */
interface Count {
  readonly directory: string;
  readonly changes: number;
  readonly live: number;
}

interface Options {
  readonly every: number;
  readonly write?: true;
}

interface Outcome {
  readonly hasFailed: boolean;
  readonly output: string;
}

/** A copy of the project, in which commands run with one mutant each. It is removed when this process ends. */
class MutatedCopy {
  readonly #root = mkdtempSync(join(tmpdir(), 'mutants-'));

  constructor() {
    process.once('exit', () => rmSync(this.#root, { recursive: true, force: true }));
    process.once('SIGINT', () => process.exit(130));
    for (const name of readdirSync(root).filter((each) => !NOT_COPIED.has(each)))
      cpSync(join(root, name), join(this.#root, name), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(this.#root, 'node_modules'));
  }

  /** Runs a script with a mutant. One that does not end in time has failed. */
  async run(args: readonly string[], { file, original, changed }: Mutant): Promise<Outcome> {
    writeFileSync(join(this.#root, file), changed);
    const env = { ...process.env, FAST_TESTS: 'yes' };
    // SIGTERM ends all that the suites have started.
    const child = spawn(process.execPath, args, { cwd: this.#root, env, timeout: TIMEOUT_MS });
    const [output, errors, [exitCode]] = await Promise.all([
      textOf(child.stdout),
      textOf(child.stderr),
      once(child, 'close'),
    ]);
    writeFileSync(join(this.#root, file), original);
    return { hasFailed: exitCode !== 0, output: output + errors };
  }
}

const copy = new MutatedCopy();
const print = (line: string): void => void process.stdout.write(`${line}\n`);

const command = new Command('npm run mutate --')
  .description(
    'Plants faults in a copy of the code: known ones, which a model, the bench or the smoke test must notice; and changes of one operator, number or statement in a directory, which its suites should notice. Fails if they notice fewer than docs/numbers.md says.',
  )
  .addArgument(new Argument('[what...]', 'all by default').choices([NAMED, ...directories]))
  .option('--every <n>', 'every so many of the changes', wholeNumber, EVERY)
  .option('--write', 'write the numbers of all directories to docs/numbers.md')
  .addHelpText('after', '\nExample:\n  npm run mutate -- shared/keys')
  .action(async (what: readonly string[], options: Options) => {
    if (options.write && (what.length > 0 || options.every !== EVERY))
      throw new Error(`--write takes every ${EVERY}th change of all directories: leave out all else.`);
    const isChosen = (name: string): boolean => what.length === 0 || what.includes(name);
    const faults = isChosen(NAMED) ? await overlooked() : [];
    const counts: Count[] = [];
    for (const directory of directories.filter(isChosen)) counts.push(await countOf(directory, options.every));
    if (options.write) await writePage(counts);
    else if (options.every === EVERY) faults.push(...excessOf(counts));
    if (faults.length > 0) throw new Error(faults.join('\n'));
  });

await command.parseAsync().catch((error: unknown) => command.error(messageOf(error)));

function wholeNumber(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number from 1.');
}

/** @returns the named mutants that live */
async function overlooked(): Promise<string[]> {
  const faults: string[] = [];
  for (const mutant of namedMutants()) {
    const { fault, detector } = mutant;
    const seen = await whatIsSeen(detector, mutant);
    if (seen === undefined) faults.push(`Not noticed by ${detector.script.join(' ')}: ${fault}`);
    else print(`${fault}: ${seen}`);
  }
  return faults;
}

/** @returns what a script prints about a mutant; undefined if it does not notice it */
async function whatIsSeen({ script, shows, isFigure }: Detector, mutant: Mutant): Promise<string | undefined> {
  const { hasFailed, output } = await copy.run(script, mutant);
  const [, seen] = shows.exec(output) ?? [];
  if (!isFigure) return hasFailed ? seen : undefined;
  const usual = await copy.run(script, { ...mutant, changed: mutant.original });
  const [after = NaN, before = NaN] = [output, usual.output].map((text) => Number(shows.exec(text)?.[1]));
  return after > 2 * before ? `${after}, not ${before}` : undefined;
}

/** Runs the suites of a directory with each change of a sample. */
async function countOf(directory: string, every: number): Promise<Count> {
  const suites = ['test/run-all.ts', '--suites-only', '--bail', `test/${suitesOf[directory] ?? directory}/`];
  const mutants = randomMutants(directory, every);
  const [first] = mutants;
  if (first && (await copy.run(suites, { ...first, changed: first.original })).hasFailed)
    throw new Error(`The suites of ${directory} fail without a change`);
  let live = 0;
  for (const mutant of mutants) {
    if ((await copy.run(suites, mutant)).hasFailed) continue;
    live += 1;
    print(`Not noticed: ${mutant.file}:${mutant.title}`);
  }
  print(`${directory}: ${live} of ${mutants.length} changes are not noticed`);
  return { directory, changes: mutants.length, live };
}

/** Which directories have more changes that are not noticed than the page says. */
function excessOf(counts: readonly Count[]): string[] {
  const known = tableOf(page.text, HEAD);
  return counts.flatMap(({ directory, live }) => {
    const [, max = 0] = known.get(`\`${directory}\``) ?? [];
    return live > max ? [`${directory}: ${live} changes are not noticed, but ${max} in docs/numbers.md`] : [];
  });
}

async function writePage(counts: readonly Count[]): Promise<void> {
  const numbers = new Map(counts.map(({ directory, changes, live }) => [`\`${directory}\``, [changes, live]]));
  const text = withRows(page.text, HEAD, (name) => (numbers.get(name) ?? []).map(String));
  writeFileSync(page.file, await formatted(page.file, text));
}
