import { stringify } from 'csv-stringify/sync';
import type { HistoryRow } from '../../../shared/key-registry/key-history.ts';
import type { SyncReport } from '../../../shared/key-registry/key-sync.ts';
import { plans } from '../../../shared/keys/plans.ts';
import { MAIN_LABEL } from '../../../shared/key-registry/record-changes.ts';
import {
  curlWith,
  historyCells,
  planOfToken,
  revokedText,
  shortStateText,
  stateText,
  tokenText,
} from '../keys/key-sentences.ts';
import type { KeyView } from '../keys/key-view.ts';
import type { NewToken } from '../keys/tokens.ts';
import { countsText, formatNumber, formatTime, timeOrNever } from '../service/text.ts';
import { list, styled, table } from './output.ts';

const colorOf = ({ state }: KeyView) => (state === 'active' ? 'green' : state === 'suspended' ? 'yellow' : 'red');

/** A new token, shown once, with an example request. */
export function newTokenText(token: NewToken, baseUrl: string): string {
  const label = token.label === MAIN_LABEL ? '' : `\n    Label    ${token.label}`;
  const readOnly = token.access !== 'full' ? '\n    Access   read-only' : '';
  return `
  ${styled('bold', token.name)} ${planOfToken(token)}

    Token    ${styled('green', token.token)}
    Id       ${token.id}
    Expires  ${timeOrNever(token.expires)}${label}${readOnly}

  The token, the customer's API key, is shown this once and stored nowhere. Try it:

    ${curlWith(token, baseUrl)}`;
}

export function keyText(view: KeyView): string {
  const facts = list({
    Id: view.id,
    Name: view.name,
    Plan: plans[view.plan].title,
    State: styled(colorOf(view), stateText(view)),
    Created: formatTime(view.created),
    'Last used': timeOrNever(view.lastUsed),
    Expires: timeOrNever(view.expires),
    'This minute': `${formatNumber(view.usedThisMinute)} of ${formatNumber(view.perMinute)} requests`,
    Today: `${formatNumber(view.usedToday)} of ${formatNumber(view.perDay)} requests`,
  });
  if (view.state === 'revoked') return `${facts}\n\n${revokedText(view)}`;
  const tokens = table(
    ['token', 'since (UTC)', 'access'],
    view.tokens.map((token) => [token.name, formatTime(token.since).replace(' UTC', ''), tokenText(token)]),
  );
  return `${facts}\n\n${tokens}`;
}

export function historyText(rows: readonly HistoryRow[]): string {
  if (rows.length === 0) return 'No changes of this key are recorded.';
  return table(['time', 'who', 'what'], rows.map(historyCells));
}

/** Columns that fit a terminal of 80 characters; `keys show` prints the others. */
export function keyListText(views: readonly KeyView[]): string {
  if (views.length === 0) return 'No keys match these filters. To create a key: npm run admin -- keys create';
  return table(
    ['id', 'name', 'plan', 'state', 'last used (UTC)', 'today'],
    views.map((view, at) => [
      view.id,
      // Keys with the same name are adjacent in the list.
      [views[at - 1]?.name, views[at + 1]?.name].includes(view.name)
        ? `${view.name} (${view.created.slice(0, 10)})`
        : view.name,
      view.plan,
      styled(colorOf(view), shortState(view)),
      timeOrNever(view.lastUsed).replace(' UTC', ''),
      `${formatNumber(view.usedToday)}/${formatNumber(view.perDay)}`,
    ]),
  );
}

const csvColumns = 'id name plan state created expires lastUsed perMinute perDay usedToday'.split(' ');

/** Prefixes a cell that a spreadsheet would run as a formula with an apostrophe. */
const inertCell = (text: string): string => text.replace(/^\s*[-=+@|\uFF0B\uFF0D\uFF1D\uFF20]/, "'$&");

/** Without a byte order mark, Excel reads names in another encoding. */
export const csvOf = (rows: readonly object[], columns: readonly string[]): string =>
  stringify([...rows], { bom: true, header: true, columns: [...columns], cast: { string: inertCell } }).trimEnd();

export const keyListCsv = (views: readonly KeyView[]): string => csvOf(views, csvColumns);

const shortState = (view: KeyView): string =>
  view.state === 'active' && view.tokens.every(({ neverShown }) => neverShown)
    ? 'token never shown'
    : shortStateText(view);

export function syncText({ problems, ...keys }: SyncReport): string {
  const { added, changed, closed, applied, left, unchanged } = keys;
  const lists = { added, changed, blocked: closed, applied, 'left for the next sync': left, unchanged };
  const counts = Object.entries(lists).map(([what, ids]) => [what, ids.length] as const);
  const lines = problems.map((problem) => styled('yellow', problem));
  return [`Keys: ${countsText(Object.fromEntries(counts))}.`, ...lines].join('\n');
}
