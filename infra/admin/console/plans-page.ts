import type { Hono } from 'hono';
import { plans } from '../../../shared/keys/plans.ts';
import { plansWith } from '../keys/list-keys.ts';
import { closest } from '../usage.ts';
import { number, percent } from '../words.ts';
import { type Html, markup, meter, table } from './markup.ts';
import { show, type Site } from './site.ts';

/** From this part of a limit on, a key is shown as close to it. */
const CLOSE = 0.8;
const MOST_SHOWN = 100;

/** `/plans`: what each plan allows, who is on it, and who is close to a limit. */
export function addPlansPage(app: Hono, site: Site): void {
  app.get('/plans', async (c) => {
    const { views } = await site.keys.read();
    const all = plansWith(views).map(({ plan, title, perMinute, perDay, keys }) => {
      const used = views.reduce((sum, view) => sum + (view.plan === plan ? view.usedToday : 0), 0);
      const cells = [perMinute, perDay].map((limit) => (limit === null ? 'as agreed' : number(limit)));
      return markup`<tr><td><a href="/keys?plan=${plan}">${title}</a></td>
${[...cells, number(keys), number(used)].map((cell) => markup`<td class="number">${cell}</td>`)}</tr>`;
    });
    const close = closest(views).filter(({ used }) => used > CLOSE);
    const rows = close.slice(0, MOST_SHOWN).map(
      (
        key,
      ) => markup`<tr><td><a href="/keys/${key.id}">${key.name}</a> <small>${key.id}</small></td><td>${plans[key.plan].title}</td>
<td>${meter('This minute', key.usedThisMinute, key.perMinute)}</td><td>${meter('Today', key.usedToday, key.perDay)}</td>
<td class="number">${percent(key.used)}</td></tr>`,
    );
    const planHead = head(['Plan', 'Requests a minute', 'Requests a day', 'Keys', 'Used today'], [1, 2, 3, 4]);
    const closeHead = head(['Key', 'Plan', 'This minute', 'Today', 'Used'], [4]);
    const content = markup`<h1>Plans</h1>${table('Plans', planHead, all)}
<h2>Above ${CLOSE * 100} % of a limit</h2>
<p class="quiet">${close.length === 1 ? '1 key' : `${number(close.length)} keys`}, the closest first</p>
${rows.length > 0 ? table('Keys close to a limit', closeHead, rows) : markup`<p class="empty">No key is close to its limits.</p>`}`;
    return show(c, site, { title: 'Plans', part: 'plans' }, content);
  });
}

const head = (titles: readonly string[], numbers: readonly number[]): Html[] =>
  titles.map(
    (title, index) => markup`<th scope="col" class="${numbers.includes(index) ? 'number' : ''}">${title}</th>`,
  );
