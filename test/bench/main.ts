import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { arch, cpus, release, type } from 'node:os';
import { Argument, program } from 'commander';
import { markdownTable } from 'markdown-table';
import { benchAttacks } from './attacks.ts';
import { benchCold } from './cold/cold.ts';
import { derivedPages, pages } from './cost-page.ts';
import { benchCosts } from './costs.ts';
import { cellsOf, faultsOf, type Figure, partNames, type Size, worstOf } from './figure.ts';
import { benchHost } from './host.ts';
import { benchListing } from './listing.ts';
import { formatted } from './pages.ts';
import { benchParsers } from './parsers.ts';

interface Part {
  readonly about: string;
  readonly run: (size: Size) => Promise<Figure[]>;
}

/** `npm run bench`: every number that the README and the docs state, as a table. */
const parts: Readonly<Record<(typeof partNames)[number], Part>> = {
  attacks: { about: 'what one key that is refused does to the other customers', run: benchAttacks },
  costs: { about: 'what requests take: capacity units, time, log lines, bytes', run: benchCosts },
  parsers: { about: 'what the worst bodies take to parse, next to the longest good one', run: benchParsers },
  cold: { about: 'cold start and first response of each function', run: benchCold },
  host: { about: 'start and memory of the local server', run: benchHost },
  listing: { about: 'time and memory of the list, up to 100,000 pets', run: benchListing },
};

const list = Object.entries(parts).map(([name, { about }]) => `  ${name.padEnd(12)} ${about}`);
const { write, derive, small } = program
  .name('npm run bench --')
  .description('Measures what the docs state, and prints it as a table.')
  .addArgument(new Argument('[parts...]', 'what to measure').choices(partNames).default([...partNames], 'all'))
  .option('--write', 'measures all, and writes docs/numbers.md and what other pages take from it')
  .option('--derive', 'measures nothing, and writes what other pages compute from docs/numbers.md and the prices')
  .option('--small', 'one small round of each part, which fails where a part does not work: no figure to go by')
  .addHelpText('after', `\nParts:\n${list.join('\n')}\n\nExample:\n  npm run bench -- listing`)
  .parse()
  .opts<{ readonly write?: true; readonly derive?: true; readonly small?: true }>();
if (write && (small || program.args.length > 0)) program.error('error: --write measures all of every part');
if (derive) {
  await writeDerivedPages();
  process.exit(0);
}

const size = small ? 'small' : 'whole';
const figures: Figure[] = [];
for (const name of partNames.filter((each) => program.processedArgs.flat().includes(each))) {
  process.stderr.write(`Measuring ${name} …\n`);
  figures.push(...(await parts[name].run(size)));
}
const faults = faultsOf(figures);
const rows = figures.map(cellsOf);
process.stdout.write(`${markdownTable([['figure', 'measured', 'target', ''], ...rows])}\n`);
if (size === 'whole') process.stdout.write(`\n${circumstances()}\n`);
for (const fault of faults) process.stderr.write(`${fault}\n`);
if (write && faults.length === 0) await writePages(figures);
process.exit(faults.length === 0 ? 0 : 1);

function circumstances(): string {
  const commit = execFileSync('git', ['describe', '--always', '--dirty=, with changes'], { encoding: 'utf8' }).trim();
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? arch()}, ${type()} ${release()}`;
  return `Commit ${commit}, ${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${machine}`;
}

/** Writes the figures of a whole run to their page, and what the pages of costs and attacks compute from them. */
async function writePages(all: readonly Figure[]): Promise<void> {
  const results = worstOf(all.filter(({ usage }) => !usage));
  const measured = [['figure', 'measured', 'target', ''], ...results.map(cellsOf)];
  const head = ['request', 'writes', 'reads', 'functions', 'ms', 'log bytes', 'response bytes'];
  const taken = all.flatMap(({ what, usage }) => {
    const cells = usage && Object.values(usage).map(formatUsage);
    return cells ? [[what.slice(0, what.lastIndexOf(':')), ...cells]] : [];
  });
  const { file, text } = pages.numbers;
  const withFigures = withSection(text, 'Results', `${circumstances()}:\n\n${markdownTable(measured)}`);
  const numbers = withSection(withFigures, 'Resource usage per request', markdownTable([head, ...taken]));
  await writeDerivedPages(numbers);
  writeFileSync(file, await formatted(file, numbers));
}

/** Writes the pages of costs and attacks, after a price has changed, say. */
async function writeDerivedPages(numbers = pages.numbers.text): Promise<void> {
  const { costs, security } = await derivedPages(numbers);
  writeFileSync(pages.costs.file, costs);
  writeFileSync(pages.security.file, security);
}

function formatUsage(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 1 : 0 });
}

/** The page with another text under a heading, up to the next one. */
function withSection(page: string, heading: string, text: string): string {
  const section = new RegExp(String.raw`^(## ${heading}\n)[^]*?(?=^## )`, 'm');
  return page.replace(section, (_, title: string) => `${title}\n${text}\n\n`);
}
