import type { TableChange } from './table-changes.ts';

/** How a pull request says that a table may be lost: `Replaces-table: production/Inventory/TablesStock190D1C2E: why`. */
export const ALLOWANCE = 'Replaces-table';

/** Anything on a line of its own, with or without the bullet of a list. */
const line = new RegExp(`^[ \\t]*(?:[-*][ \\t]+)?${ALLOWANCE}:[ \\t]*(?<rest>.*?)[ \\t]*$`, 'gim');
const tableAndReason = /^(?<table>[^\s:]+):\s+(?<reason>\S.*)$/;

/** What a text allows, and what of it helps nothing. */
export interface Allowances {
  /** The reason for each table. */
  readonly reasons: ReadonlyMap<string, string>;
  /** Sentences without a full stop. */
  readonly problems: readonly string[];
}

/** Reads which tables a text, such as the description of a pull request, allows to be lost. */
export function allowancesIn(text: string, changes: readonly TableChange[]): Allowances {
  const lost = new Set(changes.filter(({ kind }) => kind === 'loss').map(({ table }) => table));
  const reasons = new Map<string, string>();
  const problems: string[] = [];
  // What a template of descriptions shows as an example stands in comments.
  for (const { groups } of text
    .replaceAll(/<!--.*?-->/gs, '')
    .replaceAll('\r', '')
    .matchAll(line)) {
    const { table = '', reason } = tableAndReason.exec(groups?.rest ?? '')?.groups ?? {};
    if (reason === undefined) problems.push(`“${ALLOWANCE}: ${groups?.rest}” needs a table, a colon and a reason`);
    else if (!lost.has(table)) problems.push(`“${ALLOWANCE}: ${table}” names no table that would be lost`);
    else reasons.set(table, reason);
  }
  return { reasons, problems };
}
