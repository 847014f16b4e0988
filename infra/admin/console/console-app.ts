import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { StageName } from '../../stages.ts';
import { failureText } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { headers, ownRequests, session, Tickets } from './guard.ts';
import { KeyList } from './key-list.ts';
import { addKeyPage } from './key-page.ts';
import { addKeysPage } from './keys-page.ts';
import { layout, markup } from './markup.ts';
import { addNewKeyPage } from './new-key-page.ts';
import { addPlansPage } from './plans-page.ts';
import type { Site } from './site.ts';
import { addStockPage } from './stock-page.ts';

export interface ConsoleSettings {
  readonly target: Target;
  readonly stage: StageName | undefined;
  /** Where it is served, such as `http://127.0.0.1:4000`: it answers by no other name. */
  readonly origin: string;
  /** Lets in whoever brings it first. */
  readonly token: string;
}

const files = {
  'console.css': 'text/css; charset=utf-8',
  'console.js': 'text/javascript; charset=utf-8',
  'icon.svg': 'image/svg+xml',
} as const;

/** It is held in memory. */
const MAX_BODY_BYTES = 100 * 2 ** 20;

const tooLarge = (c: Context): Response =>
  c.text('The file is larger than 100 MiB: import it with npm run admin -- inventory import FILE', 413);

/** The pages for admins, over one service. */
export function createConsole({ target, stage, origin, token }: ConsoleSettings): Hono {
  const site: Site = { target, stage, tickets: new Tickets(), keys: new KeyList(target), notes: new Map() };
  const app = new Hono();
  app.use(headers(), ownRequests(origin));
  for (const [name, type] of Object.entries(files)) {
    const text = readFileSync(join(import.meta.dirname, name), 'utf8');
    app.get(`/${name}`, (c) => c.body(text, 200, { 'Content-Type': type }));
  }
  app.use(bodyLimit({ maxSize: MAX_BODY_BYTES, onError: tooLarge }), session(origin, token, site.tickets));
  app.get('/', (c) => c.redirect('/keys', 303));
  addKeysPage(app, site);
  addNewKeyPage(app, site);
  addKeyPage(app, site);
  addPlansPage(app, site);
  addStockPage(app, site);
  app.notFound((c) => {
    const page = { title: 'Not found', place: target.place, failure: 'There is no such page.' };
    return c.html(layout(page, markup`<p><a href="/keys">To the keys</a></p>`), 404);
  });
  app.onError((error, c) => {
    const failure = failureText(error, 'do the same again');
    if (failure === undefined) process.stderr.write(`${error.stack ?? error.message}\n`);
    const words = failure ?? `The console has a fault of its own: ${error.message}. Its terminal says more.`;
    const page = { title: 'Not done', place: target.place, failure: words };
    return c.html(layout(page, markup`<h1>Not done</h1><p><a href="/keys">To the keys</a></p>`), failure ? 422 : 500);
  });
  return app;
}
