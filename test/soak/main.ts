import { parseArgs } from 'node:util';
import type { Tamper } from '../model/virtual-dynamodb.ts';
import { type Model, models } from './models.ts';

/**
 * `npm run soak -- --seeds N` runs so many schedules of each model in virtual time, from `--first S` on; `--seed S` is
 * one alone. `--model` names one model. With `--broken` each fault that is known by name is put in, and must be found.
 */
const { values } = parseArgs({
  options: {
    model: { type: 'string' },
    seeds: { type: 'string', default: '10000' },
    first: { type: 'string', default: '1' },
    seed: { type: 'string' },
    broken: { type: 'boolean', default: false },
  },
});

const first = wholeNumber(values.seed ?? values.first);
const count = values.seed === undefined ? wholeNumber(values.seeds) : 1;
for (const name of values.model === undefined ? Object.keys(models) : [values.model]) {
  const model = models[name];
  if (!model) fail(`There is no model ${name}. The models are ${Object.keys(models).join(', ')}.`);
  else if (values.broken) await findEachFault(name, model);
  else await soak(name, model);
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
  process.stdout.write(`${name}: ${count} schedules, ${told.join(', ')}\n`);
}

async function findEachFault(name: string, model: Model): Promise<void> {
  for (const [fault, tamper] of Object.entries(model.broken)) {
    const failure = await firstFailure(model, tamper, () => undefined);
    if (!failure) fail(`The model of ${name} does not see within ${count} schedules that ${fault}.`);
    process.stdout.write(`${name}: seed ${failure?.seed} shows that ${fault}: ${failure?.violations[0]}\n`);
  }
}

interface Failure {
  readonly seed: number;
  readonly violations: readonly string[];
}

async function firstFailure(
  { run }: Model,
  tamper: Tamper | undefined,
  note: (counts: Readonly<Record<string, number>>) => void,
): Promise<Failure | undefined> {
  for (let seed = first; seed < first + count; seed++) {
    const { violations, counts } = await run(seed, tamper);
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
