import { once } from 'node:events';
import { createServer } from 'node:http';
import { basename, join } from 'node:path';
import { getRequestListener } from '@hono/node-server';
import { serveStatic } from '@hono/node-server/serve-static';
import { type Context, Hono } from 'hono';
import { csrf } from 'hono/csrf';
import { HTTPException } from 'hono/http-exception';
import { AdminError, failureText } from '../service/failures.ts';
import { UnknownKeyError } from '../keys/find-key.ts';
import type { Target } from '../service/target.ts';
import { visibleLines } from '../service/text.ts';
import { formLimit, headers, newLoginLink, checkHost, type LoginLink, refuse, session } from './guard.ts';
import { addKeyPage, addNewKeyPage } from './key-page.ts';
import { addKeysPage, addOverviewPage } from './key-lists.ts';
import { markup } from './markup.ts';
import { Site } from './site.ts';
import { addKeyChangesPage } from './stock-changes.ts';
import { addStockPage } from './stock-page.ts';

/** Loopback only: other machines cannot connect. */
const LOOPBACK = '127.0.0.1';

const files = ['console.css', 'console.js', '../../reference/site/favicon.svg'];

export type ServedConsole = Awaited<ReturnType<typeof serveConsole>>;

/** @param port 0: a free one @returns also the one-time login link @throws AdminError if the port is unavailable */
export async function serveConsole(target: Target, port: number) {
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

/** The admin console. @param origin such as `http://127.0.0.1:4000`; requests with another Host are refused */
export function createConsole(target: Target, origin: string, link: LoginLink): Hono {
  const { base } = link;
  const site = new Site(target, base);
  const { login, guard } = session(origin, link);
  const app = new Hono();
  app.use(headers, checkHost(origin), csrf());
  app.get(`${base}/`, login);
  for (const name of files) app.get(`/${basename(name)}`, serveStatic({ path: join(import.meta.dirname, name) }));
  // First the session check: bodies of requests without a session are not read.
  app.use(guard).post('*', formLimit(target.option));
  for (const add of [addOverviewPage, addKeysPage, addNewKeyPage, addKeyPage, addKeyChangesPage, addStockPage])
    add(app.basePath(base), site);
  const linkToKeys = markup`<p><a href="keys">All keys</a></p>`;
  const notFound = (c: Context, failure: string) => site.show(c, { title: 'Not found', failure }, linkToKeys, 404);
  app.notFound((c) => notFound(c, 'This page does not exist.'));
  app.onError((error, c) => {
    if (error instanceof HTTPException)
      return refuse(c, 403, 'The request came from another site. Nothing was changed.');
    if (error instanceof UnknownKeyError) return notFound(c, 'This key does not exist, or its record was deleted.');
    const isReading = c.req.method === 'GET';
    const failure = failureText(error, 'retry', isReading ? 'nothing was changed' : undefined);
    if (failure !== undefined) return site.show(c, { title: 'Failed', failure }, linkToKeys);
    process.stderr.write(`${visibleLines(error.stack ?? error.message)}\n`);
    const fault = `The console failed: ${error.message}. Its terminal shows the details.`;
    return site.show(c, { title: 'Failed', failure: fault }, linkToKeys, 500);
  });
  return app;
}
