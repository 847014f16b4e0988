import type { Context, Hono } from 'hono';
import { planIds, plans } from '../../../shared/keys/plans.ts';
import { isIssued, mayHaveToken, parseToken } from '../../../shared/keys/token.ts';
import { AdminError } from '../service/failures.ts';
import { foundTokenText } from '../keys/key-sentences.ts';
import { findToken, type KeyView, selectKeys, stateFilters } from '../keys/key-view.ts';
import { counted, formatNumber, formatTime, timeOrNever } from '../service/text.ts';
import { type Field, filters, type Html, markup, meter, nothingSent, type Sent, table } from './markup.ts';
import { onForm, type Site } from './site.ts';

type Query = Sent['values'];

const PAGE_SIZE = 50;

interface Column {
  readonly id: string;
  readonly title: string;
  readonly cell: (view: KeyView) => Html | string;
  /** Value to sort by: text ascending, numbers descending. */
  readonly order: (view: KeyView) => string | number;
}

/** Columns of a list of keys. A phone has room for the first three. */
const columns: readonly Column[] = [
  {
    id: 'name',
    title: 'Name',
    cell: ({ id, name }) => markup`<a href="keys/${id}">${name}</a> <small>${id}</small>`,
    order: ({ name }) => name,
  },
  { id: 'state', title: 'State', cell: stateBadge, order: ({ state, suspendedBy }) => `${state} ${suspendedBy}` },
  {
    id: 'today',
    title: 'Today',
    cell: ({ usedToday, perDay, refusedToday }) =>
      markup`${meter('Today', usedToday, perDay)}${refusedToday > 0 && markup`<small>${formatNumber(refusedToday)} refused</small>`}`,
    order: ({ usedToday }) => usedToday,
  },
  {
    id: 'minute',
    title: 'This minute',
    cell: ({ usedThisMinute, perMinute }) => meter('This minute', usedThisMinute, perMinute),
    order: ({ usedThisMinute }) => usedThisMinute,
  },
  { id: 'plan', title: 'Plan', cell: ({ plan }) => plans[plan].title, order: ({ plan }) => plans[plan].title },
  {
    id: 'used',
    title: 'Last used (UTC)',
    cell: ({ lastUsed }) => timeOrNever(lastUsed).replace(' UTC', ''),
    order: ({ lastUsed }) => Date.parse(lastUsed ?? '1970'),
  },
  {
    id: 'created',
    title: 'Created',
    cell: ({ created }) => created.slice(0, 10),
    order: ({ created }) => Date.parse(created),
  },
];

/** The state, who suspended the key, and until when: the time alone if that is today. */
export function stateBadge({ state, suspendedBy, suspendedUntil }: KeyView): Html {
  const by = suspendedBy === 'limiter' ? ' automatically' : ' by an admin';
  const until = suspendedUntil && formatTime(suspendedUntil).replace(`${new Date().toISOString().slice(0, 10)} `, '');
  return markup`<span class="badge ${state}">${state}${suspendedBy && by}${until && ` until ${until}`}</span>`;
}

/** Table of keys; undefined if there are none. @param head renders the title of a column */
export function keyListHtml(
  label: string,
  views: readonly KeyView[],
  head = (column: Column): Html | string => column.title,
) {
  const rows = views.map((view) => columns.map(({ cell }) => cell(view)));
  return rows.length > 0 ? markup`<div class="keys">${table(label, columns.map(head), rows)}</div>` : undefined;
}

const byText = new Intl.Collator();

/** @param sort id of a column, with a minus for the reverse order */
function sorted(views: readonly KeyView[], sort = 'name'): readonly KeyView[] {
  const column = columns.find(({ id }) => id === sort.replace('-', ''));
  if (!column) return views;
  const values = new Map(views.map((view) => [view, column.order(view)]));
  const compare = (a: KeyView, b: KeyView): number => {
    const [one = 0, other = 0] = [values.get(a), values.get(b)];
    return typeof one === 'number' && typeof other === 'number' ? other - one : byText.compare(`${one}`, `${other}`);
  };
  return views.toSorted((a, b) => (sort.startsWith('-') ? compare(b, a) : compare(a, b)));
}

/** `/keys`: the keys, sorted and paginated. */
export function addKeysPage(app: Hono, site: Site): void {
  const show = async (c: Context, { formError }: Sent = nothingSent): Promise<Response> => {
    const query = c.req.query();
    const plan = planIds.find((id) => id === query['plan']);
    const state = stateFilters.find((name) => name === query['state']);
    const q = site.kept(query['search']) ?? '';
    const found = sorted(selectKeys(await site.keys(), { plan, state, search: q }), query['sort']);
    const content = markup`<div class="head"><h1>Keys</h1><a class="button" href="keys/new">Create a key</a></div>
${keyFilters(site, { ...query, q })}${keyRows(found, query)}`;
    return site.show(c, { title: 'Keys', part: 'keys', failure: formError }, content);
  };
  app.get('/keys', (c) => show(c));
  onForm(app, '/keys', (c, query) => search(c, site, query), show);
}

/** By POST, as text that is typed must not be in an address. A token opens its key. */
async function search(c: Context, site: Site, { q = '', plan = '', state = '' }: Query): Promise<Response> {
  const text = q.trim();
  const token = parseToken(text);
  if (token && (text.startsWith('psk_') || (await site.target.keyTable.get(token.recordId)))) {
    const found = await findToken(site.target, text);
    return site.redirect(c, `/keys/${found.key.id}`, foundTokenText(found));
  }
  if (mayHaveToken(text) && !isIssued(text) && selectKeys(await site.keys(), { search: text }).length === 0)
    throw new AdminError('This looks like a token, but no key has it: it is mistyped or truncated.');
  return c.redirect(`${site.base}/${address({ plan, state }, { search: text && site.keep(text) })}`, 303);
}

function keyFilters({ base }: Site, query: Query): Html {
  const all = ['', 'all'] as const;
  const fields: Field[] = [
    {
      name: 'q',
      label: 'Search',
      type: 'search',
      attributes: markup`placeholder="Name, id, token or its last four characters"`,
    },
    { name: 'plan', label: 'Plan', choices: [all, ...planIds.map((id) => [id, plans[id].title] as const)] },
    { name: 'state', label: 'State', choices: [all, ...stateFilters.map((state) => [state, state] as const)] },
  ];
  return filters(fields, query, markup`method="post" action="${base}/keys"`);
}

function keyRows(found: readonly KeyView[], query: Query): Html {
  const last = Math.max(1, Math.ceil(found.length / PAGE_SIZE));
  const page = Math.min(last, Math.max(1, Math.trunc(Number(query['page'])) || 1));
  const rows = found.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE);
  const { sort = 'name' } = query;
  const head = ({ id, title }: Column): Html => {
    const direction = sort === id ? ' ↓' : sort === `-${id}` ? ' ↑' : '';
    return markup`<a href="${address(query, { page: '', sort: sort === id ? `-${id}` : id })}">${title}${direction}</a>`;
  };
  return markup`<section data-live="${address(query)}" data-seconds="30">
<p class="quiet">${counted(found.length, 'key')}</p>
${keyListHtml('Keys', rows, head) ?? markup`<p class="empty">No keys match these filters. <a href="keys">Show all</a> or <a href="keys/new">create a key</a>.</p>`}
${last === 1 ? '' : pageLinks(page, last, query)}</section>`;
}

/** Address of the page with changes of its query. */
function address(query: Query, changes: Query = {}): string {
  const fields = Object.entries({ ...query, done: '', ...changes }).filter(([, value]) => value !== '');
  return `keys?${new URLSearchParams(fields).toString()}`;
}

function pageLinks(page: number, last: number, query: Query): Html {
  const link = (to: number, text: string): Html =>
    to < 1 || to > last
      ? markup`<span>${text}</span>`
      : markup`<a href="${address(query, { page: String(to) })}">${text}</a>`;
  return markup`<nav class="pages" aria-label="Pages">${link(page - 1, '← Previous')}
<span>Page ${formatNumber(page)} of ${formatNumber(last)}</span>${link(page + 1, 'Next →')}</nav>`;
}
