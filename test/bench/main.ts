import { arch, cpus, release, type } from 'node:os';
import { markdownTable } from 'markdown-table';
import { benchBundles } from './bundles.ts';
import { benchCapacity } from './capacity.ts';
import { benchClient } from './client.ts';
import { benchColdStarts } from './cold-starts.ts';
import { benchCosts } from './costs.ts';
import type { Figure } from './figure.ts';
import { benchLimiter } from './limiter.ts';
import { benchListing } from './listing.ts';
import { benchLocalHost } from './local-host.ts';
import { benchOnePet } from './one-pet.ts';
import { benchSynthesis } from './synthesis.ts';

/** `npm run bench`: every number that the README states, as a table. Names of parts as arguments run only those. */
const parts: Record<string, () => Figure[] | Promise<Figure[]>> = {
  bundles: benchBundles,
  capacity: benchCapacity,
  client: benchClient,
  'cold-starts': benchColdStarts,
  costs: benchCosts,
  limiter: benchLimiter,
  listing: benchListing,
  host: benchLocalHost,
  onePet: benchOnePet,
  synthesis: benchSynthesis,
};

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(parts);
const figures: Figure[] = [];
for (const name of names) {
  const part = parts[name];
  if (!part) {
    process.stderr.write(`There is no part ${name}. The parts are ${Object.keys(parts).join(', ')}.\n`);
    process.exit(1);
  }
  process.stderr.write(`Measuring ${name} …\n`);
  figures.push(...(await part()));
}

const verdict = ({ met }: Figure): string => (met === undefined ? '' : met ? 'met' : 'missed');
const rows = figures.map((figure) => [figure.what, figure.measured, figure.target, verdict(figure)]);
const machine = `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? arch()}, ${type()} ${release()}`;
process.stdout.write(`${markdownTable([['figure', 'measured', 'target', ''], ...rows])}\n\n${machine}\n`);
process.exit(0);
