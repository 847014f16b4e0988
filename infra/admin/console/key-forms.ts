import type { Context, Hono } from 'hono';
import { plans } from '../../../shared/keys/plans.ts';
import { type Inputs, limitsOn } from '../inputs.ts';
import { type Done, type KeyAction, keyActions, revokeAction } from '../key-actions.ts';
import { type KeyView, showKey } from '../keys/key-view.ts';
import type { Target } from '../target.ts';
import { counted, limitsText, formatTime, timeOrNever } from '../text-format.ts';
import { facts, field, type Field, hidden, type Html, markup, nothingSent, sentence, type Sent } from './markup.ts';
import { fieldOf, FormFault, onForm, parseInputs, type Site } from './site.ts';

/** The actions that the page of a key has forms for. */
const actions: Readonly<Record<string, KeyAction>> = { ...keyActions, revoke: revokeAction };

const dangers: ReadonlySet<string> = new Set(['suspend', 'end', 'revoke']);

/** What an action refuses the customer, in sentences: the page asks first. Those that ask at the terminal too say it themselves. */
const refusals: Readonly<Record<string, (target: Target, view: KeyView, inputs: Inputs) => string | undefined>> = {
  suspend: (_, __, { for: forMs }) => {
    const end = forMs === undefined ? 'an admin resumes it' : formatTime(new Date(Date.now() + forMs).toISOString());
    return `All its requests are refused until ${end}.`;
  },
  rotate: (_, view, { label, grace }) => {
    const names = view.tokens.filter((token) => token.label === label && !token.neverShown).map(({ name }) => name);
    if (grace > 0 || names.length === 0) return undefined;
    return `Requests with ${names.join(' or ')} are refused at once, before their user has the new one.`;
  },
  move: ({ stage }, { perMinute, perDay, usedThisMinute, usedToday }, { plan, ...agreed }) => {
    const limits = limitsOn(plan, agreed, stage);
    if (limits.perMinute >= perMinute && limits.perDay >= perDay) return undefined;
    const isUsedUp = usedThisMinute >= limits.perMinute || usedToday >= limits.perDay;
    const now = isUsedUp ? ' It has used that up already, so its next request is refused.' : '';
    return `Its limits go down to ${limitsText(limits)}: requests above that are refused.${now}`;
  },
};

/** @throws FormFault */
function refusedBy(name: string, { inputs, asks }: KeyAction, target: Target, view: KeyView, texts: Sent['values']) {
  const values = parseInputs(inputs, texts);
  return asks ? asks(view, values) : refusals[name]?.(target, view, values);
}

/** The fields of an action on a key, with what fits that: a plan but its own, unless limits are agreed on it; a token that it has. */
function fieldsOf(action: string, { inputs }: KeyAction, view: KeyView): Field[] {
  return inputs.map((input) => {
    const given = fieldOf(input);
    if (input === 'token')
      return {
        ...given,
        choices: view.tokens.map(({ name, since }) => [name, `${name}, since ${formatTime(since)}`] as const),
      };
    if (input === 'label' && action === 'rotate') return { ...given, choices: newestTokens(view) };
    if (input !== 'plan') return given;
    const others = given.choices?.filter(([id]) => id !== view.plan || plans[view.plan].limits === 'agreed') ?? [];
    return { ...given, choices: [['', 'Choose a plan'] as const, ...others] };
  });
}

/** The name of the token that a rotation replaces, by its label. */
const newestTokens = ({ tokens }: KeyView) => [...new Map(tokens.map(({ label, name }) => [label, name]))];

/** The forms of a key's page: those of each day, and those that refuse the customer. @param sentTo the action that `sent` was sent to */
export function cardForms(site: Site, view: KeyView, sent: Sent, sentTo?: string): readonly Html[][] {
  const { plan, perMinute, perDay } = view;
  const agreed = plans[plan].limits === 'agreed' && { plan, perMinute: String(perMinute), perDay: String(perDay) };
  const card = ([name, action]: readonly [string, KeyAction]): Html => {
    const { title, effect, defaults } = action;
    const filled = name === sentTo ? sent : { ...nothingSent, values: { ...agreed, ...defaults } };
    const button = dangers.has(name)
      ? markup`<button class="danger">${title} …</button>`
      : markup`<button>${title}</button>`;
    const inputs = fieldsOf(name, action, view).map((one) => field(name, one, filled));
    return markup`<section class="card"><h3>${title}</h3><p>${sentence(effect)}</p>
${site.form(`/keys/${view.id}/${name}`, button, inputs)}</section>`;
  };
  const fitting = Object.entries(actions).filter(([, { suits }]) => suits(view));
  return [false, true].map((isDanger) => fitting.filter(([name]) => dangers.has(name) === isDanger).map(card));
}

/**
 * `/keys/ID/ACTION`: does it; where that refuses the customer something, it asks first, on a page of its own.
 *
 * @param show the page of the key, again with what was sent @param showDone what was done
 */
export function addKeyForms(
  app: Hono,
  site: Site,
  show: (c: Context, sent: Sent, sentTo: string) => Promise<Response>,
  showDone: (c: Context, done: Done, path: string) => Promise<Response>,
): void {
  for (const [name, action] of Object.entries(actions)) {
    const path = `/keys/:id/${name}`;
    const ask = async (c: Context, sent: Sent): Promise<Response> => {
      const view = await showKey(site.target, idOf(c));
      const refused = refusedBy(name, action, site.target, view, sent.values);
      if (refused === undefined) return show(c, sent, name);
      const page = { title: `${action.title}: ${view.name}?`, part: 'keys', failure: sent.failure } as const;
      return site.show(c, page, question(site, view, name, sent.values, refused));
    };
    app.get(path, async (c) => {
      try {
        return await ask(c, { ...nothingSent, values: c.req.query() });
      } catch (error) {
        if (!(error instanceof FormFault)) throw error;
        // The page that a form has led to, loaded again.
        return c.redirect(`${site.base}/keys/${idOf(c)}`);
      }
    });
    const work = async (c: Context, texts: Sent['values']): Promise<Response> => {
      const id = idOf(c);
      const isSure = texts['sure'] !== undefined;
      if (!isSure && refusedBy(name, action, site.target, await showKey(site.target, id), texts) !== undefined)
        return c.redirect(`${site.base}/keys/${id}/${name}?${new URLSearchParams(texts).toString()}`, 303);
      const done = await action.run(site.target, parseInputs(action.inputs, texts), id);
      return showDone(c, done, name === 'revoke' ? '/keys' : `/keys/${id}`);
    };
    onForm(app, path, work, (c, sent) => (sent.values['sure'] === undefined ? show(c, sent, name) : ask(c, sent)));
  }
}

const idOf = (c: Context): string => c.req.param('id') ?? '';

/** Whether an action is meant, with what it refuses and whom. */
function question(site: Site, view: KeyView, name: string, values: Sent['values'], refused: string): Html {
  const { id, name: whom, plan, lastUsed, usedThisMinute, usedToday, tokens } = view;
  const { title = '' } = actions[name] ?? {};
  return markup`<p class="crumbs"><a href="keys">Keys</a> / <a href="keys/${id}">${whom}</a></p>
<h1>${title}: ${whom}?</h1>
<section class="card narrow"><p>${refused}</p>
${facts({
  Id: markup`<code>${id}</code>`,
  Plan: plans[plan].title,
  'Last used': timeOrNever(lastUsed),
  'This minute': counted(usedThisMinute, 'request'),
  Today: counted(usedToday, 'request'),
  Tokens: tokens.map(({ name: token }) => token).join(', '),
})}
${site.form(`/keys/${id}/${name}`, markup`<button class="danger">${title}</button>`, hidden({ ...values, sure: 'yes' }))}
<p><a href="keys/${id}">Leave it as it is</a></p></section>`;
}
