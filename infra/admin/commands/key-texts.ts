import type { SyncReport } from '../../../shared/key-registry/mirror.ts';
import { plans } from '../../../shared/keys/plans.ts';
import type { NewKey } from '../keys/create-key.ts';
import type { KeyView } from '../keys/key-view.ts';
import { curlWith, number, planOfNewKey, stateText, time, timeOrNever } from '../words.ts';
import { list, styled, table } from './output.ts';

const colours = { active: 'green', suspended: 'yellow', disabled: 'red', expired: 'red', rotated: 'yellow' } as const;

/** A new key, this once, with a request that works. */
export function describeNewKey(newKey: NewKey, baseUrl: string): string {
  const { id, key, name, expires } = newKey;
  return `
  ${styled('bold', name)} ${planOfNewKey(newKey)}

    Key      ${styled('green', key)}
    Id       ${id}
    Expires  ${timeOrNever(expires)}

  The key is shown this once and stored nowhere. Try it:

    ${curlWith(newKey, baseUrl)}`;
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
  return list(Object.keys(rows), Object.values(rows));
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
