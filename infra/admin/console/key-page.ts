import type { Context, Hono } from 'hono';
import { plans } from '../../../shared/keys/plans.ts';
import { failureText } from '../admin-error.ts';
import type { KeyView } from '../keys/key-view.ts';
import { showKey } from '../keys/list-keys.ts';
import type { Target } from '../target.ts';
import { dailyUsage, type Usage } from '../usage.ts';
import { effects, number, percent, time } from '../words.ts';
import { attempt, form, type Refused, valuesOf } from './form.ts';
import { type KeyAction, keyActions } from './key-actions.ts';
import { finish } from './new-key-page.ts';
import { stateBadge } from './keys-page.ts';
import { alert, facts, field, type Html, markup, meter, nothingSent, sentence, table } from './markup.ts';
import { show, showPart, type Site } from './site.ts';

const DAYS = 30;
const USAGE_MS = 60_000;

/** With the name of the form that it was sent with. */
type RefusedAction = Refused & { readonly action: string };

/** `/keys/ID`: what a key may, how much it did, and what can be done to it. */
export function addKeyPage(app: Hono, site: Site): void {
  const usage = rememberedUsage(site.target);
  app.get('/keys/:id', (c) => showKeyPage(c, site, c.req.param('id')));
  for (const [action, { run }] of Object.entries(keyActions)) {
    app.post(`/keys/:id/${action}`, async (c) => {
      const id = c.req.param('id') ?? '';
      const values = await valuesOf(c);
      const outcome = await attempt(values, () => run(site, id, values));
      usage.forget(id);
      return 'failure' in outcome
        ? showKeyPage(c, site, id, { action, ...outcome })
        : finish(c, site, outcome.done, action === 'revoke' ? undefined : id, [id]);
    });
  }
  app.get('/keys/:id/live', async (c) => {
    const id = c.req.param('id');
    const view = (await site.keys.readOne(id)) ?? (await showKey(site.target, id));
    return showPart(c, site, { title: view.name, part: 'keys' }, live(view));
  });
  app.get('/keys/:id/usage', async (c) => {
    const page = { title: 'Usage', part: 'keys' } as const;
    try {
      return await showPart(c, site, page, chart(await usage.of(c.req.param('id'))));
    } catch (error) {
      const failure = failureText(error, 'load the page again');
      if (failure === undefined) throw error;
      return showPart(c, site, page, alert(failure));
    }
  });
}

async function showKeyPage(c: Context, site: Site, id: string, refused?: RefusedAction): Promise<Response> {
  const view = await showKey(site.target, id);
  const actions = Object.entries(keyActions).filter(([, { suits }]) => suits(view));
  const content = markup`<p class="crumbs"><a href="/keys">Keys</a></p>
<div class="head"><h1>${view.name}</h1>${stateBadge(view)}</div>
${facts(factsOf(view))}
${live(view)}
<section class="card"><h2>Requests a day</h2>
<div data-part="/keys/${id}/usage"><p class="quiet">Adding up ${DAYS} days …
<noscript><a href="/keys/${id}/usage">Show them</a></noscript></p></div></section>
<h2>What can be done</h2>
<div class="cards pairs">${actions.map(([name, action]) => card(site, view, name, action, refused))}</div>`;
  const page = { title: view.name, part: 'keys', failure: refused?.failure } as const;
  return show(c, site, page, content, refused ? 422 : 200);
}

/** It takes API Gateway many calls, of which it allows few. */
function rememberedUsage(target: Target) {
  const known = new Map<string, { readonly at: number; readonly usage: Usage }>();
  return {
    async of(id: string): Promise<Usage> {
      const { at, usage } = known.get(id) ?? { at: 0, usage: undefined };
      if (usage && Date.now() - at < USAGE_MS) return usage;
      const fresh = await dailyUsage(target, id, DAYS);
      known.set(id, { at: Date.now(), usage: fresh });
      return fresh;
    },
    /** Its quota may be another one now. */
    forget: (id: string): void => void known.delete(id),
  };
}

const factsOf = (view: KeyView): Readonly<Record<string, Html | string>> => ({
  Id: markup`<code>${view.id}</code>`,
  Plan: plans[view.plan].title,
  Created: time(view.created),
  'Last used': view.lastUsed === null ? 'never' : time(view.lastUsed),
  Expires: view.expires === null ? 'never' : time(view.expires),
});

/** The counters of this moment. */
const live = (view: KeyView): Html => markup`<section class="gauges" data-live="/keys/${view.id}/live" data-seconds="2">
<div class="card"><h2>This minute</h2>${meter('Requests this minute', view.usedThisMinute, view.perMinute)}</div>
<div class="card"><h2>Today</h2>${meter('Requests today', view.usedToday, view.perDay)}</div></section>`;

function card(site: Site, view: KeyView, name: string, action: KeyAction, refused: RefusedAction | undefined): Html {
  const sent = refused?.action === name ? refused.sent : { ...nothingSent, values: action.proposed?.(view) ?? {} };
  const fields = markup`${(action.fields ?? []).map((one) => field(name, one, sent))}`;
  return markup`<section class="card"><h3>${action.title}</h3><p>${sentence(effects[action.effect])}</p>
${form(site, `/keys/${view.id}/${name}`, { button: action.title, isDangerous: action.isDangerous === true }, fields)}</section>`;
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
  const rows = days
    .toReversed()
    .map(
      ({ date, requests }) =>
        markup`<tr><td>${date}</td><td>${number(requests)}</td><td>${percent(requests / perDay)}</td></tr>`,
    );
  const head = ['Day', 'Requests', 'Of the quota'].map((title) => markup`<th scope="col">${title}</th>`);
  return markup`<p class="quiet">${words}</p>
<svg class="chart" viewBox="0 -2 ${days.length * width} ${height + 4}" preserveAspectRatio="none" role="img" aria-label="${words}">${quota}${bars}</svg>
<p class="axis"><span>${days[0]?.date}</span><span>${quota === '' ? '' : 'line: the quota'}</span><span>today</span></p>
<details><summary>As a table</summary>${table('Requests a day', head, rows)}</details>`;
}
