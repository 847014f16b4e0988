import type { Context, Hono } from 'hono';
import { plans } from '../../../shared/keys/plans.ts';
import { type ActionResult, type KeyAction, keyActions } from '../keys/key-actions.ts';
import { type KeyView, showKey } from '../keys/key-view.ts';
import { counted, formatTime, timeOrNever } from '../service/text.ts';
import { facts, field, type Field, hidden, type Html, markup, nothingSent, sentence, type Sent } from './markup.ts';
import { fieldOf, onForm, parseInputs, type Site } from './site.ts';

/** Actions that stop customer requests: the page always asks for confirmation. */
const dangers: ReadonlySet<string> = new Set(['suspend', 'end', 'revoke']);

/** Fields of an action, with the plans and tokens to choose from. */
function fieldsOf(action: string, { inputs }: KeyAction, { tokens }: KeyView): Field[] {
  // A rotation replaces the newest token of a label.
  const newest = [...new Map(tokens.map(({ label, name }) => [label, name]))];
  return inputs.map((input) => {
    const given = fieldOf(input);
    if (input === 'plan') return { ...given, choices: [['', 'Choose a plan'], ...(given.choices ?? [])] };
    if (input === 'label' && action === 'rotate') return { ...given, choices: newest };
    if (input !== 'token') return given;
    return { ...given, choices: tokens.map(({ name, since }) => [name, `${name}, since ${formatTime(since)}`]) };
  });
}

/** Forms of a key's page: safe actions, and those that stop customer requests. @param sentTo the action of `sent` */
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
  const fitting = Object.entries(keyActions).filter(
    ([, { isApplicable }]) => view.state !== 'revoked' && isApplicable(view),
  );
  return [false, true].map((isDanger) => fitting.filter(([name]) => dangers.has(name) === isDanger).map(card));
}

/**
 * `/keys/ID/ACTION`: runs the action, or asks for confirmation.
 *
 * @param show renders the page of the key with the submitted values @param showDone renders the result
 */
export function addKeyForms(
  app: Hono,
  site: Site,
  show: (c: Context, sent: Sent, sentTo: string) => Promise<Response>,
  showDone: (c: Context, done: ActionResult, path: string) => Promise<Response>,
): void {
  const { target, base } = site;
  for (const [name, action] of Object.entries(keyActions)) {
    const path = `/keys/:id/${name}`;
    const work = async (c: Context, texts: Sent['values']): Promise<Response> => {
      const id = idOf(c);
      const values = parseInputs(action, texts);
      if (texts['confirmed'] === undefined) {
        const view = await showKey(target, id);
        const effect = action.confirmation?.(view, values) ?? (dangers.has(name) ? sentence(action.effect) : undefined);
        const page = { title: `${action.title}: ${view.name}?`, part: 'keys' } as const;
        if (effect !== undefined)
          return site.show(c, page, question(site, view, action, `/keys/${id}/${name}`, texts, effect));
      }
      return showDone(c, await action.run(target, values, id), name === 'revoke' ? '/keys' : `/keys/${id}`);
    };
    onForm(app, path, work, (c, sent) => show(c, sent, name));
    // A reload of the response to a form.
    app.get(path, (c) => c.redirect(`${base}/keys/${idOf(c)}`));
  }
}

const idOf = (c: Context): string => c.req.param('id') ?? '';

/** Confirmation page: the action, its effect and its key. */
function question(
  site: Site,
  view: KeyView,
  { title }: KeyAction,
  path: string,
  values: Sent['values'],
  effect: string,
): Html {
  const { id, name: whom, plan, lastUsed, usedThisMinute, usedToday, tokens } = view;
  return markup`<p class="crumbs"><a href="keys">Keys</a> / <a href="keys/${id}">${whom}</a></p>
<h1>${title}: ${whom}?</h1>
<section class="card narrow"><p>${effect}</p>
${facts({
  Id: markup`<code>${id}</code>`,
  Plan: plans[plan].title,
  'Last used': timeOrNever(lastUsed),
  'This minute': counted(usedThisMinute, 'request'),
  Today: counted(usedToday, 'request'),
  Tokens: tokens.map(({ name: token }) => token).join(', '),
})}
${site.form(path, markup`<button class="danger">${title}</button>`, hidden({ ...values, confirmed: 'yes' }))}
<p><a href="keys/${id}">Cancel</a></p></section>`;
}
