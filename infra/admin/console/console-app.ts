import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { basename, join } from 'node:path';
import { getRequestListener } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { csrf } from 'hono/csrf';
import { HTTPException } from 'hono/http-exception';
import { AdminError, failureText } from '../admin-error.ts';
import { UnknownKeyError } from '../keys/find-key.ts';
import type { Target } from '../target.ts';
import { visibleLines } from '../text-format.ts';
import { formLimit, headers, newLoginLink, checkHost, type LoginLink, refuse, session } from './guard.ts';
import { addKeyPage, addNewKeyPage } from './key-page.ts';
import { addKeysPage } from './keys-page.ts';
import { markup } from './markup.ts';
import { addOverviewPage } from './overview-page.ts';
import { Site } from './site.ts';
import { addStockPage } from './stock-page.ts';

/** Other machines cannot reach it. */
const LOOPBACK = '127.0.0.1';

const files = {
  'console.css': 'text/css; charset=utf-8',
  'console.js': 'text/javascript; charset=utf-8',
  '../../reference/site/favicon.svg': 'image/svg+xml',
} as const;

export interface ServedConsole {
  readonly origin: string;
  /** Begins the path of every page. */
  readonly base: string;
  /** The address that lets in the browser that opens it first. */
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
  const loginLink = newLoginLink();
  const app = createConsole(target, origin, loginLink);
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  server.on('request', (request, response) => void listener(request, response));
  const { base, token } = loginLink;
  return { origin, base, link: `${origin}${base}/?token=${token}`, close: () => void server.close() };
}

/**
 * The pages for admins, over one service.
 *
 * @param origin where it is served, such as `http://127.0.0.1:4000`: it answers by no other name
 * @param link lets in the browser that brings it first
 */
export function createConsole(target: Target, origin: string, link: LoginLink): Hono {
  const { base } = link;
  const site = new Site(target, base);
  const { login, guard } = session(origin, link);
  const app = new Hono();
  app.use(headers, checkHost(origin), csrf());
  app.get(`${base}/`, login);
  for (const [name, type] of Object.entries(files)) {
    const text = readFileSync(join(import.meta.dirname, name), 'utf8');
    app.get(`/${basename(name)}`, (c) => c.body(text, 200, { 'Content-Type': type }));
  }
  // The session first: the body of a request without one is not read.
  app.use(guard).post('*', formLimit(target.option));
  for (const add of [addOverviewPage, addKeysPage, addNewKeyPage, addKeyPage, addStockPage])
    add(app.basePath(base), site);
  const linkToKeys = markup`<p><a href="keys">To the keys</a></p>`;
  const notFound = (c: Context, failure: string) =>
    site.show(c, { title: 'Not found', failure }, markup`<h1>Not found</h1>${linkToKeys}`, 404);
  app.notFound((c) => notFound(c, 'There is no such page.'));
  app.onError((error, c) => {
    if (error instanceof HTTPException)
      return refuse(c, 403, 'The request came from another page, and nothing was done.');
    if (error instanceof UnknownKeyError) return notFound(c, 'There is no such key. It was revoked, or never made.');
    const isReading = c.req.method === 'GET';
    const failure = failureText(error, 'do the same again', isReading ? 'nothing was changed' : undefined);
    const content = markup`<h1>Not done</h1>${linkToKeys}`;
    if (failure !== undefined) return site.show(c, { title: 'Not done', failure }, content);
    process.stderr.write(`${visibleLines(error.stack ?? error.message)}\n`);
    const fault = `The console has a fault of its own: ${error.message}. Its terminal says more.`;
    return site.show(c, { title: 'Not done', failure: fault }, content, 500);
  });
  return app;
}
