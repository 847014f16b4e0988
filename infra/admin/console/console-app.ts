import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { getRequestListener } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { AdminError, failureText } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { headers, newSecret, ownRequests, session, Tickets } from './guard.ts';
import { KeyList } from './key-list.ts';
import { addKeyPage, addNewKeyPage } from './key-page.ts';
import { addKeysPage } from './keys-page.ts';
import { layout, markup } from './markup.ts';
import { addPlansPage } from './plans-page.ts';
import type { Site } from './site.ts';
import { addStockPage } from './stock-page.ts';

/** Other machines cannot reach it. */
const LOOPBACK = '127.0.0.1';

const files = {
  'console.css': 'text/css; charset=utf-8',
  'console.js': 'text/javascript; charset=utf-8',
  'icon.svg': 'image/svg+xml',
} as const;

/** It is held in memory. */
const MAX_BODY_BYTES = 100 * 2 ** 20;

const tooLarge = (c: Context): Response =>
  c.text('The file is larger than 100 MiB: import it with npm run admin -- inventory import FILE', 413);

export interface ServedConsole {
  readonly origin: string;
  /** The address that lets in whoever opens it first. */
  readonly link: string;
  readonly close: () => void;
}

/** @param port 0: any that is free @throws AdminError where the port cannot be had */
export async function serveConsole(target: Target, port: number): Promise<ServedConsole> {
  const server = createServer().listen(port, LOOPBACK);
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    throw new AdminError(`The port ${port} cannot be used (${error.code}). Choose another with --port.`);
  });
  const address = server.address();
  const origin = `http://${LOOPBACK}:${typeof address === 'object' ? address?.port : port}`;
  const token = newSecret();
  const answer = getRequestListener(createConsole(target, origin, token).fetch, { overrideGlobalObjects: false });
  server.on('request', (request, response) => void answer(request, response));
  return { origin, link: `${origin}/?token=${token}`, close: () => void server.close() };
}

/**
 * The pages for admins, over one service.
 *
 * @param origin where it is served, such as `http://127.0.0.1:4000`: it answers by no other name
 * @param token lets in whoever brings it first
 */
export function createConsole(target: Target, origin: string, token: string): Hono {
  const site: Site = { target, tickets: new Tickets(), keys: new KeyList(target), notes: new Map() };
  const app = new Hono();
  app.use(headers(), ownRequests(origin));
  for (const [name, type] of Object.entries(files)) {
    const text = readFileSync(join(import.meta.dirname, name), 'utf8');
    app.get(`/${name}`, (c) => c.body(text, 200, { 'Content-Type': type }));
  }
  app.use(bodyLimit({ maxSize: MAX_BODY_BYTES, onError: tooLarge }), session(origin, token, site.tickets));
  app.get('/', (c) => c.redirect('/keys', 303));
  for (const add of [addKeysPage, addNewKeyPage, addKeyPage, addPlansPage, addStockPage]) add(app, site);
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
