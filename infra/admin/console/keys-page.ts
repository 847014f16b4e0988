import type { Hono } from 'hono';
import { planIds, plans } from '../../../shared/keys/plans.ts';
import { type KeyState, type KeyView, listKeys } from '../keys/key-view.ts';
import { stateText } from '../key-text.ts';
import { number, timeOrNever } from '../text-format.ts';
import { field, type Html, markup, meter, nothingSent, table } from './markup.ts';
import type { Site } from './site.ts';

const PAGE_SIZE = 50;
const states = ['active', 'suspended', 'disabled', 'expired', 'restored'] as const satisfies readonly KeyState[];

interface Column {
  readonly title: string;
  readonly isText?: boolean;
  /** What its rows are sorted by. */
  readonly by: (view: KeyView) => string | number;
  readonly cell: (view: KeyView) => Html | string;
}

const nameColumn: Column = {
  title: 'Name',
  isText: true,
  by: ({ name }) => name.toLowerCase(),
  cell: ({ id, name }) => markup`<a href="keys/${id}">${name}</a> <small>${id}</small>`,
};

const columns: Readonly<Record<string, Column>> = {
  name: nameColumn,
  plan: {
    title: 'Plan',
    isText: true,
    by: ({ plan }) => planIds.indexOf(plan),
    cell: ({ plan }) => plans[plan].title,
  },
  state: { title: 'State', isText: true, by: ({ state }) => state, cell: stateBadge },
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

type Query = Readonly<Record<string, string>>;

/** `/keys`: all keys, a page at a time. */
export function addKeysPage(app: Hono, site: Site): void {
  app.get('/keys', async (c) => {
    const query = c.req.query();
    const content = markup`<div class="head"><h1>Keys</h1><a class="button" href="keys/new">Create a key</a></div>
${filters(query)}${await keyRows(site, query)}`;
    return site.show(c, { title: 'Keys', part: 'keys' }, content);
  });
  app.get('/keys/rows', async (c) => c.html(await keyRows(site, c.req.query())));
}

function filters(query: Query): Html {
  const all = ['', 'all'] as const;
  const fields = [
    { name: 'q', label: 'Search', type: 'search' as const, attributes: markup`placeholder="Name or id"` },
    { name: 'plan', label: 'Plan', choices: [all, ...planIds.map((id) => [id, plans[id].title] as const)] },
    { name: 'state', label: 'State', choices: [all, ...states.map((state) => [state, state] as const)] },
  ];
  const kept = markup`<input type="hidden" name="sort" value="${query['sort']}"><input type="hidden" name="order" value="${query['order']}">`;
  return markup`<form class="filters" role="search" data-filters>
${fields.map((one) => field('filter', one, { ...nothingSent, values: query }))}${kept}<button class="quiet">Filter</button></form>`;
}

async function keyRows(site: Site, query: Query): Promise<Html> {
  const views = await listKeys(site.target);
  const found = sorted(views.filter(matching(query)), query);
  const last = Math.max(1, Math.ceil(found.length / PAGE_SIZE));
  const page = Math.min(last, Math.max(1, Math.trunc(Number(query['page'])) || 1));
  const shown = found.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE);
  const rows = shown.map((view) => Object.values(columns).map(({ cell }) => cell(view)));
  const count = found.length === views.length ? '' : ` of ${number(views.length)}`;
  return markup`<section data-live="keys/rows?${new URLSearchParams(query).toString()}" data-seconds="10">
<p class="quiet">${number(found.length)}${count} keys</p>
${rows.length > 0 ? table('Keys', sortingHeads(query), rows) : empty(views.length)}
${last === 1 ? '' : pages(query, page, last)}</section>`;
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

const collator = new Intl.Collator('en');

const compare = (a: string | number, b: string | number): number =>
  typeof a === 'number' && typeof b === 'number' ? a - b : collator.compare(String(a), String(b));

function sorted(views: readonly KeyView[], { sort = '', order }: Query): KeyView[] {
  const [, { by } = nameColumn] = Object.entries(columns).find(([id]) => id === sort) ?? [];
  const ascending = views.toSorted((a, b) => compare(by(a), by(b)));
  return order === 'down' ? ascending.toReversed() : ascending;
}

const address = (query: Query, changes: Query): string =>
  `keys?${new URLSearchParams({ ...query, done: '', ...changes }).toString()}`;

const sortingHeads = (query: Query): Html[] =>
  Object.entries(columns).map(([id, { title, isText = false }]) => {
    const isSorted = (query['sort'] || 'name') === id;
    const isDown = query['order'] === 'down';
    const direction = isSorted ? markup`aria-sort="${isDown ? 'descending' : 'ascending'}"` : '';
    // The highest use and the latest time are what is looked for first.
    const isDownNext = isSorted ? !isDown : !isText;
    const link = address(query, { sort: id, order: isDownNext ? 'down' : 'up', page: '1' });
    return markup`<th scope="col" ${direction}><a href="${link}">${title}</a></th>`;
  });

function pages(query: Query, page: number, last: number): Html {
  const link = (to: number, text: string): Html =>
    to < 1 || to > last
      ? markup`<span>${text}</span>`
      : markup`<a href="${address(query, { page: String(to) })}">${text}</a>`;
  return markup`<nav class="pages" aria-label="Pages">${link(page - 1, '← Previous')}
<span>Page ${number(page)} of ${number(last)}</span>${link(page + 1, 'Next →')}</nav>`;
}
