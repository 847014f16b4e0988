import type { Context, Hono } from 'hono';
import { planIds, plans } from '../../../shared/keys/plans.ts';
import { isIssued, mayHaveToken, parseToken } from '../../../shared/keys/token.ts';
import { AdminError } from '../service/failures.ts';
import { foundTokenText, stateText } from '../keys/key-sentences.ts';
import { findToken, type KeyView, listKeys, stateFilters } from '../keys/key-view.ts';
import { counted, formatNumber, timeOrNever } from '../service/text.ts';
import { type Field, filters, type Html, markup, meter, nothingSent, type Sent, table } from './markup.ts';
import { onForm, type Site } from './site.ts';

type Query = Sent['values'];

const PAGE_SIZE = 50;

const keyHeads = ['Name', 'Plan', 'State', 'This minute', 'Today', 'Last used (UTC)', 'Created'];

export function stateBadge(view: KeyView): Html {
  return markup`<span class="badge ${view.state}">${stateText(view).replace(' UTC', '')}</span>`;
}

/** Table of keys; undefined if there are none. */
export function keyListHtml(label: string, views: readonly KeyView[]): Html | undefined {
  const rows = views.map((view) => [
    markup`<a href="keys/${view.id}">${view.name}</a> <small>${view.id}</small>`,
    plans[view.plan].title,
    stateBadge(view),
    meter('This minute', view.usedThisMinute, view.perMinute),
    meter('Today', view.usedToday, view.perDay),
    timeOrNever(view.lastUsed).replace(' UTC', ''),
    view.created.slice(0, 10),
  ]);
  return rows.length > 0 ? table(label, keyHeads, rows) : undefined;
}

/** `/keys`: keys by name, paginated. */
export function addKeysPage(app: Hono, site: Site): void {
  const show = async (c: Context, { formError }: Sent = nothingSent): Promise<Response> => {
    const query = c.req.query();
    const plan = planIds.find((id) => id === query['plan']);
    const state = stateFilters.find((name) => name === query['state']);
    const found = await listKeys(site.target, { plan, state, search: query['q'] ?? '' });
    const content = markup`<div class="head"><h1>Keys</h1><a class="button" href="keys/new">Create a key</a></div>
${keyFilters(site, query)}${keyRows(found, query)}`;
    return site.show(c, { title: 'Keys', part: 'keys', failure: formError }, content);
  };
  app.get('/keys', (c) => show(c));
  onForm(app, '/keys', (c, query) => search(c, site, query), show);
}

/** By POST: a token opens its key and must not be in an address. Other searches redirect to their address. */
async function search(c: Context, site: Site, { q = '', plan = '', state = '' }: Query): Promise<Response> {
  const text = q.trim();
  const token = parseToken(text);
  if (token && (text.startsWith('psk_') || (await site.target.keyTable.get(token.recordId)))) {
    const found = await findToken(site.target, text);
    return site.redirect(c, `/keys/${found.key.id}`, foundTokenText(found));
  }
  if (mayHaveToken(text) && !isIssued(text) && (await listKeys(site.target, { search: text })).length === 0)
    throw new AdminError('This looks like a token, but no key has it: it is mistyped or truncated.');
  return c.redirect(`${site.base}/keys?${new URLSearchParams({ q: text, plan, state }).toString()}`, 303);
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
  return markup`<section data-live="${address(query)}" data-seconds="10">
<p class="quiet">${counted(found.length, 'key')}</p>
${keyListHtml('Keys', rows) ?? markup`<p class="empty">No keys match these filters. <a href="keys">Show all</a> or <a href="keys/new">create a key</a>.</p>`}
${last === 1 ? '' : pageLinks(page, last, query)}</section>`;
}

/** Address of the page with changes of its query. */
const address = (query: Query, changes: Query = {}): string =>
  `keys?${new URLSearchParams({ ...query, done: '', ...changes }).toString()}`;

function pageLinks(page: number, last: number, query: Query): Html {
  const link = (to: number, text: string): Html =>
    to < 1 || to > last
      ? markup`<span>${text}</span>`
      : markup`<a href="${address(query, { page: String(to) })}">${text}</a>`;
  return markup`<nav class="pages" aria-label="Pages">${link(page - 1, '← Previous')}
<span>Page ${formatNumber(page)} of ${formatNumber(last)}</span>${link(page + 1, 'Next →')}</nav>`;
}
