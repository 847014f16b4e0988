import { randomUUID } from 'node:crypto';
import { Hono, type HonoRequest } from 'hono';
import { apiKeyOperations } from './api-keys.ts';
import { badRequest, type Call, ControlPlaneError, type Operation } from './call.ts';
import type { GatewayRecords } from './gateway-records.ts';
import { usagePlanOperations } from './usage-plans.ts';

const operations: readonly Operation[] = [...apiKeyOperations, ...usagePlanOperations];

/** The longest body that the host reads of a call. */
const MAX_BODY_BYTES = 64 * 1024;

/** The status of a success, by its method. */
const usualStatuses: Readonly<Record<string, number>> = { POST: 201, PUT: 204, DELETE: 202 };

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
    throw new ControlPlaneError('MissingAuthenticationTokenException', 'Missing Authentication Token');
  });
  for (const operation of operations) {
    const [method = '', path = ''] = operation.route.split(' ');
    app.on(method, path, async ({ req }) => {
      const result = operation.run(records, await readCall(req, operation));
      if (method !== 'GET') {
        records.save();
        changed();
      }
      return respond(operation.status ?? usualStatuses[method] ?? 200, result);
    });
  }
  app.all('*', ({ req: { method, path } }) => {
    const known = operations.map(({ name }) => name).join(', ');
    const message = `This host does not answer ${method} ${path}. Of API Gateway's operations it knows: ${known}`;
    throw new ControlPlaneError('UnknownOperationException', message);
  });
  app.onError((error) => {
    const { type, status, message } = error instanceof ControlPlaneError ? error : internalFailure(error);
    return respond(status, { message }, { 'x-amzn-ErrorType': type });
  });
  return app;
}

/** @throws ControlPlaneError on a query parameter that the operation does not take: it must not be ignored */
async function readCall(request: HonoRequest, { query: known = [] }: Operation): Promise<Call> {
  const { searchParams: query } = new URL(request.url);
  const unknown = query.keys().find((name) => !known.includes(name));
  if (unknown !== undefined) throw badRequest(`This host does not know the query parameter ${unknown}`);
  return { parameter: (name) => request.param(name) ?? '', query, body: parseJson(await readBody(request.raw)) };
}

/** @throws ControlPlaneError on a body that is too long */
async function readBody({ body }: Request): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.length;
    if (length > MAX_BODY_BYTES) throw badRequest(`The request body is longer than ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** The JSON object in a body. @throws ControlPlaneError where there is something else */
function parseJson(body: string): unknown {
  try {
    const value: unknown = JSON.parse(body || '{}');
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // It is no JSON at all.
  }
  throw badRequest('The request body must be a JSON object');
}

/** A fault of the host, such as a disk that is full. */
function internalFailure({ stack }: Error) {
  process.stderr.write(`${stack}\n`);
  return { type: 'InternalFailure', status: 500, message: 'Internal server error' };
}

function respond(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'Content-Type': 'application/json', 'x-amzn-RequestId': randomUUID(), ...headers },
  });
}
