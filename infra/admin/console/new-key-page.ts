import type { Context, Hono } from 'hono';
import { hashApiKey } from '../../../shared/keys/api-key.ts';
import { parseFutureTime, parseName } from '../inputs.ts';
import { createKey, type NewKey } from '../keys/create-key.ts';
import { curlWith, effects, planOfNewKey, time } from '../words.ts';
import {
  attempt,
  form,
  limitsFor,
  optional,
  parseForm,
  planFields,
  planParsers,
  type Refused,
  valuesOf,
} from './form.ts';
import type { Done } from './key-actions.ts';
import { type Field, field, type Html, markup, nothingSent, type Sent, sentence } from './markup.ts';
import { redirectTo, show, type Site } from './site.ts';

type Values = Sent['values'];

/** `/keys/new`. */
export function addNewKeyPage(app: Hono, site: Site): void {
  app.get('/keys/new', (c) => showCreation(c, site));
  app.post('/keys/new', async (c) => {
    const values = await valuesOf(c);
    const outcome = await attempt(values, () => create(site, values));
    return 'failure' in outcome ? showCreation(c, site, outcome) : finish(c, site, outcome.done);
  });
}

/** Shows what was done: with the new key, on the page of a key, or above all keys. @param ids of keys that have changed */
export async function finish(c: Context, site: Site, done: Done, id?: string, ids: string[] = []): Promise<Response> {
  if (typeof done === 'string') {
    await site.keys.update(ids);
    return redirectTo(c, site, id === undefined ? '/keys' : `/keys/${id}`, done);
  }
  const { newKey, text } = done;
  await site.keys.update(ids, [hashApiKey(newKey.key)]);
  return show(c, site, { title: 'New key', part: 'keys' }, newKeyContent(newKey, text, site.target.baseUrl));
}

const copyable = (label: string, id: string, text: string): Html => markup`<h2>${label}</h2>
<div class="copy"><code id="${id}" tabindex="0">${text}</code><button type="button" data-copy="${id}">Copy</button></div>`;

/** In the answer to the form, and nowhere else. */
const newKeyContent = (newKey: NewKey, text: string, baseUrl: string): Html => markup`<h1>${newKey.name}</h1>
<p>${newKey.name} ${planOfNewKey(newKey)} Expires: ${newKey.expires === null ? 'never' : time(newKey.expires)}. ${text}</p>
<section class="card secret"><p><strong>Copy the key now: it is shown this once, and stored nowhere.</strong></p>
${copyable('Key', 'new-key', newKey.key)}${copyable('Try it', 'new-curl', curlWith(newKey, baseUrl))}</section>
<p class="links"><a href="/keys/${newKey.id}">To the key</a> <a href="/keys">All keys</a></p>`;

async function create({ target, stage }: Site, values: Values): Promise<Done> {
  const rules = { name: parseName, expires: optional(parseFutureTime), ...planParsers(values) };
  const fields = parseForm(values, rules);
  const { name, plan, expires: expiresAt } = fields;
  const newKey = await createKey(target, { name, plan, limits: limitsFor(fields, stage), expiresAt });
  return { newKey, text: '' };
}

const creationFields: readonly Field[] = [
  { name: 'name', label: 'Name', hint: 'Whose key it is. Several keys may have the same.' },
  ...planFields,
  { name: 'expires', label: 'Expires', hint: 'Such as 2030-12-31, 2030-12-31T18:00Z or 90d. Empty: never.' },
];

function showCreation(c: Context, site: Site, refused?: Refused): Response | Promise<Response> {
  const fields = markup`${creationFields.map((one) => field('create', one, refused?.sent ?? nothingSent))}`;
  const content = markup`<p class="crumbs"><a href="/keys">Keys</a></p><h1>Create a key</h1>
<section class="card narrow"><p>${sentence(effects.create)} It works from the next request on.</p>
${form(site, '/keys/new', { button: 'Create the key' }, fields)}</section>`;
  const page = { title: 'Create a key', part: 'keys', failure: refused?.failure } as const;
  return show(c, site, page, content, refused ? 422 : 200);
}
