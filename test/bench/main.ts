import { arch, cpus, release, type } from 'node:os';
import { Argument, program } from 'commander';
import { format } from 'prettier';
import { benchAttacks } from './attacks.ts';
import { benchCold } from './cold/cold.ts';
import { benchCosts } from './costs.ts';
import type { Figure } from './figure.ts';
import { benchHost } from './host.ts';
import { benchListing } from './listing.ts';
import { benchParsers } from './parsers.ts';
import { benchSize } from './size.ts';

/** `npm run bench`: every number that the README and the docs state, as a table. */
const parts: Record<string, { readonly about: string; readonly run: () => Figure[] | Promise<Figure[]> }> = {
  // That in virtual time first: it is for a process in which nothing else runs.
  attacks: { about: 'what one key that is refused does to the other customers', run: benchAttacks },
  costs: { about: 'what requests take: capacity units, time, log lines, bytes', run: benchCosts },
  parsers: { about: 'what the worst input of each parser takes, beside the longest good one', run: benchParsers },
  cold: { about: 'cold start and first answer of each function', run: benchCold },
  listing: { about: 'time and memory of the list, up to 100,000 pets', run: benchListing },
  host: { about: 'start and memory of the local host', run: benchHost },
  size: { about: 'weight of the repository, beside its budget', run: benchSize },
};

const list = Object.entries(parts).map(([name, { about }]) => `  ${name.padEnd(12)} ${about}`);
program
  .name('npm run bench --')
  .description('Measures what the README and the docs state, and prints it as a table.')
  .addArgument(
    new Argument('[parts...]', 'what to measure').choices(Object.keys(parts)).default(Object.keys(parts), 'all'),
  )
  .addHelpText('after', `\nParts:\n${list.join('\n')}\n\nExample:\n  npm run bench -- size`)
  .parse();

const figures: Figure[] = [];
for (const name of program.processedArgs.flat().map(String)) {
  process.stderr.write(`Measuring ${name} …\n`);
  figures.push(...((await parts[name]?.run()) ?? []));
}

const verdict = ({ met }: Figure): string => (met === undefined ? '' : met ? 'met' : 'missed');
const rows = figures.map((figure) => [figure.what, figure.measured, figure.target, verdict(figure)]);
const machine = `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? arch()}, ${type()} ${release()}`;
const lines = [['figure', 'measured', 'target', ''], ['-', '-', '-', '-'], ...rows].map(
  (row) => `| ${row.join(' | ')} |`,
);
process.stdout.write(`${await format(lines.join('\n'), { parser: 'markdown' })}\n${machine}\n`);
process.exit(0);
