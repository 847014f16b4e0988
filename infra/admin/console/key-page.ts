import type { Context, Hono } from 'hono';
import type { HistoryRow } from '../../../shared/key-registry/key-history.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { plans } from '../../../shared/keys/plans.ts';
import { inputs } from '../keys/inputs.ts';
import { type ActionResult, createAction, type KeyAction, keyActions } from '../keys/key-actions.ts';
import { curlWith, historyCells, planOfToken, revokedText, tokenText } from '../keys/key-sentences.ts';
import { type KeyView, keyView } from '../keys/key-view.ts';
import { counted, formatTime, timeOrNever } from '../service/text.ts';
import { dailyUsage } from '../keys/usage.ts';
import { stateBadge } from './key-lists.ts';
import { dangerButton, facts, field, type Field, hidden, type Html, keysLink, linksTo } from './markup.ts';
import { markup, meter, nothingSent, sentence, type Sent, table } from './markup.ts';
import { fieldOf, onForm, parseInputs, shownAs, type Site, unreadHistory } from './site.ts';
import { CHART_DAYS, usagePicture } from './usage-picture.ts';

/** Actions that stop customer requests: the page always asks for confirmation. */
const dangers: ReadonlySet<string> = new Set(['suspend', 'revoke-token', 'revoke']);

/** `/keys/ID`: figures, usage, tokens, history and actions of a key. */
export function addKeyPage(app: Hono, site: Site): void {
  const { target } = site;
  const find = (c: Context): Promise<KeyRecord> => site.key(c.req.param('id') ?? '');
  const show = async (c: Context, sent: Sent = nothingSent, sentTo?: string): Promise<Response> => {
    const record = await find(c);
    const view = keyView(record);
    const isRevoked = view.state === 'revoked';
    const history = await target.history.of(record, 20).then(historyTable, unreadHistory);
    const content = markup`${keyFacts(view)}
${isRevoked ? markup`<p>${revokedText(view)}</p>` : figures(view)}
${usagePicture(await dailyUsage(target, record, CHART_DAYS), view.perDay)}
<p class="links"><a href="keys/${view.id}/changes">What it changed</a></p>
${!isRevoked && tokenSection(view)}
<section class="card"><h2>Latest changes</h2>${history}</section>
${!isRevoked && actionForms(site, view, sent, sentTo)}`;
    const head = { title: view.name, beside: stateBadge(view), crumbs: keysLink };
    return site.show(c, { ...head, part: 'keys', failure: sent.formError }, content);
  };
  app.get('/keys/:id', (c) => show(c));
  app.get('/keys/:id/figures', async (c) => c.html(figures(keyView(await find(c)))));
  for (const named of Object.entries(keyActions)) {
    const [name, action] = named;
    const work = async (c: Context, texts: Sent['values']): Promise<Response> => {
      const view = keyView(await find(c));
      const values = parseInputs(action, texts);
      const warning = action.confirmation?.(view, values, target);
      const effect = warning ?? (dangers.has(name) ? sentence(action.effect) : undefined);
      const page = { title: `${action.title}: ${view.name}?`, crumbs: linksTo(view), part: 'keys' } as const;
      if (effect !== undefined && texts['confirmed'] === undefined)
        return site.ask(c, page, question(site, view, named, texts, effect), `keys/${view.id}`);
      const done = await action.run(target, values, view.id);
      return showDone(c, site, done, name === 'revoke' ? '/keys' : `/keys/${view.id}`);
    };
    onForm(app, `/keys/:id/${name}`, work, (c, sent) => show(c, sent, name));
  }
}

const keyFacts = ({ id, plan, created, lastUsed, expires }: KeyView): Html =>
  facts({
    Id: markup`<code>${id}</code>`,
    Plan: plans[plan].title,
    Created: formatTime(created),
    'Last used': timeOrNever(lastUsed),
    Expires: timeOrNever(expires),
  });

const figures = ({ id, usedThisMinute, perMinute, usedToday, perDay }: KeyView): Html =>
  markup`<section class="gauges" data-live="keys/${id}/figures" data-seconds="5">
<div class="card"><h2>This minute</h2>${meter('Requests this minute', usedThisMinute, perMinute)}</div>
<div class="card"><h2>Today</h2>${meter('Requests today', usedToday, perDay)}</div></section>`;

function tokenSection({ tokens }: KeyView): Html {
  const rows = tokens.map((token) => [token.name, formatTime(token.since), tokenText(token)]);
  return markup`<section class="card"><h2>Tokens</h2>${table('Tokens', ['Token', 'Since', 'Access'], rows)}</section>`;
}

const historyTable = (rows: readonly HistoryRow[]): Html =>
  rows.length === 0
    ? markup`<p class="quiet">None so far.</p>`
    : table('Latest changes', ['Time (UTC)', 'Actor', 'Change'], rows.map(historyCells));

/** Forms of the actions, each closed until it is opened. @param sentTo the action of `sent`, which is open */
function actionForms(site: Site, view: KeyView, sent: Sent, sentTo?: string): Html {
  const form = ([name, action]: NamedAction): Html => {
    const { title, effect } = action;
    const isSent = name === sentTo;
    const filled = isSent ? sent : { ...nothingSent, values: valuesOf(name, action, view) };
    const button = dangers.has(name) ? dangerButton(`${title} …`) : markup`<button>${title}</button>`;
    const fields = fieldsOf(name, action, view).map((one) => field(name, one, filled));
    const asShown = Object.entries(filled.values).filter(([each]) => action.inputs.map(shownAs).includes(each));
    return markup`<details class="card ${dangers.has(name) && 'stops'}" ${isSent && markup`open`}><summary>${title}</summary>
<p>${sentence(effect)}</p>${site.form(`/keys/${view.id}/${name}`, button, [...fields, ...hidden(Object.fromEntries(asShown))])}</details>`;
  };
  const fitting = Object.entries(keyActions).filter(([, { isApplicable }]) => isApplicable(view));
  return markup`<h2>Actions</h2><div class="cards pairs">${fitting.map(form)}</div>`;
}

/** The values of a form before it was sent: those of today, or the defaults of the action. */
function valuesOf(name: string, { defaults = {} }: KeyAction, view: KeyView): Sent['values'] {
  const { plan, perMinute, perDay, expires } = view;
  if (name === 'move') return { plan, perMinute: String(perMinute), perDay: String(perDay) };
  if (name !== 'edit') return defaults;
  const now = { name: view.name, expires: expires === null ? 'never' : `${expires.slice(0, 16)}Z` };
  return { ...now, [shownAs('name')]: now.name, [shownAs('expires')]: now.expires };
}

function fieldsOf(action: string, { inputs: names }: KeyAction, { tokens }: KeyView): Field[] {
  // A rotation replaces the newest token of a label.
  const newest = [...new Map(tokens.map(({ label, name }) => [label, name]))];
  const all = tokens.map(({ name, since }) => [name, `${name}, since ${formatTime(since)}`] as const);
  const choices = { ...(action === 'rotate' && { label: newest }), token: all };
  return names.map((name) => fieldOf(name, choices));
}

type NamedAction = readonly [name: string, action: KeyAction];

function question(site: Site, view: KeyView, [name, action]: NamedAction, values: Sent['values'], effect: string) {
  const { id, plan, lastUsed, usedThisMinute, usedToday, tokens } = view;
  const shown = action.inputs.flatMap((input) => {
    const { presence, choices = [], title: label } = inputs[input];
    if (presence === 'agreed' && values['plan'] !== 'enterprise') return [];
    const { [input]: text = '' } = values;
    const none = input === 'for' ? 'until the key is resumed' : 'none';
    return [[label, text.trim() === '' ? none : (choices.find(([choice]) => choice === text)?.[1] ?? text)]];
  });
  return markup`<p>${effect}</p>${facts({
    ...Object.fromEntries(shown),
    Id: markup`<code>${id}</code>`,
    ...((values['plan'] ?? plan) !== plan && { 'Plan until now': plans[plan].title }),
    'Last used': timeOrNever(lastUsed),
    'This minute': counted(usedThisMinute, 'request'),
    Today: counted(usedToday, 'request'),
    Tokens: tokens.map(({ name: token }) => token).join(', '),
  })}
${site.form(`/keys/${id}/${name}`, dangerButton(action.title), hidden({ ...values, confirmed: 'yes' }))}`;
}

export function addNewKeyPage(app: Hono, site: Site): void {
  const { title, effect, inputs: names, run, retryEffect } = createAction;
  const showForm = (c: Context, sent = nothingSent): Response | Promise<Response> => {
    const fields = names.map((name) => field('create', fieldOf(name), sent));
    const form = markup`<section class="card narrow"><p>${sentence(effect)} It is valid immediately.</p>
${site.form('/keys/new', markup`<button>Create the key</button>`, fields)}</section>`;
    return site.show(c, { title, crumbs: keysLink, part: 'keys', failure: sent.formError }, form);
  };
  const work = async (c: Context, texts: Sent['values']): Promise<Response> =>
    showDone(c, site, await run(site.target, parseInputs(createAction, texts), ''), '/keys');
  app.get('/keys/new', (c) => showForm(c));
  onForm(app, '/keys/new', work, showForm, retryEffect);
}

/** Shows the result: a new token only in the response to its form; otherwise a message after a redirect. */
async function showDone(c: Context, site: Site, { token, message }: ActionResult, path: string): Promise<Response> {
  // A page that was sent counts as shown.
  await token?.confirmShown();
  if (!token) return site.redirect(c, path, message);
  const shown = markup`<p>${token.name} ${planOfToken(token)} Token: ${token.label}. Expires: ${timeOrNever(token.expires)}. ${message}</p>
<section class="card secret"><p><strong>Copy this token, the customer’s API key, now. It is shown once and stored nowhere.</strong></p>
${copyable('Token', 'new-token', token.token)}${copyable('Try it', 'new-curl', curlWith(token, site.target.baseUrl))}</section>
<p class="links"><a href="keys/${token.id}">Open the key</a> <a href="keys">All keys</a></p>`;
  return site.show(c, { title: token.name, part: 'keys' }, shown);
}

const copyable = (label: string, id: string, text: string): Html => markup`<h2>${label}</h2>
<div class="copy"><code id="${id}" tabindex="0">${text}</code><button type="button" data-copy="${id}">Copy</button></div>`;
