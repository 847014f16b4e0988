import { randomUUID } from 'node:crypto';
import { Router } from '../gateway/router.ts';
import type { GatewayRecords } from './gateway-records.ts';
import { badRequest, ControlPlaneError, operations } from './operations.ts';

/** A raw call of API Gateway's API. */
export interface ControlPlaneCall {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly authorization: string | undefined;
  /** JSON text, empty if there is none; undefined if it was too long. */
  readonly body: string | undefined;
}

export interface ControlPlaneResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text; empty if there is none. */
  readonly body: string;
}

export type ControlPlane = (call: ControlPlaneCall) => Promise<ControlPlaneResponse>;

/** The status of a successful call, by its method. */
const statuses: Readonly<Record<string, number>> = { POST: 201, PUT: 204, DELETE: 202 };

/** First path segments of API Gateway's API, including unsupported operations. */
const collections = new Set(['account', 'apikeys', 'domainnames', 'restapis', 'tags', 'usageplans', 'vpclinks']);

/** Whether a path belongs to API Gateway's API. */
export function isControlPlanePath(path: string): boolean {
  return collections.has(path.split('/', 2)[1] ?? '');
}

/**
 * API Gateway's own API, limited to API keys, their tags and the keys of usage plans.
 *
 * @param changed called after every change, like CloudTrail on AWS
 */
export function createControlPlane(records: GatewayRecords, changed: () => void): ControlPlane {
  return async (call) => {
    try {
      const result = carryOut(call, records);
      if (call.method !== 'GET') {
        await records.save();
        changed();
      }
      const ofTags = call.path.startsWith('/tags') && call.method !== 'GET';
      return respond(ofTags ? 204 : (statuses[call.method] ?? 200), result);
    } catch (error) {
      if (error instanceof ControlPlaneError) return respond(error.status, { message: error.message }, error.type);
      // A fault of the server, such as a full disk.
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
      return respond(500, { message: 'Internal server error' }, 'InternalFailure');
    }
  };
}

const router = new Router(
  Object.entries(operations).map(([name, target]) => {
    const [method = '', path = ''] = name.split(' ');
    return { method, path, target };
  }),
);

/** @returns the body of the response; undefined: none @throws ControlPlaneError */
function carryOut({ method, path, authorization, body }: ControlPlaneCall, records: GatewayRecords): unknown {
  // The signature is not checked: any credentials are accepted.
  if (!authorization?.startsWith('AWS4-')) {
    throw new ControlPlaneError(403, 'MissingAuthenticationTokenException', 'Missing Authentication Token');
  }
  if (body === undefined) throw new ControlPlaneError(413, 'RequestEntityTooLargeException', 'Request Too Long');
  const [route = '', query = ''] = path.split('?', 2);
  const match = router.match(method, route);
  if (match) {
    const { id = '', memberId = '' } = match.pathParameters;
    return match.target({ records, id: decoded(id), memberId, query: new URLSearchParams(query), body });
  }
  const known = Object.keys(operations).join(', ');
  const message = `This server does not support ${method} ${route}. Supported operations of API Gateway: ${known}`;
  throw new ControlPlaneError(404, 'UnknownOperationException', message);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw badRequest(`${part} is not a valid part of a URL`);
  }
}

function respond(status: number, body: unknown, errorType?: string): ControlPlaneResponse {
  const headers = { 'Content-Type': 'application/json', 'x-amzn-RequestId': randomUUID() };
  const ofError = errorType === undefined ? {} : { 'x-amzn-ErrorType': errorType };
  return { status, headers: { ...headers, ...ofError }, body: body === undefined ? '' : JSON.stringify(body) };
}
