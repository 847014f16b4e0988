import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import { badRequest, ControlPlaneError } from './call.ts';
import type { GatewayRecords } from './gateway-records.ts';
import { operations } from './operations.ts';

/** The longest body of a call. */
const MAX_BODY_BYTES = 64 * 1024;

/** The status of a success, by its method. */
const statuses: Readonly<Record<string, number>> = { POST: 201, PUT: 204, DELETE: 202 };

/** What the paths of API Gateway's API begin with, the operations that the host does not know included. */
const collections = new Set(['account', 'apikeys', 'domainnames', 'restapis', 'tags', 'usageplans', 'vpclinks']);

/** Whether a path is one of API Gateway's API. */
export function isControlPlanePath(path: string): boolean {
  return collections.has(path.split('/', 2)[1] ?? '');
}

/**
 * API Gateway's own API, as far as API keys and their tags, and the keys of usage plans go.
 *
 * @param changed called after every change, as CloudTrail reports it on AWS
 */
export function createControlPlane(records: GatewayRecords, changed: () => void): Hono {
  const app = new Hono();
  app.use(({ req }, next) => {
    // The signature is not checked: any credentials will do.
    if (req.header('Authorization')?.startsWith('AWS4-')) return next();
    throw new ControlPlaneError(403, 'MissingAuthenticationTokenException', 'Missing Authentication Token');
  });
  for (const [route, operation] of Object.entries(operations)) {
    const [method = '', path = ''] = route.split(' ');
    app.on(method, path, async ({ req }) => {
      const { searchParams: query } = new URL(req.url);
      const parameter = (name: string): string => req.param(name) ?? '';
      const body = await req.text();
      if (body.length > MAX_BODY_BYTES) throw badRequest(`The request body is longer than ${MAX_BODY_BYTES} bytes`);
      const result = operation({ records, parameter, query, body });
      if (method !== 'GET') {
        await records.save();
        changed();
      }
      return respond(path.startsWith('/tags') && method !== 'GET' ? 204 : (statuses[method] ?? 200), result);
    });
  }
  app.all('*', ({ req: { method, path } }) => {
    const known = Object.keys(operations).join(', ');
    const message = `This host does not answer ${method} ${path}. Of API Gateway's operations it knows: ${known}`;
    throw new ControlPlaneError(404, 'UnknownOperationException', message);
  });
  app.onError((error) => {
    if (error instanceof ControlPlaneError) return respond(error.status, { message: error.message }, error.type);
    // A fault of the host, such as a disk that is full.
    process.stderr.write(`${error.stack}\n`);
    return respond(500, { message: 'Internal server error' }, 'InternalFailure');
  });
  return app;
}

function respond(status: number, body: unknown, errorType?: string): Response {
  const headers = { 'Content-Type': 'application/json', 'x-amzn-RequestId': randomUUID() };
  const ofError = errorType === undefined ? {} : { 'x-amzn-ErrorType': errorType };
  return new Response(JSON.stringify(body), { status, headers: { ...headers, ...ofError } });
}
