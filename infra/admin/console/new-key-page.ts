import type { Context, Hono } from 'hono';
import { limitsOn, parseFutureTime, parseName } from '../inputs.ts';
import { createKey } from '../keys/create-key.ts';
import { curlWith, effects, planOfNewKey, timeOrNever } from '../words.ts';
import { form, onForm, optional, parseForm, planFields, planParsers, type Refused } from './form.ts';
import type { Done } from './key-actions.ts';
import { type Field, field, type Html, markup, nothingSent, sentence } from './markup.ts';
import { redirectTo, show, type Site } from './site.ts';

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
      return finish(c, site, { newKey: await createKey(target, { name, plan, limits, expiresAt }), text: '' });
    },
    showCreation,
  );
}

/** Shows what was done: the new key in the answer to its form, and nowhere else; words on another page. */
export async function finish(c: Context, site: Site, done: Done, path = '/keys'): Promise<Response> {
  await site.keys.refresh();
  if (typeof done === 'string') return redirectTo(c, site, path, done);
  const { newKey, text } = done;
  const content = markup`<h1>${newKey.name}</h1>
<p>${newKey.name} ${planOfNewKey(newKey)} Expires: ${timeOrNever(newKey.expires)}. ${text}</p>
<section class="card secret"><p><strong>Copy the key now: it is shown this once, and stored nowhere.</strong></p>
${copyable('Key', 'new-key', newKey.key)}${copyable('Try it', 'new-curl', curlWith(newKey, site.target.baseUrl))}</section>
<p class="links"><a href="/keys/${newKey.id}">To the key</a> <a href="/keys">All keys</a></p>`;
  return show(c, site, { title: 'New key', part: 'keys' }, content);
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
  return markup`<p class="crumbs"><a href="/keys">Keys</a></p><h1>Create a key</h1>
<section class="card narrow"><p>${sentence(effects.create)} It works from the next request on.</p>
${form(site, '/keys/new', markup`<button>Create the key</button>`, filled)}</section>`;
}
