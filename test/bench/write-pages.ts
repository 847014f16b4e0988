import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { arch, cpus, release, type } from 'node:os';
import { markdownTable } from 'markdown-table';
import { derivedPages, pages } from './cost-page.ts';
import { cellsOf, type Figure, worstOf } from './figure.ts';
import { formatted } from './pages.ts';

/** Where and of what figures are measured. */
export function circumstances(): string {
  const commit = execFileSync('git', ['describe', '--always', '--dirty=, with changes'], { encoding: 'utf8' }).trim();
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? arch()}, ${type()} ${release()}`;
  return `Commit ${commit}, ${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${machine}`;
}

/** Writes the figures of a whole run to their page, and what the pages of costs and attacks compute from them. */
export async function writePages(figures: readonly Figure[]): Promise<void> {
  const results = worstOf(figures.filter(({ usage }) => !usage));
  const measured = [['figure', 'measured', 'target', ''], ...results.map(cellsOf)];
  const head = ['request', 'writes', 'reads', 'functions', 'ms', 'log bytes', 'response bytes'];
  const taken = figures.flatMap(({ what, usage }) => {
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
export async function writeDerivedPages(numbers = pages.numbers.text): Promise<void> {
  const { costs, security } = await derivedPages(numbers);
  writeFileSync(pages.costs.file, costs);
  writeFileSync(pages.security.file, security);
}

const formatUsage = (value: number): string =>
  value.toLocaleString('en', { maximumFractionDigits: value < 100 ? 1 : 0 });

/** The page with another text under a heading, up to the next one. */
const withSection = (page: string, heading: string, text: string): string =>
  page.replace(
    new RegExp(String.raw`^(## ${heading}\n)[^]*?(?=^## )`, 'm'),
    (_, title: string) => `${title}\n${text}\n\n`,
  );
