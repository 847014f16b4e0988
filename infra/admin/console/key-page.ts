import type { Context, Hono } from 'hono';
import { plans } from '../../../shared/keys/plans.ts';
import { failureText } from '../admin-error.ts';
import { limitsOn, parseFutureTime, parseName } from '../inputs.ts';
import { createKey } from '../keys/create-key.ts';
import { type KeyView, showKey, type TokenView } from '../keys/key-view.ts';
import { dailyUsage, type Usage } from '../usage.ts';
import { number, percent, time, timeOrNever } from '../text-format.ts';
import { curlWith, effects, planOfNewKey, tokenText } from '../words.ts';
import { type Done, type KeyAction, keyActions } from './key-actions.ts';
import { stateBadge } from './keys-page.ts';
import {
  alert,
  facts,
  type Field,
  field,
  heads,
  type Html,
  markup,
  meter,
  nothingSent,
  sentence,
  table,
} from './markup.ts';
import {
  form,
  onForm,
  optional,
  parseForm,
  planFields,
  planParsers,
  redirectTo,
  type Refused,
  show,
  showPart,
  type Site,
} from './site.ts';

const DAYS = 30;

/** `/keys/ID`: what a key may, how much it did, and what can be done to it. */
export function addKeyPage(app: Hono, site: Site): void {
  const { target, keys } = site;
  const showKeyPage = async (c: Context, refused?: Refused, refusedAction?: string): Promise<Response> => {
    const view = await showKey(target, idOf(c));
    const page = { title: view.name, part: 'keys', failure: refused?.failure } as const;
    const cards = Object.entries(keyActions)
      .filter(([, { suits }]) => suits(view))
      .map(([name, action]) => card(site, view, name, action, name === refusedAction ? refused : undefined));
    return show(c, site, page, content(view, cards), refused !== undefined);
  };
  app.get('/keys/:id', (c) => showKeyPage(c));
  for (const [name, { run }] of Object.entries(keyActions)) {
    onForm(
      app,
      `/keys/:id/${name}`,
      async (c, values) => {
        const done = await run(target, idOf(c), values);
        return finish(c, site, done, name === 'revoke' ? '/keys' : `/keys/${idOf(c)}`);
      },
      (c, refused) => showKeyPage(c, refused, name),
    );
  }
  app.get('/keys/:id/live', async (c) => {
    const view = (await keys.readOne(idOf(c))) ?? (await showKey(target, idOf(c)));
    return showPart(c, site, { title: view.name, part: 'keys' }, live(view));
  });
  app.get('/keys/:id/usage', async (c) => {
    const part = await dailyUsage(target, idOf(c), DAYS).then(chart, (error: unknown) => {
      const failure = failureText(error, 'load the page again');
      if (failure === undefined) throw error;
      return alert(failure);
    });
    return showPart(c, site, { title: 'Usage', part: 'keys' }, part);
  });
}

const idOf = (c: Context): string => c.req.param('id') ?? '';

const content = (view: KeyView, cards: readonly Html[]): Html => markup`<p class="crumbs"><a href="keys">Keys</a></p>
<div class="head"><h1>${view.name}</h1>${stateBadge(view)}</div>
${facts({
  Id: markup`<code>${view.id}</code>`,
  Plan: plans[view.plan].title,
  Created: time(view.created),
  'Last used': timeOrNever(view.lastUsed),
  Expires: timeOrNever(view.expires),
})}
${live(view)}
<section class="card"><h2>Tokens</h2>${table('Tokens', heads(['Token', 'Ends in', 'Since', 'May']), view.tokens.map(tokenRow))}</section>
<section class="card"><h2>Requests a day</h2>
<div data-part="keys/${view.id}/usage"><p class="quiet">Adding up ${DAYS} days …
<noscript><a href="keys/${view.id}/usage">Show them</a></noscript></p></div></section>
<h2>What can be done</h2>
<div class="cards pairs">${cards}</div>`;

const tokenRow = (token: TokenView): (Html | string)[] => [
  token.label,
  markup`<code>…${token.last}</code>`,
  time(token.since),
  tokenText(token),
];

/** The counters of this moment. */
const live = (view: KeyView): Html => markup`<section class="gauges" data-live="keys/${view.id}/live" data-seconds="2">
<div class="card"><h2>This minute</h2>${meter('Requests this minute', view.usedThisMinute, view.perMinute)}</div>
<div class="card"><h2>Today</h2>${meter('Requests today', view.usedToday, view.perDay)}</div></section>`;

function card(site: Site, view: KeyView, name: string, action: KeyAction, refused: Refused | undefined): Html {
  const { title, effect, fields = [], proposed } = action;
  const sent = refused?.sent ?? { ...nothingSent, values: proposed?.(view) ?? {} };
  const button = markup`<button ${name === 'revoke' ? markup`class="danger"` : ''}>${title}</button>`;
  return markup`<section class="card"><h3>${title}</h3><p>${sentence(effects[effect])}</p>
${form(site, `/keys/${view.id}/${name}`, button, markup`${fields.map((one) => field(name, one, sent))}`)}</section>`;
}

/** `/keys/new`. */
export function addNewKeyPage(app: Hono, site: Site): void {
  const showCreation = (c: Context, refused?: Refused): Response | Promise<Response> => {
    const page = { title: 'Create a key', part: 'keys', failure: refused?.failure } as const;
    return show(c, site, page, creation(site, refused), refused !== undefined);
  };
  const { target } = site;
  app.get('/keys/new', (c) => showCreation(c));
  onForm(
    app,
    '/keys/new',
    async (c, values) => {
      const rules = { name: parseName, expires: optional(parseFutureTime), ...planParsers(values) };
      const { name, plan, expires: expiresAt, ...given } = parseForm(values, rules);
      const limits = limitsOn(plan, given, target.stage);
      return finish(c, site, { newToken: await createKey(target, { name, plan, limits, expiresAt }), text: '' });
    },
    showCreation,
  );
}

/** Shows what was done: the new token in the answer to its form, and nowhere else; words on another page. */
async function finish(c: Context, site: Site, done: Done, path = '/keys'): Promise<Response> {
  if (typeof done === 'string') {
    await site.keys.refresh();
    return redirectTo(c, site, path, done);
  }
  const { newToken, text } = done;
  // A page that is on its way counts as shown: of what its reader has seen, no server knows.
  await newToken.confirmShown();
  await site.keys.refresh();
  const shown = markup`<h1>${newToken.name}</h1>
<p>${newToken.name} ${planOfNewKey(newToken)} Token: ${newToken.label}. Expires: ${timeOrNever(newToken.expires)}. ${text}</p>
<section class="card secret"><p><strong>Copy the key now: it is shown this once, and stored nowhere.</strong></p>
${copyable('Key', 'new-key', newToken.key)}${copyable('Try it', 'new-curl', curlWith(newToken, site.target.baseUrl))}</section>
<p class="links"><a href="keys/${newToken.id}">To the key</a> <a href="keys">All keys</a></p>`;
  return show(c, site, { title: 'New key', part: 'keys' }, shown);
}

const copyable = (label: string, id: string, text: string): Html => markup`<h2>${label}</h2>
<div class="copy"><code id="${id}" tabindex="0">${text}</code><button type="button" data-copy="${id}">Copy</button></div>`;

const fields: readonly Field[] = [
  { name: 'name', label: 'Name', hint: 'Whose key it is. Several keys may have the same.' },
  ...planFields,
  { name: 'expires', label: 'Expires', hint: 'Such as 2030-12-31, 2030-12-31T18:00Z or 90d. Empty: never.' },
];

function creation(site: Site, refused: Refused | undefined): Html {
  const filled = markup`${fields.map((one) => field('create', one, refused?.sent ?? nothingSent))}`;
  return markup`<p class="crumbs"><a href="keys">Keys</a></p><h1>Create a key</h1>
<section class="card narrow"><p>${sentence(effects.create)} It works from the next request on.</p>
${form(site, '/keys/new', markup`<button>Create the key</button>`, filled)}</section>`;
}

/** Bars stand against the quota; where none reaches a quarter of it, against the highest of them. */
function chart({ days, perDay }: Usage): Html {
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
