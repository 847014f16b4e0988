import type { Context, Hono } from 'hono';
import { plans } from '../../../shared/keys/plans.ts';
import { failureText } from '../admin-error.ts';
import { createAction, type Done } from '../key-actions.ts';
import { curlWith, planOfToken, tokenText } from '../key-text.ts';
import { type KeyView, showKey } from '../keys/key-view.ts';
import { counted, number, percent, time, timeOrNever } from '../text-format.ts';
import { dailyUsage, type Usage } from '../usage.ts';
import { type KeyCard, keyCards } from './key-cards.ts';
import { stateBadge } from './keys-page.ts';
import { alert, facts, field, heads, hidden, type Html, markup, meter, nothingSent } from './markup.ts';
import { sentence, type Sent, table } from './markup.ts';
import { fieldOf, FormFault, onForm, parseInputs, type Site } from './site.ts';

const DAYS = 30;

const idOf = (c: Context): string => c.req.param('id') ?? '';

/** `/keys/ID`: what a key may do, how much it did, and what can be done to it. */
export function addKeyPage(app: Hono, site: Site): void {
  const { target } = site;
  const showKeyPage = async (c: Context, sent?: Sent, sentTo?: string): Promise<Response> => {
    const view = await showKey(target, idOf(c));
    const forms = Object.entries(keyCards).filter(([, { suits }]) => suits(view));
    const cardsOf = (isDangerous: boolean): Html[] =>
      forms
        .filter(([, card]) => card.isDangerous === isDangerous)
        .map(([name, card]) => cardForm(site, view, name, card, name === sentTo ? sent : undefined));
    const page = { title: view.name, part: 'keys', failure: sent?.failure } as const;
    return site.show(c, page, content(view, cardsOf(false), cardsOf(true)));
  };
  app.get('/keys/:id', (c) => showKeyPage(c));
  for (const [name, card] of Object.entries(keyCards)) addKeyAction(app, site, name, card, showKeyPage);
  app.get('/keys/:id/live', async (c) => c.html(live(await showKey(target, idOf(c)))));
  app.get('/keys/:id/usage', async (c) => {
    const chart = await dailyUsage(target, idOf(c), DAYS).then(usageChart, (error: unknown) => {
      const failure = failureText(error, 'load the page again', 'nothing was changed');
      if (failure === undefined) throw error;
      return alert(failure);
    });
    return c.html(chart);
  });
}

const content = (
  view: KeyView,
  forms: readonly Html[],
  dangers: readonly Html[],
): Html => markup`<p class="crumbs"><a href="keys">Keys</a></p>
<div class="head"><h1>${view.name}</h1>${stateBadge(view)}</div>
${facts({
  Id: markup`<code>${view.id}</code>`,
  Plan: plans[view.plan].title,
  Created: time(view.created),
  'Last used': timeOrNever(view.lastUsed),
  Expires: timeOrNever(view.expires),
})}
${live(view)}
<section class="card"><h2>Tokens</h2>${tokenTable(view)}</section>
<section class="card"><h2>Requests a day</h2>
<div data-part="keys/${view.id}/usage"><p class="quiet">Adding up ${DAYS} days …
<noscript><a href="keys/${view.id}/usage">Show them</a></noscript></p></div></section>
<h2>What can be done</h2>
<div class="cards pairs">${forms}</div>
<h2>What refuses the customer</h2>
<div class="cards pairs dangers">${dangers}</div>`;

function tokenTable({ tokens }: KeyView): Html {
  const rows = tokens.map((token) => [token.name, time(token.since), tokenText(token)]);
  return table('Tokens', heads(['Token', 'Since', 'May']), rows);
}

/** The counters of this moment. */
const live = (view: KeyView): Html => markup`<section class="gauges" data-live="keys/${view.id}/live" data-seconds="5">
<div class="card"><h2>This minute</h2>${meter('Requests this minute', view.usedThisMinute, view.perMinute)}</div>
<div class="card"><h2>Today</h2>${meter('Requests today', view.usedToday, view.perDay)}</div></section>`;

function cardForm(site: Site, view: KeyView, name: string, card: KeyCard, sent?: Sent): Html {
  const { title, effect, fields, proposed, isDangerous } = card;
  const filled = sent ?? { ...nothingSent, values: proposed(view) };
  const button = markup`<button ${isDangerous ? markup`class="danger"` : ''}>${title}${isDangerous ? ' …' : ''}</button>`;
  const inputs = fields(view).map((one) => field(name, one, filled));
  return markup`<section class="card"><h3>${title}</h3><p>${sentence(effect)}</p>
${site.form(`/keys/${view.id}/${name}`, button, inputs)}</section>`;
}

/** `/keys/ID/ACTION`: does it; where that refuses the customer something, it asks first, on a page of its own. */
function addKeyAction(
  app: Hono,
  site: Site,
  name: string,
  card: KeyCard,
  showKeyPage: (c: Context, sent?: Sent, sentTo?: string) => Promise<Response>,
): void {
  const { target } = site;
  const path = `/keys/:id/${name}`;
  const showQuestion = async (c: Context, sent: Sent): Promise<Response> => {
    const view = await showKey(target, idOf(c));
    const refused = card.refuses(target, view, sent.values);
    if (refused === undefined) return showKeyPage(c, sent, name);
    const page = { title: `${card.title}: ${view.name}?`, part: 'keys', failure: sent.failure } as const;
    return site.show(c, page, question(site, view, name, card, sent, refused));
  };
  app.get(path, async (c) => {
    try {
      return await showQuestion(c, { ...nothingSent, values: c.req.query() });
    } catch (error) {
      if (!(error instanceof FormFault)) throw error;
      // The page that a form has led to, loaded again.
      return c.redirect(`${site.base}/keys/${idOf(c)}`);
    }
  });
  onForm(
    app,
    path,
    async (c, texts) => {
      const id = idOf(c);
      const { ticket: _, ...query } = texts;
      if (texts['sure'] === undefined && card.refuses(target, await showKey(target, id), texts) !== undefined)
        return c.redirect(`${site.base}/keys/${id}/${name}?${new URLSearchParams(query).toString()}`, 303);
      return showDone(c, site, await card.run(target, texts, id), name === 'revoke' ? '/keys' : `/keys/${id}`);
    },
    (c, sent) => (sent.values['sure'] === undefined ? showKeyPage(c, sent, name) : showQuestion(c, sent)),
  );
}

/** Whether an action is meant, with what it refuses and whom. */
function question(site: Site, view: KeyView, name: string, card: KeyCard, sent: Sent, refused: string): Html {
  const { id, name: whom, plan, lastUsed, usedThisMinute, usedToday, tokens } = view;
  const values = Object.fromEntries(card.fields(view).map((one) => [one.name, sent.values[one.name] ?? '']));
  const inputs = [...hidden({ ...values, sure: 'yes' }), ...card.confirmation.map((one) => field(name, one, sent))];
  return markup`<p class="crumbs"><a href="keys">Keys</a> / <a href="keys/${id}">${whom}</a></p>
<h1>${card.title}: ${whom}?</h1>
<section class="card narrow"><p>${refused}</p>
${facts({
  Id: markup`<code>${id}</code>`,
  Plan: plans[plan].title,
  'Last used': timeOrNever(lastUsed),
  'This minute': counted(usedThisMinute, 'request'),
  Today: counted(usedToday, 'request'),
  Tokens: tokens.map(({ name: token }) => token).join(', '),
})}
${site.form(`/keys/${id}/${name}`, markup`<button class="danger">${card.title}</button>`, inputs)}
<p><a href="keys/${id}">Leave it as it is</a></p></section>`;
}

/** `/keys/new`. */
export function addNewKeyPage(app: Hono, site: Site): void {
  const { title, effect, inputs, run, again } = createAction;
  const showForm = (c: Context, sent?: Sent): Response | Promise<Response> => {
    const fields = inputs.map((name) => field('create', fieldOf(name), sent ?? nothingSent));
    const form = markup`<p class="crumbs"><a href="keys">Keys</a></p><h1>${title}</h1>
<section class="card narrow"><p>${sentence(effect)} It works from the next request on.</p>
${site.form('/keys/new', markup`<button>Create the key</button>`, fields)}</section>`;
    return site.show(c, { title, part: 'keys', failure: sent?.failure }, form);
  };
  app.get('/keys/new', (c) => showForm(c));
  onForm(
    app,
    '/keys/new',
    async (c, texts) => showDone(c, site, await run(site.target, parseInputs(inputs, texts), ''), '/keys'),
    showForm,
    again,
  );
}

/** Shows what was done: the new token in the answer to its form, and nowhere else; a message on another page. */
async function showDone(c: Context, site: Site, { token, message }: Done, path: string): Promise<Response> {
  // A page that is on its way counts as shown: of what its reader has seen, no server knows.
  await token?.confirmShown();
  if (!token) return site.redirect(c, path, message);
  const shown = markup`<h1>${token.name}</h1>
<p>${token.name} ${planOfToken(token)} Token: ${token.label}. Expires: ${timeOrNever(token.expires)}. ${message}</p>
<section class="card secret"><p><strong>Copy the key now: it is shown this once, and stored nowhere.</strong></p>
${copyable('Key', 'new-key', token.key)}${copyable('Try it', 'new-curl', curlWith(token, site.target.baseUrl))}</section>
<p class="links"><a href="keys/${token.id}">To the key</a> <a href="keys">All keys</a></p>`;
  return site.show(c, { title: 'New key', part: 'keys' }, shown);
}

const copyable = (label: string, id: string, text: string): Html => markup`<h2>${label}</h2>
<div class="copy"><code id="${id}" tabindex="0">${text}</code><button type="button" data-copy="${id}">Copy</button></div>`;

/** Bars stand against the quota; where none reaches a quarter of it, against the highest of them. */
function usageChart({ days, perDay }: Usage): Html {
  const [width, height] = [20, 160];
  const most = Math.max(...days.map(({ requests }) => requests));
  if (most === 0)
    return markup`<p class="quiet">No requests in these ${days.length} days, of ${number(perDay)} a day.</p>`;
  const top = most * 4 < perDay ? most * 1.25 : Math.max(perDay, most);
  const bars = days.map(({ date, requests }, index) => {
    const tall = requests === 0 ? 0 : Math.max(2, (requests / top) * height);
    const kind = requests > perDay * 0.95 ? 'full' : requests > perDay * 0.8 ? 'high' : '';
    return markup`<rect class="${kind}" x="${index * width + 2}" y="${height - tall}" width="${width - 4}" height="${tall}"><title>${date}: ${number(requests)}</title></rect>`;
  });
  const y = height - (perDay / top) * height;
  const quota = y < 0 ? '' : markup`<line x1="0" x2="${days.length * width}" y1="${y}" y2="${y}"/>`;
  const words = `The busiest day had ${number(most)} ${most === 1 ? 'request' : 'requests'}, ${percent(most / perDay)} of the quota of ${number(perDay)}.`;
  const rows = days.toReversed().map(({ date, requests }) => [date, number(requests), percent(requests / perDay)]);
  return markup`<p class="quiet">${words}</p>
<svg class="chart" viewBox="0 -2 ${days.length * width} ${height + 4}" preserveAspectRatio="none" role="img" aria-label="${words}">${quota}${bars}</svg>
<p class="axis"><span>${days[0]?.date}</span><span>${quota === '' ? '' : 'line: the quota'}</span><span>today</span></p>
<details><summary>As a table</summary>${table('Requests a day', heads(['Day', 'Requests', 'Of the quota']), rows)}</details>`;
}
