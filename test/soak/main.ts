import '../model/virtual-time.ts';
import { parseArgs } from 'node:util';
import { models } from './models.ts';

/**
 * `npm run soak -- --seeds N` runs that many schedules of each model in virtual time, `--first S` begins with another
 * seed than 1, `--seed S` replays one. `--model` names one of them, and `--broken` breaks what it tests on purpose.
 */
const { values } = parseArgs({
  options: {
    model: { type: 'string' },
    seeds: { type: 'string', default: '10000' },
    first: { type: 'string', default: '1' },
    seed: { type: 'string' },
    broken: { type: 'string' },
  },
});

const first = wholeNumber('seed' in values ? 'seed' : 'first');
const count = values.seed === undefined ? wholeNumber('seeds') : 1;
const names = values.model === undefined ? Object.keys(models) : [values.model];
for (const name of names) {
  const model = models[name];
  const tamper = values.broken === undefined ? undefined : model?.broken[values.broken];
  if (!model) fail(`There is no model ${name}. The models are ${Object.keys(models).join(', ')}.`);
  else if (values.broken !== undefined && !tamper) fail(`What can be broken: ${Object.keys(model.broken).join(', ')}.`);
  else await soak(name, model, tamper);
}

async function soak(name: string, { run }: (typeof models)[string], tamper: Parameters<typeof run>[1]): Promise<void> {
  const totals: Record<string, number> = {};
  for (let seed = first; seed < first + count; seed++) {
    const { violations, counts } = await run(seed, tamper);
    if (violations.length > 0) {
      fail(`${[`The ${name} model fails with seed ${seed}:`, ...violations.slice(0, 10)].join('\n  ')}
Replay it with npm run soak -- --model ${name} --seed ${seed}`);
    }
    for (const [what, many] of Object.entries(counts)) totals[what] = (totals[what] ?? 0) + many;
  }
  const told = Object.entries(totals).map(([what, many]) => `${many} ${what}`);
  process.stdout.write(`${name}: ${count} schedules, ${told.join(', ')}\n`);
}

function wholeNumber(option: 'seed' | 'seeds' | 'first'): number {
  const number = Number(values[option]);
  if (!Number.isSafeInteger(number)) fail(`--${option} must be a whole number`);
  return number;
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
