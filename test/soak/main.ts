import { Command, InvalidArgumentError, Option } from 'commander';

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

/** Each is loaded when it runs: the limiter's needs no server. */
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
  /** A pair: only that one. */
  readonly keys?: true | string;
  readonly every: number;
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
    '--keys [pair]',
    'pairs of admin commands, syncs and edits in the AWS console, each interrupted at every call; or one such as "move to Pro with rotate"',
  )
  .option('--every <n>', 'every so many of the pairs', wholeNumber, 1)
  .addHelpText('after', `\nModels:\n${listed.join('\n')}\n\nExample:\n  npm run soak -- --model limiter --seeds 100`)
  .allowExcessArguments(false)
  .action(async (options: Options) => {
    try {
      if (options.keys !== undefined) await runKeys(options.keys, options);
      else for (const name of options.model) await runModel(name, options);
      process.exit(0);
    } catch (error) {
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
      process.exit(1);
    }
  })
  .parseAsync();

async function runKeys(keys: true | string, { every }: Options): Promise<void> {
  const { exploreKeys } = await import('../model/explore-keys.ts');
  print(`keys: ${await exploreKeys(every, keys === true ? undefined : keys)} scenarios`);
}

/** Runs rounds. @throws Error at the first that fails */
async function runModel(name: string, { seeds, first, small }: Options): Promise<void> {
  const model = models[name];
  if (!model) throw new Error(`There is no model ${name}`);
  const rounds = seeds ?? (small ? model.small : model.seeds);
  const totals: Record<string, number> = {};
  for (let seed = first; seed < first + rounds; seed++) {
    const { violations, counts } = await model.run(seed, small);
    const replay = `Replay it with npm run soak -- --model ${name} --first ${seed} --seeds 1`;
    if (violations.length > 0)
      throw new Error([`The model of ${name} fails with seed ${seed}:`, ...violations.slice(0, 10), replay].join('\n'));
    for (const [what, times] of Object.entries(counts)) totals[what] = (totals[what] ?? 0) + times;
  }
  const counts = Object.entries(totals).map(([what, times]) => `${times} ${what}`);
  print(`${name}: ${rounds} schedules, ${counts.join(', ')}`);
}

function wholeNumber(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number.');
}
