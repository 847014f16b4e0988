import { readFileSync } from 'node:fs';
import path from 'node:path';
import { format as prettify, resolveConfig } from 'prettier';

export function pageAt(name: string) {
  const file = path.join(import.meta.dirname, '../../docs', name);
  return { file, text: readFileSync(file, 'utf8') };
}

const numberOf = (cell: string): number => Number(cell.replaceAll(/[*,]/g, ''));

/** The rows of the table of a page whose first column is called so: a name each, and the numbers after it. */
export function tableOf(page: string, head: string): Map<string, number[]> {
  const [, table = ''] = new RegExp(String.raw`^\| ${head} +\|.*\n.*\n((?:\|.*\n)+)`, 'm').exec(page) ?? [];
  const rows = table.trim().split('\n');
  const cells = rows.map((line) => line.split('|').map((cell) => cell.trim()));
  return new Map(cells.map(([, name = '', ...numbers]) => [name, numbers.slice(0, -1).map(numberOf)]));
}

export const formatted = async (filepath: string, text: string): Promise<string> =>
  prettify(text, { ...(await resolveConfig(filepath)), filepath });

/** The page with other cells behind the names in the table whose first column is called so. */
export function withRows(page: string, head: string, row: (name: string) => readonly string[]): string {
  const names = new Set(tableOf(page, head).keys());
  return page.replaceAll(/^\| (.+?) +\|.*$/gm, (line, name: string) => {
    return names.has(name) ? `| ${[name, ...row(name)].join(' | ')} |` : line;
  });
}
