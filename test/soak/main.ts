import { execFile } from 'node:child_process';
import { parseArgs, promisify } from 'node:util';
import { faultsOfKeys, plant } from '../model/planted-faults.ts';
import type { Tamper } from '../model/virtual-table.ts';
import { type Model, models } from './models.ts';

const { values } = parseArgs({
  options: {
    model: { type: 'string', multiple: true, default: Object.keys(models) },
    seeds: { type: 'string' },
    small: { type: 'boolean', default: false },
    first: { type: 'string', default: '1' },
    seed: { type: 'string' },
    broken: { type: 'boolean', default: false },
    keys: { type: 'boolean', default: false },
    every: { type: 'string', default: '1' },
    planted: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

const help = `Usage: npm run soak -- [options]

Runs rounds of each model, which look for what no single test would find. It ends with the first that fails, and its seed.

  --model NAME  only this one; may be given several times:
${Object.entries(models)
  .map(([name, { title, seeds }]) => `                  ${name.padEnd(8)} ${title} (${seeds} rounds)`)
  .join('\n')}
  --seeds N     so many rounds of each
  --small       few and small rounds, which show that the models work
  --first S     the first seed (default: 1)
  --seed S      one round with this seed
  --broken      puts each known fault into the limiter, or into keys: the models must find it
  --keys        runs pairs of admin commands, syncs and edits in the AWS console instead, each stopped, ended with -9,
                late or without an answer at every call
  --every N     every so many of these, and with --broken every so many of the faults
  --help        this text

Example:
  npm run soak -- --model limiter --seeds 100
`;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

try {
  if (values.help) print(help.trimEnd());
  else if (values.keys) await runKeys();
  else for (const name of values.model) await runModel(name);
  process.exit(0);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}

/** Runs this command once for each planted fault, in a process with modules of its own. @throws Error if overlooked */
async function runPlanted(indexes: readonly number[]): Promise<void> {
  for (const index of indexes) {
    const options = [...process.argv.slice(1), '--planted', String(index)];
    const { stdout } = await promisify(execFile)(process.execPath, options);
    process.stdout.write(stdout);
  }
}

/** @throws Error if a rule is broken or a fault overlooked */
async function runKeys(): Promise<void> {
  if (values.broken && values.planted === undefined) return runPlanted([...faultsOfKeys.keys()].filter(isChosen));
  const fault = faultsOfKeys[Number(values.planted)];
  if (fault) plant(fault);
  const { exploreKeys, firstBroken } = await import('../model/explore-keys.ts');
  if (!fault) return print(`keys: ${await exploreKeys(wholeNumber(values.every))} scenarios`);
  const broken = await firstBroken(fault.pair);
  if (broken === undefined) throw new Error(`The model of keys does not see that ${fault.fault}.`);
  print(`keys: that ${fault.fault}, shows in ${broken}`);
}

/** Of a list, by `--every`. */
function isChosen(_: unknown, index: number): boolean {
  return index % wholeNumber(values.every) === 0;
}

/** @throws Error where the model fails, or overlooks a fault that was put into it */
async function runModel(name: string): Promise<void> {
  const model = models[name];
  if (!model) throw new Error(`There is no model ${name}. The models are ${Object.keys(models).join(', ')}.`);
  const first = wholeNumber(values.seed ?? values.first);
  const rounds =
    values.seed === undefined ? wholeNumber(values.seeds ?? String(values.small ? model.small : model.seeds)) : 1;
  const { broken = {}, planted = [] } = model;
  const mustFind = async (fault: string, tamper?: Tamper): Promise<void> => {
    const { seed, violations } = await firstFailure(model, first, rounds, tamper);
    const [violation] = violations;
    if (violation === undefined)
      throw new Error(`The model of ${name} does not see within ${rounds} schedules that ${fault}.`);
    print(`${name}: seed ${seed} shows that ${fault}: ${violation}`);
  };
  const fault = planted[Number(values.planted)];
  if (fault) {
    plant(fault);
    return mustFind(fault.fault);
  }
  if (values.broken) {
    for (const [what, tamper] of Object.entries(broken).filter(isChosen)) await mustFind(what, tamper);
    return runPlanted([...planted.keys()]);
  }
  const { seed, violations, totals } = await firstFailure(model, first, rounds);
  const replay = `Replay it with npm run soak -- --model ${name} --seed ${seed}`;
  if (violations.length > 0)
    throw new Error([`The model of ${name} fails with seed ${seed}:`, ...violations.slice(0, 10), replay].join('\n'));
  const counts = Object.entries(totals).map(([what, times]) => `${times} ${what}`);
  print(`${name}: ${rounds} schedules, ${counts.join(', ')}`);
}

/** Runs rounds up to the first that fails. @returns what was wrong with it: nothing where none has failed */
async function firstFailure(model: Model, first: number, rounds: number, tamper?: Tamper) {
  const totals: Record<string, number> = {};
  for (let seed = first; seed < first + rounds; seed++) {
    const { violations, counts } = await model.run(seed, values.small, tamper);
    if (violations.length > 0) return { seed, violations, totals };
    for (const [what, times] of Object.entries(counts)) totals[what] = (totals[what] ?? 0) + times;
  }
  return { seed: first, violations: [], totals };
}

function wholeNumber(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number)) throw new Error(`${text} is not a whole number`);
  return number;
}
