import type { Context, Hono } from 'hono';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { plans } from '../../../shared/keys/plans.ts';
import { awsReason } from '../service/failures.ts';
import { createAction, type ActionResult } from '../keys/key-actions.ts';
import { curlWith, historyCells, planOfToken, revokedText, tokenText } from '../keys/key-sentences.ts';
import { findRecord } from '../keys/find-key.ts';
import { type KeyView, keyView } from '../keys/key-view.ts';
import type { Target } from '../service/target.ts';
import { formatTime, timeOrNever } from '../service/text.ts';
import { dailyUsage } from '../keys/usage.ts';
import { addKeyForms, cardForms } from './key-forms.ts';
import { stateBadge } from './keys-page.ts';
import { facts, field, type Html, markup, meter, nothingSent, sentence, type Sent, table } from './markup.ts';
import { fieldOf, onForm, parseInputs, type Site } from './site.ts';
import { CHART_DAYS, usagePicture } from './usage-picture.ts';

const MAX_CHANGES = 20;

/** `/keys/ID`: access, usage, tokens and actions of a key. */
export function addKeyPage(app: Hono, site: Site): void {
  const { target } = site;
  const show = async (c: Context, sent: Sent = nothingSent, sentTo?: string): Promise<Response> => {
    const record = await findRecord(target, c.req.param('id') ?? '');
    const view = keyView(record);
    const history = await historySection(target, record);
    const page = { title: view.name, part: 'keys', failure: sent.formError } as const;
    const usage = usagePicture(await dailyUsage(target, record, CHART_DAYS), view.perDay);
    if (view.state === 'revoked')
      return site.show(c, page, content(view, markup`<p>${revokedText(view)}</p>${usage}`, history));
    const rest = useAndActions(view, usage, cardForms(site, view, sent, sentTo));
    return site.show(c, page, content(view, rest, history));
  };
  app.get('/keys/:id', (c) => show(c));
  addKeyForms(app, site, show, (c, done, path) => showDone(c, site, done, path));
}

function content(view: KeyView, rest: Html, history: Html): Html {
  const { id, name, plan, created, lastUsed, expires } = view;
  return markup`<p class="crumbs"><a href="keys">Keys</a></p>
<div class="head"><h1>${name}</h1>${stateBadge(view)}</div>
${facts({
  Id: markup`<code>${id}</code>`,
  Plan: plans[plan].title,
  Created: formatTime(created),
  'Last used': timeOrNever(lastUsed),
  Expires: timeOrNever(expires),
})}
${rest}
${history}`;
}

/** Usage, tokens and actions of a key that is not revoked. */
function useAndActions(view: KeyView, usage: Html, [forms, dangers]: readonly (readonly Html[])[]): Html {
  const { id, usedThisMinute, perMinute, usedToday, perDay } = view;
  const tokens = view.tokens.map((token) => [token.name, formatTime(token.since), tokenText(token)]);
  return markup`<section class="gauges" data-live="keys/${id}" data-seconds="5">
<div class="card"><h2>This minute</h2>${meter('Requests this minute', usedThisMinute, perMinute)}</div>
<div class="card"><h2>Today</h2>${meter('Requests today', usedToday, perDay)}</div></section>
${usage}
<section class="card"><h2>Tokens</h2>${table('Tokens', ['Token', 'Since', 'Access'], tokens)}</section>
<h2>Actions</h2>
<div class="cards pairs">${forms}</div>
<h2>Actions that stop customer requests</h2>
<div class="cards pairs dangers">${dangers}</div>`;
}

/** Without permission to read the history, an admin still sees the rest of the page. */
async function historySection({ history }: Target, record: KeyRecord): Promise<Html> {
  const shown = await history.of(record, MAX_CHANGES).catch((error: unknown) => {
    const reason = awsReason(error);
    if (reason === undefined) throw error;
    return `The history cannot be read. ${reason}.`;
  });
  return markup`<section class="card"><h2>Latest changes</h2>
${typeof shown === 'string' ? shown : table('Latest changes', ['Time (UTC)', 'Actor', 'Change'], shown.map(historyCells))}</section>`;
}

/** `/keys/new`. */
export function addNewKeyPage(app: Hono, site: Site): void {
  const { title, effect, inputs, run, retryEffect } = createAction;
  const showForm = (c: Context, sent = nothingSent): Response | Promise<Response> => {
    const fields = inputs.map((name) => field('create', fieldOf(name), sent));
    const form = markup`<p class="crumbs"><a href="keys">Keys</a></p><h1>${title}</h1>
<section class="card narrow"><p>${sentence(effect)} It is valid immediately.</p>
${site.form('/keys/new', markup`<button>Create the key</button>`, fields)}</section>`;
    return site.show(c, { title, part: 'keys', failure: sent.formError }, form);
  };
  app.get('/keys/new', (c) => showForm(c));
  onForm(
    app,
    '/keys/new',
    async (c, texts) => showDone(c, site, await run(site.target, parseInputs(createAction, texts), ''), '/keys'),
    showForm,
    retryEffect,
  );
}

/** Shows the result: a new token only in the response to its form; otherwise a message after a redirect. */
async function showDone(c: Context, site: Site, { token, message }: ActionResult, path: string): Promise<Response> {
  // A page that was sent counts as shown.
  await token?.confirmShown();
  if (!token) return site.redirect(c, path, message);
  const shown = markup`<h1>${token.name}</h1>
<p>${token.name} ${planOfToken(token)} Token: ${token.label}. Expires: ${timeOrNever(token.expires)}. ${message}</p>
<section class="card secret"><p><strong>Copy this token, the customer’s API key, now. It is shown once and stored nowhere.</strong></p>
${copyable('Token', 'new-token', token.key)}${copyable('Try it', 'new-curl', curlWith(token, site.target.baseUrl))}</section>
<p class="links"><a href="keys/${token.id}">Open the key</a> <a href="keys">All keys</a></p>`;
  return site.show(c, { title: 'New token', part: 'keys' }, shown);
}

const copyable = (label: string, id: string, text: string): Html => markup`<h2>${label}</h2>
<div class="copy"><code id="${id}" tabindex="0">${text}</code><button type="button" data-copy="${id}">Copy</button></div>`;
