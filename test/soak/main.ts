import { Command, InvalidArgumentError } from 'commander';
import { messageOf } from '../../shared/log.ts';

interface Round {
  readonly violations: readonly string[];
  /** Of all requests. */
  readonly outcomes: readonly (string | number)[];
}

const command = new Command('npm run soak --').description(
  'Runs a model, which looks for what no single test would find. It ends with the first failure.',
);

seeded('limiter', 'random schedules of requests and admins, in virtual time', 10_000, async (seed) => {
  const { runLimiter } = await import('../model/limiter-schedule.ts');
  const { violationsOfLimiter } = await import('../model/limiter-check.ts');
  const history = await runLimiter(seed);
  const outcomes = history.requests.map(({ outcome }) => (outcome.kind === 'refused' ? outcome.reason : outcome.kind));
  return { violations: violationsOfLimiter(history), outcomes };
});

seeded('fuzz', 'hostile requests of a local server, whose responses match the OpenAPI document', 60, async (seed) =>
  (await import('./fuzz.ts')).fuzzRound(seed),
);

command
  .command('keys')
  .description('pairs of admin commands, syncs and edits in the AWS console, interrupted at each call')
  .argument('[pair]', 'only this one, such as "move to Pro with rotate"')
  .option('--every <n>', 'every so many of the scenarios', wholeNumber, 1)
  .action(async (pair: string | undefined, { every }: { readonly every: number }) => {
    const { exploreKeys } = await import('../model/explore-keys.ts');
    process.stdout.write(`keys: ${await exploreKeys(every, pair)} scenarios\n`);
  });

await command.parseAsync().catch((error: unknown) => command.error(messageOf(error)));
// A model leaves timers or a virtual clock behind.
process.exit(0);

/** Adds the command of a model that runs rounds, each from a seed. */
function seeded(name: string, description: string, rounds: number, run: (seed: number) => Promise<Round>): void {
  command
    .command(name)
    .description(description)
    .option('--seeds <n>', 'so many rounds', wholeNumber, rounds)
    .option('--first <seed>', 'the first seed', wholeNumber, 1)
    .action(async ({ seeds, first }: { readonly seeds: number; readonly first: number }) => {
      const all: (string | number)[] = [];
      for (let seed = first; seed < first + seeds; seed++) {
        const { violations, outcomes } = await run(seed);
        const replay = `Replay it with npm run soak -- ${name} --first ${seed} --seeds 1`;
        if (violations.length > 0)
          throw new Error(
            [`The model of ${name} fails with seed ${seed}:`, ...violations.slice(0, 10), replay].join('\n'),
          );
        all.push(...outcomes);
      }
      const counts = [...Map.groupBy(all, String)].map(([what, some]) => `${some.length} ${what}`);
      process.stdout.write(`${name}: ${seeds} rounds, ${counts.join(', ')}\n`);
    });
}

function wholeNumber(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number.');
}
