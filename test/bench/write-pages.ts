import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { arch, cpus, release, type } from 'node:os';
import { markdownTable } from 'markdown-table';
import { format as prettify, resolveConfig } from 'prettier';
import { planIds, plans } from '../../shared/keys/plans.ts';
import {
  costOfMix,
  costPerMillion,
  pages,
  priceOf,
  requestsInMonth,
  tableOf,
  totalOf,
  UNKNOWN_KEY,
} from './cost-page.ts';
import { cellsOf, type Figure, format } from './figure.ts';

type Row = (name: string) => readonly string[] | undefined;

/** Where and of what figures are measured. */
export function circumstances(): string {
  const commit = execFileSync('git', ['describe', '--always', '--dirty=, with changes'], { encoding: 'utf8' }).trim();
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? arch()}, ${type()} ${release()}`;
  return `Commit ${commit}, ${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${machine}`;
}

/** Writes the figures of a whole run to their page, and what the pages of costs and attacks compute from them. */
export async function writePages(figures: readonly Figure[]): Promise<void> {
  const usages = new Map(
    figures.flatMap(({ what, usage }) => (usage ? [[what.slice(0, what.lastIndexOf(':')), usage] as const] : [])),
  );
  const costs = new Map([...usages].map(([name, usage]) => [name, costPerMillion(usage)]));
  const totals = new Map([...costs].map(([name, parts]) => [name, totalOf(parts)]));
  const measured = [['figure', 'measured', 'target', ''], ...figures.filter(({ usage }) => !usage).map(cellsOf)];
  const head = ['a request', 'writes', 'reads', 'functions', 'ms', 'bytes of logs', 'bytes of answer'];
  const taken = [...usages].map(([name, usage]) => [name].concat(Object.values(usage).map(formatUsage)));
  const numbers = withSection(pages.numbers.text, 'Figures', `${circumstances()}:\n\n${markdownTable(measured)}`);
  await write('numbers', withSection(numbers, 'What a request takes', markdownTable([head, ...taken])));

  const [update, pet, page] = ['update', 'one pet', 'page of 100 pets'].map((name) => usages.get(name));
  if (!update || !pet || !page) throw new Error('The mix of requests was not measured');
  const mix = costOfMix({ update, pet, page });
  const millions = withRows(pages.costs.text, 'a million', (name) => {
    const parts = costs.get(name);
    return parts && [...Object.values(parts).map(inUSD), `**${inUSD(totalOf(parts))}**`];
  });
  const ofPlan: Row = (name) => {
    const requests = planIds.filter((plan) => plans[plan].title === name).map(requestsInMonth);
    return requests.flatMap((count) => [inUSD(mix), format(count), inUSD((mix * count) / 1_000_000)]);
  };
  await write('costs', withRows(millions, 'plan', ofPlan));
  await write('security', withProducts(pages.security.text, totals));
}

const inUSD = (value: number): string =>
  value.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 });

const formatUsage = (value: number): string =>
  value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 1 : 0 });

async function write(name: keyof typeof pages, text: string): Promise<void> {
  const { file } = pages[name];
  writeFileSync(file, await prettify(text, { ...(await resolveConfig(file)), filepath: file }));
}

/** The page with another text under a heading, up to the next one. */
const withSection = (page: string, heading: string, text: string): string =>
  page.replace(
    new RegExp(String.raw`^(## ${heading}\n)[^]*?(?=^## )`, 'm'),
    (_, title: string) => `${title}\n${text}\n\n`,
  );

/** The page with other cells behind the names in the table whose first column is called so. */
function withRows(page: string, head: string, row: Row): string {
  const names = new Set(tableOf(page, head).keys());
  return page.replaceAll(/^\| (.+?) +\|.*$/gm, (line, name: string) => {
    const cells = names.has(name) ? row(name) : undefined;
    return cells ? `| ${[name, ...cells].join(' | ')} |` : line;
  });
}

/** What a million cost where each takes one write less. */
const withoutWrite = (total: number): number => Number((total - priceOf('a million writes')).toFixed(2));

/** The page of attacks with what a million cost now, where a cost is computed from what a million cost before. */
function withProducts(page: string, totals: ReadonlyMap<string, number>): string {
  const printed = tableOf(pages.costs.text, 'a million');
  const before = new Map([...printed].map(([name, cells]) => [cells.at(-1), totals.get(name)]));
  // A key that is mistyped takes no write.
  const [unknown = NaN] = [...printed].flatMap(([name, cells]) => (name === UNKNOWN_KEY ? cells.slice(-1) : []));
  before.set(withoutWrite(unknown), withoutWrite(totals.get(UNKNOWN_KEY) ?? NaN));
  return page.replaceAll(
    /[\d.,]+( an? (?:hour|day)[^:|\n]*: )([\d,]+)( million)? × (\d+\.\d\d)(?!\d)/g,
    (text, what: string, count: string, unit = '', million: string) => {
      const now = before.get(Number(million));
      if (now === undefined) return text;
      const requests = Number(count.replaceAll(',', '')) / (unit === '' ? 1_000_000 : 1);
      return `${inUSD(requests * Number(inUSD(now)))}${what}${count}${unit} × ${inUSD(now)}`;
    },
  );
}
