import type { SyncReport } from '../../../shared/key-registry/mirror.ts';
import { plans } from '../../../shared/keys/plans.ts';
import { MAIN_LABEL } from '../../../shared/keys/key-record.ts';
import type { KeyView } from '../keys/key-view.ts';
import type { NewToken } from '../keys/new-token.ts';
import { number, time, timeOrNever } from '../text-format.ts';
import { curlWith, planOfNewKey, stateText, tokenText } from '../words.ts';
import { list, styled, table } from './output.ts';

const colours = { active: 'green', suspended: 'yellow', disabled: 'red', expired: 'red', restored: 'red' } as const;

/** A new token, this once, with a request that works. */
export function describeNewToken(newToken: NewToken, baseUrl: string): string {
  const { id, key, name, label, access, expires } = newToken;
  const named = label === MAIN_LABEL ? '' : `\n    Label    ${label}`;
  const may = access === 'read' ? '\n    It reads only.' : '';
  return `
  ${styled('bold', name)} ${planOfNewKey(newToken)}

    Key      ${styled('green', key)}
    Id       ${id}
    Expires  ${timeOrNever(expires)}${named}${may}

  The key is shown this once and stored nowhere. Try it:

    ${curlWith(newToken, baseUrl)}`;
}

export function describeKey(view: KeyView): string {
  const rows = {
    Id: view.id,
    Name: view.name,
    Plan: plans[view.plan].title,
    State: state(view),
    Created: time(view.created),
    'Last used': timeOrNever(view.lastUsed),
    Expires: timeOrNever(view.expires),
    'This minute': `${number(view.usedThisMinute)} of ${number(view.perMinute)} requests`,
    Today: `${number(view.usedToday)} of ${number(view.perDay)} requests`,
  };
  const tokens = table(
    ['token', 'ends in', 'since (UTC)', 'may'],
    view.tokens.map((token) => [token.label, token.last, time(token.since).replace(' UTC', ''), tokenText(token)]),
  );
  return `${list(Object.keys(rows), Object.values(rows))}\n\n${tokens}`;
}

export function keyTable(views: readonly KeyView[]): string {
  if (views.length === 0)
    return 'There are no keys. Issue one with: npm run admin -- keys create --name NAME --plan free';
  return table(
    ['id', 'name', 'plan', 'state', 'created', 'last used (UTC)', 'this minute', 'today'],
    views.map((view) => [
      view.id,
      view.name,
      view.plan,
      state(view).replace(' UTC', ''),
      view.created.slice(0, 10),
      timeOrNever(view.lastUsed).replace(' UTC', ''),
      `${number(view.usedThisMinute)} / ${number(view.perMinute)}`,
      `${number(view.usedToday)} / ${number(view.perDay)}`,
    ]),
    [6, 7],
  );
}

const state = (view: KeyView): string => styled(colours[view.state], stateText(view));

export function describeSync(report: SyncReport): string {
  const { added, changed, disabled, removed, conflicts, unchanged, problems } = report;
  const counts = { added, changed, disabled, removed, 'changed meanwhile': conflicts, unchanged };
  const summary = Object.entries(counts).map(([what, ids]) => `${number(ids.length)} ${what}`);
  return [`Keys: ${summary.join(', ')}.`, ...problems.map((problem) => styled('yellow', problem))].join('\n');
}
