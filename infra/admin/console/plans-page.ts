import type { Hono } from 'hono';
import { plans } from '../../../shared/keys/plans.ts';
import { listKeys, planViews } from '../keys/key-view.ts';
import { limitText, number, percent } from '../text-format.ts';
import { closest } from '../usage.ts';
import { heads, markup, meter, table } from './markup.ts';
import type { Site } from './site.ts';

/** From this part of a limit on, a key is shown as close to it. */
const CLOSE = 0.8;
const MOST_SHOWN = 100;

const planHeads = heads(['Plan', 'Requests a minute', 'Requests a day', 'Keys', 'Used today'], [1, 2, 3, 4]);
const closeHeads = heads(['Key', 'Plan', 'This minute', 'Today', 'Used'], [4]);

/** `/plans`: what each plan allows, who is on it, and who is close to a limit. */
export function addPlansPage(app: Hono, site: Site): void {
  app.get('/plans', async (c) => {
    const views = await listKeys(site.target);
    const planRows = planViews(views).map(({ plan, title, perMinute, perDay, keys }) => {
      const used = views.reduce((sum, view) => sum + (view.plan === plan ? view.usedToday : 0), 0);
      const link = markup`<a href="keys?plan=${plan}">${title}</a>`;
      return [link, limitText(perMinute), limitText(perDay), number(keys), number(used)];
    });
    const close = closest(views).filter(({ used }) => used > CLOSE);
    const closeRows = close
      .slice(0, MOST_SHOWN)
      .map((key) => [
        markup`<a href="keys/${key.id}">${key.name}</a> <small>${key.id}</small>`,
        plans[key.plan].title,
        meter('This minute', key.usedThisMinute, key.perMinute),
        meter('Today', key.usedToday, key.perDay),
        percent(key.used),
      ]);
    const none = markup`<p class="empty">No key is close to its limits.</p>`;
    const content = markup`<h1>Plans</h1>${table('Plans', planHeads, planRows, [1, 2, 3, 4])}
<h2>Above ${CLOSE * 100} % of a limit</h2>
<p class="quiet">${close.length === 1 ? '1 key' : `${number(close.length)} keys`}, the closest first</p>
${closeRows.length > 0 ? table('Keys close to a limit', closeHeads, closeRows, [4]) : none}`;
    return site.show(c, { title: 'Plans', part: 'plans' }, content);
  });
}
