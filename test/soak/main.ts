import { parseArgs } from 'node:util';
import type { Tamper } from '../model/virtual-dynamodb.ts';
import { type Model, models } from './models.ts';

const { values } = parseArgs({
  options: {
    model: { type: 'string' },
    seeds: { type: 'string' },
    first: { type: 'string', default: '1' },
    seed: { type: 'string' },
    broken: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const help = `Usage: npm run soak -- [options]

Runs rounds of each model, which look for what no single test would find. It ends with the first that fails, and its seed.

  --model NAME  only this one:
${Object.entries(models)
  .map(([name, { title, seeds }]) => `                  ${name.padEnd(8)} ${title} (${seeds} rounds)`)
  .join('\n')}
  --seeds N     so many rounds of each
  --first S     the first seed (default: 1)
  --seed S      one round with this seed
  --broken      puts each known fault into limiter and updates: the models must find it
  --help        this text
`;

if (values.help) {
  process.stdout.write(help);
  process.exit(0);
}
const first = wholeNumber(values.seed ?? values.first);
for (const name of values.model === undefined ? Object.keys(models) : [values.model]) {
  const model = models[name];
  if (!model) fail(`There is no model ${name}. The models are ${Object.keys(models).join(', ')}.`);
  else if (values.broken) await findEachFault(name, model);
  else await soak(name, model);
}

/** Rounds that a model is to run. */
function roundsOf({ seeds }: Model): number {
  if (values.seed !== undefined) return 1;
  return values.seeds === undefined ? seeds : wholeNumber(values.seeds);
}

/** Runs all schedules, and ends with the first that fails. */
async function soak(name: string, model: Model): Promise<void> {
  const totals: Record<string, number> = {};
  const failure = await firstFailure(model, undefined, (counts) => {
    for (const [what, times] of Object.entries(counts)) totals[what] = (totals[what] ?? 0) + times;
  });
  if (failure) {
    const replay = `Replay it with npm run soak -- --model ${name} --seed ${failure.seed}`;
    fail(
      [`The model of ${name} fails with seed ${failure.seed}:`, ...failure.violations.slice(0, 10), replay].join('\n'),
    );
  }
  const told = Object.entries(totals).map(([what, times]) => `${times} ${what}`);
  process.stdout.write(`${name}: ${roundsOf(model)} schedules, ${told.join(', ')}\n`);
}

async function findEachFault(name: string, model: Model): Promise<void> {
  for (const [fault, tamper] of Object.entries(model.broken)) {
    const failure = await firstFailure(model, tamper, () => undefined);
    if (!failure) fail(`The model of ${name} does not see within ${roundsOf(model)} schedules that ${fault}.`);
    process.stdout.write(`${name}: seed ${failure?.seed} shows that ${fault}: ${failure?.violations[0]}\n`);
  }
}

interface Failure {
  readonly seed: number;
  readonly violations: readonly string[];
}

async function firstFailure(
  model: Model,
  tamper: Tamper | undefined,
  note: (counts: Readonly<Record<string, number>>) => void,
): Promise<Failure | undefined> {
  for (let seed = first; seed < first + roundsOf(model); seed++) {
    const { violations, counts } = await model.run(seed, tamper);
    if (violations.length > 0) return { seed, violations };
    note(counts);
  }
  return undefined;
}

function wholeNumber(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number)) fail(`${text} is not a whole number`);
  return number;
}

function fail(message: string): void {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
