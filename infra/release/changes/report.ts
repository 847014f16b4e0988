import { ALLOWANCE, type Allowances } from './allowance.ts';
import type { StackChanges } from './stack-changes.ts';
import type { TableChange } from './table-changes.ts';

/** First line of the comment, by which the next one finds it and takes its place. */
export const COMMENT_MARK = '<!-- changes to the deployed stacks -->';

/** GitHub takes comments of up to 65,536 characters. */
const MAX_COMMENT = 60_000;

export interface Report {
  readonly stacks: readonly StackChanges[];
  readonly allowances: Allowances;
  /** What the stacks were compared with, such as `the last deploy`. */
  readonly comparedWith: string;
}

/** The tables that would be lost without anybody having said that it is meant. */
export function refusedTables({ stacks, allowances }: Report): string[] {
  const lost = tablesOf(stacks, 'loss').filter(({ table }) => !allowances.reasons.has(table));
  return [...new Set(lost.map(({ table }) => table))];
}

export const allowanceLine = (table: string): string => `${ALLOWANCE}: ${table}: why`;

/** The report for a terminal. */
export function asText(report: Report): string {
  const { stacks, allowances, comparedWith } = report;
  return [
    ...stacks.map(({ id, summary, details }) => `${id}: ${summary ?? 'no changes'}${details && `\n\n${details}\n`}`),
    ...sentences(stacks, allowances, (text) => text),
    headline(report, comparedWith),
  ].join('\n');
}

/** The report as the comment on a pull request. */
export function asMarkdown(report: Report): string {
  const { stacks, allowances, comparedWith } = report;
  const refused = refusedTables(report);
  const head = [
    COMMENT_MARK,
    `### ${headline(report, comparedWith)}`,
    ...sentences(stacks, allowances, (text) => `\`${text}\``).map((sentence) => `- ${sentence}`),
    ...(refused.length > 0 ? [howToAllow(refused)] : []),
    ...stacks.filter(({ summary }) => summary !== undefined).map(({ id, summary }) => `- \`${id}\`: ${summary}`),
  ].join('\n\n');
  return [head, ...folded(stacks, MAX_COMMENT - head.length)].join('\n\n').concat('\n');
}

function headline({ stacks }: Report, comparedWith: string): string {
  const changed = stacks.filter(({ summary }) => summary !== undefined).length;
  if (changed === 0) return `No changes to ${comparedWith}`;
  return `Changes to ${comparedWith}: ${changed} of ${stacks.length} stacks`;
}

const tablesOf = (stacks: readonly StackChanges[], kind: TableChange['kind']): TableChange[] =>
  stacks.flatMap(({ tables }) => tables).filter((change) => change.kind === kind);

function sentences(
  stacks: readonly StackChanges[],
  { reasons, problems }: Allowances,
  quoted: (text: string) => string,
): string[] {
  const allowed = ({ table }: TableChange): string => {
    const reason = reasons.get(table);
    return reason === undefined ? 'Not allowed.' : `Allowed: ${reason}`;
  };
  return [
    ...tablesOf(stacks, 'loss').map((change) => `Loss: ${quoted(change.table)} ${change.what}. ${allowed(change)}`),
    ...tablesOf(stacks, 'warning').map(({ table, what }) => `Warning: ${quoted(table)} ${what}.`),
    ...problems.map((problem) => `Warning: ${problem}.`),
    ...tablesOf(stacks, 'note').map(({ table, what }) => `Note: ${quoted(table)} ${what}.`),
  ];
}

function howToAllow(tables: readonly string[]): string {
  const lines = tables.map(allowanceLine).join('\n');
  return `If that is meant, say so and why in the description of the pull request:\n\n\`\`\`text\n${lines}\n\`\`\``;
}

/** What `cdk diff` prints, one fold a stack, as long as there is room. */
function folded(stacks: readonly StackChanges[], room: number): string[] {
  const parts: string[] = [];
  let left = room;
  for (const { id, details } of stacks.filter((stack) => stack.details !== '')) {
    const fence = '`'.repeat(Math.max(3, ...[...details.matchAll(/`+/g)].map(([ticks]) => ticks.length + 1)));
    const fold = (text: string) => `<details><summary>${id}</summary>\n\n${fence}text\n${text}\n${fence}\n\n</details>`;
    const whole = fold(details);
    const cut = fold('Too long for a comment: npm run changes prints it.');
    const part = whole.length <= left ? whole : cut;
    if (part.length <= left) parts.push(part);
    left -= part.length + 2;
  }
  return parts;
}
