import type { HistoryRow } from '../../../shared/key-registry/key-history.ts';
import type { SyncReport } from '../../../shared/key-registry/sync-keys.ts';
import { plans } from '../../../shared/keys/plans.ts';
import { MAIN_LABEL } from '../../../shared/key-registry/key-tokens.ts';
import { curlWith, historyCells, planOfToken, revokedText, stateText, tokenText } from '../key-sentences.ts';
import type { FoundToken, KeyView } from '../keys/key-view.ts';
import type { NewToken } from '../keys/new-token.ts';
import { formatNumber, formatTime, timeOrNever, withTarget } from '../text-format.ts';
import { list, styled, table } from './output.ts';

const colours = { active: 'green', suspended: 'yellow', disabled: 'red', expired: 'red', revoked: 'red' } as const;

/** A new token, this once, with a request that works. */
export function newTokenText(token: NewToken, baseUrl: string): string {
  const label = token.label === MAIN_LABEL ? '' : `\n    Label    ${token.label}`;
  const readOnly = token.access !== 'full' ? '\n    It reads only.' : '';
  return `
  ${styled('bold', token.name)} ${planOfToken(token)}

    Token    ${styled('green', token.key)}
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
    State: styled(colours[view.state], stateText(view)),
    Created: formatTime(view.created),
    'Last used': timeOrNever(view.lastUsed),
    Expires: timeOrNever(view.expires),
    'This minute': `${formatNumber(view.usedThisMinute)} of ${formatNumber(view.perMinute)} requests`,
    Today: `${formatNumber(view.usedToday)} of ${formatNumber(view.perDay)} requests`,
  });
  if (view.state === 'revoked') return `${facts}\n\n${revokedText(view)}`;
  const tokens = table(
    ['token', 'since (UTC)', 'may'],
    view.tokens.map((token) => [token.name, formatTime(token.since).replace(' UTC', ''), tokenText(token)]),
  );
  return `${facts}\n\n${tokens}`;
}

export function historyText(rows: readonly HistoryRow[]): string {
  if (rows.length === 0) return 'No change of this key is recorded.';
  return table(['time', 'who', 'what'], rows.map(historyCells));
}

/** Columns that fit a terminal of 80 characters; `keys show` has the rest. */
export function keyListText(views: readonly KeyView[], targetOption: string): string {
  if (views.length === 0)
    return withTarget('There are no such keys. Issue one with: npm run admin -- keys create', targetOption);
  return table(
    ['id', 'name', 'plan', 'state', 'last used (UTC)', 'today'],
    views.map((view) => [
      view.id,
      view.name,
      view.plan,
      styled(colours[view.state], shortState(view)),
      timeOrNever(view.lastUsed).replace(' UTC', ''),
      `${formatNumber(view.usedToday)}/${formatNumber(view.perDay)}`,
    ]),
  );
}

const shortState = ({ state, tokens }: KeyView): string =>
  state === 'active' && tokens.every(({ neverShown }) => neverShown) ? 'token never shown' : state;

export function foundTokenText({ key, token }: FoundToken): string {
  const owner = `It is of ${key.name} (${key.id}, ${key.plan}, ${stateText(key)})`;
  if (!token) return `${owner}, but it has ended, or was never issued.`;
  const refused = key.state === 'active' ? '' : ' It is refused as long as the key is.';
  return `${owner}: its token ${token.name} works (${tokenText(token)}).${refused}`;
}

export function syncText({ problems, ...keys }: SyncReport, targetOption: string): string {
  const { added, changed, closed, applied, left, unchanged } = keys;
  const counts = { added, changed, closed, applied, 'left to the next': left, unchanged };
  const summary = `Keys: ${Object.entries(counts)
    .map(([what, ids]) => `${formatNumber(ids.length)} ${what}`)
    .join(', ')}.`;
  return [summary, ...problems.map((problem) => styled('yellow', withTarget(problem, targetOption)))].join('\n');
}
