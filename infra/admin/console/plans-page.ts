import type { Hono } from 'hono';
import { listKeys, planViews } from '../keys/key-view.ts';
import { limitText, number } from '../text-format.ts';
import { heads, markup, table } from './markup.ts';
import type { Site } from './site.ts';

const planHeads = heads(['Plan', 'Requests a minute', 'Requests a day', 'Keys', 'Used today'], [1, 2, 3, 4]);

/** `/plans`: what each plan allows, and how much of it is used. */
export function addPlansPage(app: Hono, site: Site): void {
  app.get('/plans', async (c) => {
    const views = await listKeys(site.target);
    const planRows = planViews(views).map(({ plan, title, perMinute, perDay, keys }) => {
      const used = views.reduce((sum, view) => sum + (view.plan === plan ? view.usedToday : 0), 0);
      const link = markup`<a href="keys?plan=${plan}">${title}</a>`;
      return [link, limitText(perMinute), limitText(perDay), number(keys), number(used)];
    });
    const content = markup`<h1>Plans</h1>${table('Plans', planHeads, planRows, [1, 2, 3, 4])}`;
    return site.show(c, { title: 'Plans', part: 'plans' }, content);
  });
}
