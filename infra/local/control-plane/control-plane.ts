import { randomUUID } from 'node:crypto';
import { Router } from '../gateway/router.ts';
import type { GatewayRecords } from './gateway-records.ts';
import { badRequest, ControlPlaneError, operations } from './operations.ts';

/** A call of API Gateway's API, as it comes over the network. */
export interface ControlPlaneCall {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly authorization: string | undefined;
  /** JSON text, empty where there is none; undefined where it was too long to be read. */
  readonly body: string | undefined;
}

export interface ControlPlaneResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text; empty where there is none. */
  readonly body: string;
}

export type ControlPlane = (call: ControlPlaneCall) => Promise<ControlPlaneResponse>;

/** The status of a success, by its method. */
const statuses: Readonly<Record<string, number>> = { POST: 201, PUT: 204, DELETE: 202 };

/** What the paths of API Gateway's API begin with, the operations that the host does not know included. */
const collections = new Set(['account', 'apikeys', 'domainnames', 'restapis', 'tags', 'usageplans', 'vpclinks']);

/** Whether a path is one of API Gateway's API. */
export function isControlPlanePath(path: string): boolean {
  return collections.has(path.split('/', 2)[1] ?? '');
}

/**
 * API Gateway's own API, as far as API keys, their tags and the keys of usage plans go.
 *
 * @param changed called after every change, as CloudTrail reports it on AWS
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
      // A fault of the host, such as a disk that is full.
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

/** @returns the body of the answer; undefined: none @throws ControlPlaneError */
function carryOut({ method, path, authorization, body }: ControlPlaneCall, records: GatewayRecords): unknown {
  // The signature is not checked: any credentials will do.
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
  const message = `This host does not answer ${method} ${route}. Of API Gateway's operations it knows: ${known}`;
  throw new ControlPlaneError(404, 'UnknownOperationException', message);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw badRequest(`${part} is not a part of a URL`);
  }
}

function respond(status: number, body: unknown, errorType?: string): ControlPlaneResponse {
  const headers = { 'Content-Type': 'application/json', 'x-amzn-RequestId': randomUUID() };
  const ofError = errorType === undefined ? {} : { 'x-amzn-ErrorType': errorType };
  return { status, headers: { ...headers, ...ofError }, body: body === undefined ? '' : JSON.stringify(body) };
}
