import type { Context, Hono } from 'hono';
import { type ExactLimits, planIds, plans } from '../../../shared/keys/plans.ts';
import { isIssued, mayHaveToken, parseToken } from '../../../shared/keys/token.ts';
import { isoDay } from '../../../shared/keys/verdict.ts';
import { isSuspendedOrDisabled } from '../keys/key-actions.ts';
import { AdminError } from '../service/failures.ts';
import { foundTokenText, stateText } from '../keys/key-sentences.ts';
import { byText, findToken, type KeyView, selectKeys, stateFilters } from '../keys/key-view.ts';
import { dailyUsage, partUsed } from '../keys/usage.ts';
import { counted, formatNumber, timeOrNever } from '../service/text.ts';
import { facts, type Field, filters, type Html, markup, meter, nothingSent, type Sent, table } from './markup.ts';
import { onForm, type Site } from './site.ts';
import { CHART_DAYS, usagePicture } from './usage-picture.ts';

type Query = Sent['values'];

const PAGE_SIZE = 50;
/** Share of a limit from which a key is shown as close to it. */
const CLOSE = 0.8;
const MAX_SHOWN = 25;

/** Id, title, cell and value to sort by: text ascending, numbers descending. */
type Column = readonly [string, string, (view: KeyView) => Html | string, (view: KeyView) => string | number];

const nameCell = ({ id, name }: KeyView): Html => markup`<a href="keys/${id}">${name}</a> <small>${id}</small>`;
const todayCell = ({ usedToday, perDay, refusedToday }: KeyView): Html =>
  markup`${meter('Today', usedToday, perDay)}${refusedToday > 0 && markup`<small>${formatNumber(refusedToday)} refused</small>`}`;
const minuteCell = ({ usedThisMinute, perMinute }: KeyView): Html => meter('This minute', usedThisMinute, perMinute);
const usedCell = ({ lastUsed }: KeyView): string => timeOrNever(lastUsed).replace(' UTC', '');

/** Columns of a list of keys. A phone has room for the first three. */
const columns: readonly Column[] = [
  ['name', 'Name', nameCell, ({ name }) => name],
  ['state', 'State', stateBadge, ({ state, suspendedBy }) => `${state} ${suspendedBy}`],
  ['today', 'Today', todayCell, ({ usedToday }) => usedToday],
  ['minute', 'This minute', minuteCell, ({ usedThisMinute }) => usedThisMinute],
  ['plan', 'Plan', ({ plan }) => plans[plan].title, ({ plan }) => plans[plan].title],
  ['used', 'Last used (UTC)', usedCell, ({ lastUsed }) => Date.parse(lastUsed ?? '1970')],
  ['created', 'Created', ({ created }) => created.slice(0, 10), ({ created }) => Date.parse(created)],
];

/** The state, who suspended the key, and until when: the time alone if that is today. */
export function stateBadge(view: KeyView): Html {
  const text = stateText(view).replace(`${isoDay(Date.now())} `, '');
  return markup`<span class="badge ${view.state}">${text}</span>`;
}

/** Table of keys; undefined if there are none. @param query of a page that is sorted by the titles of columns */
function keyListHtml(label: string, views: readonly KeyView[], query?: Query): Html | undefined {
  const [first] = views;
  const { sort = 'name' } = query ?? {};
  const rows = views.map((view) => columns.map(([, , cell]) => cell(view)));
  const order = columns.map(([id, , , valueOf]) => {
    const isDescending = first && (typeof valueOf(first) === 'number') !== sort.startsWith('-');
    return query !== undefined && id === sort.replace('-', '') && (isDescending ? 'descending' : 'ascending');
  });
  const titles = columns.map(([id, title]) =>
    query ? markup`<a href="${address(query, { page: '', sort: sort === id ? `-${id}` : id })}">${title}</a>` : title,
  );
  return first && table(label, titles, rows, order);
}

/** @param sort id of a column, with a minus for the reverse order */
function sorted(views: readonly KeyView[], sort = 'name'): readonly KeyView[] {
  const [, , , order] = columns.find(([id]) => id === sort.replace('-', '')) ?? [];
  if (!order) return views;
  const found = views.toSorted((a, b) => {
    const [one, other] = [order(a), order(b)];
    return typeof one === 'number' ? Number(other) - one : byText.compare(one, String(other));
  });
  return sort.startsWith('-') ? found.toReversed() : found;
}

/** `/keys`: the keys, sorted and paginated. */
export function addKeysPage(app: Hono, site: Site): void {
  const show = async (c: Context, { formError }: Sent = nothingSent): Promise<Response> => {
    const query = c.req.query();
    const plan = planIds.find((id) => id === query['plan']);
    const state = stateFilters.find((name) => name === query['state']);
    const q = site.kept(query['search']) ?? '';
    const found = sorted(selectKeys(await site.keys(), { plan, state, search: q }), query['sort']);
    const beside = markup`<a class="button" href="keys/new">Create a key</a>`;
    const content = markup`${keyFilters(site, { ...query, q })}${keyRows(found, query)}`;
    return site.show(c, { title: 'Keys', beside, part: 'keys', failure: formError }, content);
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
  const placeholder = markup`placeholder="Name, id, token or its last four characters"`;
  const fields: Field[] = [
    { name: 'q', label: 'Search', type: 'search', attributes: placeholder },
    { name: 'plan', label: 'Plan', choices: [all, ...planIds.map((id) => [id, plans[id].title] as const)] },
    { name: 'state', label: 'State', choices: [all, ...stateFilters.map((state) => [state, state] as const)] },
  ];
  return filters(fields, query, markup`method="post" action="${base}/keys"`);
}

function keyRows(found: readonly KeyView[], query: Query): Html {
  const last = Math.max(1, Math.ceil(found.length / PAGE_SIZE));
  const page = Math.min(last, Math.max(1, Math.trunc(Number(query['page'])) || 1));
  const rows = found.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE);
  const next = page < last && markup`<a href="${address(query, { page: String(page + 1) })}">Next →</a>`;
  return markup`<section data-live="${address(query)}" data-seconds="30">
<p class="quiet">${counted(found.length, 'key')}</p>
${keyListHtml('Keys', rows, query) ?? markup`<p class="empty">No keys match these filters. <a href="keys">Show all</a> or <a href="keys/new">create a key</a>.</p>`}
${last > 1 && markup`<p class="pages"><span>Page ${formatNumber(page)} of ${formatNumber(last)}</span>${next}</p>`}</section>`;
}

function address(query: Query, changes: Query = {}): string {
  const fields = Object.entries({ ...query, done: '', ...changes }).filter(([, value]) => value !== '');
  return `keys?${new URLSearchParams(fields).toString()}`;
}

/** `/overview`: current usage, keys that need attention, and keys per plan. */
export function addOverviewPage(app: Hono, site: Site): void {
  app.get('/overview', async (c) => {
    const records = await site.keys();
    const views = selectKeys(records);
    const blocked = views.filter(isSuspendedOrDisabled);
    const lists = {
      'Suspended automatically': blocked.filter(({ suspendedBy }) => suspendedBy === 'limiter'),
      [`Above ${CLOSE * 100} % of a limit`]: highest(views, partUsed, CLOSE),
      'Refused today': highest(views, ({ refusedToday }) => refusedToday),
      'Expire within 14 days': selectKeys(records, { state: 'expiring' }),
      'Suspended by an admin, or disabled': blocked.filter(({ suspendedBy }) => suspendedBy !== 'limiter'),
    };
    const content = markup`<section data-live="overview" data-seconds="30">
${figures(views)}
${Object.entries(lists).map(([title, keys]) => attention(title, keys))}
<h2>Plans</h2>${planTable(views)}</section>${usagePicture(await dailyUsage(site.target, records, CHART_DAYS))}`;
    return site.show(c, { title: 'Overview', part: 'overview' }, content);
  });
}

const highest = (views: readonly KeyView[], of: (view: KeyView) => number, above = 0): readonly KeyView[] =>
  views.filter((view) => of(view) > above).toSorted((a, b) => of(b) - of(a));

/** Keys that need attention; nothing if there are none. */
function attention(title: string, keys: readonly KeyView[]): Html | undefined {
  const list = keyListHtml(title, keys.slice(0, MAX_SHOWN));
  const more = keys.length > MAX_SHOWN && `, the first ${MAX_SHOWN} here`;
  return list && markup`<h2>${title}: ${counted(keys.length, 'key')}${more}</h2>${list}`;
}

const sum = (views: readonly KeyView[], of: (view: KeyView) => number): string =>
  formatNumber(views.reduce((total, view) => total + of(view), 0));

function figures(views: readonly KeyView[]): Html {
  const values = {
    'Requests today': sum(views, ({ usedToday }) => usedToday),
    'Requests this minute': sum(views, ({ usedThisMinute }) => usedThisMinute),
    'Refused today, at least': sum(views, ({ refusedToday }) => refusedToday),
    'Keys used today': `${sum(views, ({ usedToday }) => Math.min(1, usedToday))} of ${formatNumber(views.length)}`,
  };
  return markup`<div class="card figures">${facts(values)}
<p class="quiet">Minutes and days are in UTC. Refused requests are those over a limit; requests of revoked and suspended keys are not counted.</p></div>`;
}

function planTable(views: readonly KeyView[]): Html {
  const rows = planIds.map((id) => {
    const { title, limits } = plans[id];
    const limit = (window: keyof ExactLimits) => (limits === 'agreed' ? 'as agreed' : formatNumber(limits[window]));
    const onPlan = views.filter(({ plan }) => plan === id);
    const link = markup`<a href="keys?plan=${id}">${title}</a>`;
    const used = sum(onPlan, ({ usedToday }) => usedToday);
    return [link, limit('perMinute'), limit('perDay'), formatNumber(onPlan.length), used];
  });
  return table('Plans', ['Plan', 'Requests per minute', 'Requests per day', 'Keys', 'Used today'], rows);
}
