import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Command, InvalidArgumentError, Option } from 'commander';
import { faultsOfKeys, faultsOfLimiter, plant } from '../model/planted-faults.ts';

interface Outcome {
  readonly violations: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
}

interface Model {
  readonly title: string;
  /** Rounds, and those of `--small`. One in virtual time takes milliseconds, one of a real host some seconds. */
  readonly seeds: number;
  readonly small: number;
  /** Runs one round, and says what was wrong in it, and how often what happened. */
  readonly run: (seed: number, isSmall: boolean) => Promise<Outcome>;
}

/** What runs is loaded once a fault is planted in it. */
const models: Readonly<Record<string, Model>> = {
  limiter: {
    title: 'admissions, in virtual time',
    seeds: 10_000,
    small: 40,
    run: async (seed) => {
      const { runLimiter } = await import('../model/limiter-schedule.ts');
      const { violationsOfLimiter } = await import('../model/limiter-check.ts');
      const history = await runLimiter(seed);
      const outcomes = history.requests.map(({ outcome }) =>
        outcome.kind === 'refused' ? outcome.reason : outcome.kind,
      );
      const counts = [...Map.groupBy(outcomes, String)].map(([name, all]) => [name, all.length]);
      return { violations: violationsOfLimiter(history), counts: Object.fromEntries(counts) };
    },
  },
  fuzz: {
    title: 'hostile requests of a local server, with responses as the OpenAPI document says',
    seeds: 25,
    small: 1,
    run: async (seed, isSmall) => (await import('./fuzz.ts')).fuzzRound(seed, isSmall),
  },
};

interface Options {
  readonly model: readonly string[];
  readonly seeds?: number;
  readonly first: number;
  readonly small: boolean;
  readonly keys: boolean;
  readonly broken: boolean;
  readonly every: number;
  readonly planted?: number;
}

const listed = Object.entries(models).map(
  ([name, { title, seeds }]) => `  ${name.padEnd(8)} ${title} (${seeds} rounds)`,
);

const print = (line: string): void => void process.stdout.write(`${line}\n`);

await new Command('npm run soak --')
  .description(
    'Runs rounds of models, which look for what no single test would find. It ends with the first that fails.',
  )
  .addOption(
    new Option('--model <names...>', 'only these').choices(Object.keys(models)).default(Object.keys(models), 'all'),
  )
  .option('--seeds <n>', 'so many rounds of each', wholeNumber)
  .option('--first <seed>', 'the first seed', wholeNumber, 1)
  .option('--small', 'few and small rounds, which show that the models work', false)
  .option(
    '--keys',
    'pairs of admin commands, syncs and edits in the AWS console, each interrupted at every call',
    false,
  )
  .option('--broken', 'plants each known fault in the limiter, or with --keys in keys: the models must find it', false)
  .option('--every <n>', 'every so many of the pairs', wholeNumber, 1)
  .addOption(new Option('--planted <index>', 'one fault of --broken').argParser(wholeNumber).hideHelp())
  .addHelpText('after', `\nModels:\n${listed.join('\n')}\n\nExample:\n  npm run soak -- --model limiter --seeds 100`)
  .allowExcessArguments(false)
  .action(async (options: Options) => {
    try {
      if (options.broken) await findEachFault(options);
      else if (options.keys) await runKeys(options);
      else for (const name of options.model) await runModel(name, options);
      process.exit(0);
    } catch (error) {
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
      process.exit(1);
    }
  })
  .parseAsync();

async function runKeys({ every }: Options): Promise<void> {
  const { exploreKeys } = await import('../model/explore-keys.ts');
  print(`keys: ${await exploreKeys(every)} scenarios`);
}

/** @throws Error where the model fails */
async function runModel(name: string, options: Options): Promise<void> {
  const { rounds, seed, violations, totals } = await firstFailure(name, options);
  const replay = `Replay it with npm run soak -- --model ${name} --first ${seed} --seeds 1`;
  if (violations.length > 0)
    throw new Error([`The model of ${name} fails with seed ${seed}:`, ...violations.slice(0, 10), replay].join('\n'));
  const counts = Object.entries(totals).map(([what, times]) => `${times} ${what}`);
  print(`${name}: ${rounds} schedules, ${counts.join(', ')}`);
}

/** Runs rounds up to the first that fails. @returns what was wrong with it: nothing where none has failed */
async function firstFailure(name: string, { seeds, first, small }: Options) {
  const model = models[name];
  if (!model) throw new Error(`There is no model ${name}`);
  const rounds = seeds ?? (small ? model.small : model.seeds);
  const totals: Record<string, number> = {};
  for (let seed = first; seed < first + rounds; seed++) {
    const { violations, counts } = await model.run(seed, small);
    if (violations.length > 0) return { rounds, seed, violations, totals };
    for (const [what, times] of Object.entries(counts)) totals[what] = (totals[what] ?? 0) + times;
  }
  return { rounds, seed: first, violations: [], totals };
}

/** Runs this command once for each planted fault, in a process with modules of its own. @throws Error if overlooked */
async function findEachFault(options: Options): Promise<void> {
  if (options.planted !== undefined) return findFault(options.planted, options);
  for (const index of (options.keys ? faultsOfKeys : faultsOfLimiter).keys()) {
    const { stdout } = await promisify(execFile)(process.execPath, [...process.argv.slice(1), '--planted', `${index}`]);
    process.stdout.write(stdout);
  }
}

/** @throws Error if it is overlooked */
async function findFault(index: number, options: Options): Promise<void> {
  const ofKeys = options.keys ? faultsOfKeys[index] : undefined;
  const fault = ofKeys ?? faultsOfLimiter[index];
  if (!fault) throw new Error(`There is no fault ${index}`);
  plant(fault);
  const seen = ofKeys
    ? await (await import('../model/explore-keys.ts')).firstBroken(ofKeys.pair)
    : (await firstFailure('limiter', options)).violations[0];
  if (seen === undefined) throw new Error(`No model sees that ${fault.fault}.`);
  print(`${options.keys ? 'keys' : 'limiter'}: that ${fault.fault}, shows in ${seen}`);
}

function wholeNumber(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number.');
}
