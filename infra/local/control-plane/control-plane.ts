import { randomUUID } from 'node:crypto';
import { Hono, type MiddlewareHandler } from 'hono';
import { HTTPException } from 'hono/http-exception';
import type { GatewayRecords } from './gateway-records.ts';
import { addKeyRoutes, addPlanRoutes, badRequest } from './operations.ts';

/** Max body of a call. */
const MAX_BODY_BYTES = 1024 * 1024;

/** First path segments of API Gateway's API, including unsupported operations. */
const collections = new Set(['account', 'apikeys', 'domainnames', 'restapis', 'tags', 'usageplans', 'vpclinks']);

/** Whether a path belongs to API Gateway's API. */
export function isControlPlanePath(path: string): boolean {
  return collections.has(path.split('/', 2)[1] ?? '');
}

/** AWS's names of rejected calls, by their status. */
const errorTypes: Readonly<Record<number, string>> = {
  400: 'BadRequestException',
  403: 'MissingAuthenticationTokenException',
  404: 'NotFoundException',
  409: 'ConflictException',
  413: 'RequestEntityTooLargeException',
};

/**
 * API Gateway's own API, limited to API keys, their tags and the keys of usage plans.
 *
 * @param changed called after every change, like CloudTrail on AWS
 */
export function createControlPlane(records: GatewayRecords, changed: () => void): Hono {
  const app = new Hono();
  app.use(checkRequest, changesInSequence(changed));
  addKeyRoutes(app, records);
  addPlanRoutes(app, records);
  const operations = app.routes.filter(({ method }) => method !== 'ALL').map(({ method, path }) => `${method} ${path}`);
  app.notFound((call) => {
    const known = `Supported operations of API Gateway: ${operations.join(', ')}`;
    const message = `This server does not support ${call.req.method} ${call.req.path}. ${known}`;
    return call.json({ message }, 404, { 'x-amzn-ErrorType': 'UnknownOperationException' });
  });
  return app.onError((error, call) => {
    if (error instanceof HTTPException) {
      const { status, message } = error;
      return call.json({ message }, status, { 'x-amzn-ErrorType': errorTypes[status] ?? '' });
    }
    // A fault of the server, such as a full disk.
    process.stderr.write(`${error.stack}\n`);
    return call.json({ message: 'Internal server error' }, 500, { 'x-amzn-ErrorType': 'InternalFailure' });
  });
}

/**
 * Refuses unsigned calls, long bodies or those without a length, and paths that are no valid URL. Any credentials are
 * accepted: no signature is checked.
 */
const checkRequest: MiddlewareHandler = (call, next) => {
  call.header('x-amzn-RequestId', randomUUID());
  if (!call.req.header('Authorization')?.startsWith('AWS4-')) {
    throw new HTTPException(403, { message: 'Missing Authentication Token' });
  }
  const { 'content-length': length = 0, 'transfer-encoding': encoding } = call.req.header();
  if (encoding !== undefined || Number(length) > MAX_BODY_BYTES) {
    throw new HTTPException(413, { message: 'Request Too Long' });
  }
  const { pathname } = new URL(call.req.url);
  try {
    decodeURIComponent(pathname);
  } catch {
    throw badRequest(`${pathname} is not a valid path of a URL`);
  }
  return next();
};

/** Runs one change at a time: each reads what the last one has stored. */
function changesInSequence(changed: () => void): MiddlewareHandler {
  let last: Promise<unknown> = Promise.resolve();
  return async (call, handle) => {
    if (call.req.method === 'GET') return handle();
    // Before its turn: a slow client delays no others.
    await call.req.text();
    last = last.then(handle);
    await last;
    if (call.res.ok) changed();
  };
}
