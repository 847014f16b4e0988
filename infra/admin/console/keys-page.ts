import type { Hono } from 'hono';
import { planIds, plans } from '../../../shared/keys/plans.ts';
import { type KeyState, type KeyView, listKeys } from '../keys/key-view.ts';
import { stateText } from '../key-text.ts';
import { counted, number, timeOrNever } from '../text-format.ts';
import { filters, heads, type Html, markup, meter, table } from './markup.ts';
import { type Column, type Query, rowPage } from './row-pages.ts';
import type { Site } from './site.ts';

const states = ['active', 'suspended', 'disabled', 'expired'] as const satisfies readonly KeyState[];

interface KeyColumn extends Column<KeyView> {
  readonly cell: (view: KeyView) => Html | string;
}

const columns: Readonly<Record<string, KeyColumn>> = {
  name: {
    title: 'Name',
    isUpFirst: true,
    by: ({ name }) => name.toLowerCase(),
    cell: ({ id, name }) => markup`<a href="keys/${id}">${name}</a> <small>${id}</small>`,
  },
  plan: {
    title: 'Plan',
    isUpFirst: true,
    by: ({ plan }) => planIds.indexOf(plan),
    cell: ({ plan }) => plans[plan].title,
  },
  state: { title: 'State', isUpFirst: true, by: ({ state }) => state, cell: stateBadge },
  minute: {
    title: 'This minute',
    by: (view) => view.usedThisMinute / view.perMinute,
    cell: (view) => meter('This minute', view.usedThisMinute, view.perMinute),
  },
  today: {
    title: 'Today',
    by: (view) => view.usedToday / view.perDay,
    cell: (view) => meter('Today', view.usedToday, view.perDay),
  },
  used: {
    title: 'Last used (UTC)',
    by: ({ lastUsed }) => lastUsed ?? '',
    cell: ({ lastUsed }) => timeOrNever(lastUsed).replace(' UTC', ''),
  },
  created: { title: 'Created', by: ({ created }) => created, cell: ({ created }) => created.slice(0, 10) },
};

export function stateBadge(view: KeyView): Html {
  return markup`<span class="badge ${view.state}">${stateText(view).replace(' UTC', '')}</span>`;
}

/** Keys as they stand in a list; undefined without any. */
export function keyTable(label: string, views: readonly KeyView[], head?: readonly Html[]): Html | undefined {
  const shown = Object.values(columns);
  const rows = views.map((view) => shown.map(({ cell }) => cell(view)));
  return rows.length > 0 ? table(label, head ?? heads(shown.map(({ title }) => title)), rows) : undefined;
}

/** `/keys`: all keys, a page at a time. */
export function addKeysPage(app: Hono, site: Site): void {
  app.get('/keys', async (c) => {
    const query = c.req.query();
    const content = markup`<div class="head"><h1>Keys</h1><a class="button" href="keys/new">Create a key</a></div>
${keyFilters(query)}${await keyRows(site, query)}`;
    return site.show(c, { title: 'Keys', part: 'keys' }, content);
  });
}

function keyFilters(query: Query): Html {
  const all = ['', 'all'] as const;
  const fields = [
    { name: 'q', label: 'Search', type: 'search' as const, attributes: markup`placeholder="Name or id"` },
    { name: 'plan', label: 'Plan', choices: [all, ...planIds.map((id) => [id, plans[id].title] as const)] },
    { name: 'state', label: 'State', choices: [all, ...states.map((state) => [state, state] as const)] },
  ];
  return filters(fields, query);
}

async function keyRows(site: Site, query: Query): Promise<Html> {
  const views = await listKeys(site.target);
  const found = views.filter(matching(query));
  const { rows, heads: sortingHeads, links } = rowPage('keys', columns, found, query);
  const some = found.length === views.length ? '' : `${number(found.length)} of `;
  return markup`<section data-results data-live="keys?${new URLSearchParams(query).toString()}" data-seconds="10">
<p class="quiet" aria-live="polite">${some}${counted(views.length, 'key')}</p>
${keyTable('Keys', rows, sortingHeads) ?? empty(views.length)}
${links}</section>`;
}

const empty = (keys: number): Html =>
  keys === 0
    ? markup`<p class="empty">There are no keys yet. <a href="keys/new">Create the first one</a>.</p>`
    : markup`<p class="empty">No key is like that. <a href="keys">Show all ${number(keys)}</a>.</p>`;

function matching({ q = '', plan = '', state = '' }: Query): (view: KeyView) => boolean {
  const text = q.trim().toLowerCase();
  return (view) =>
    (plan === '' || view.plan === plan) &&
    (state === '' || view.state === state) &&
    (view.name.toLowerCase().includes(text) || view.id.includes(text));
}
