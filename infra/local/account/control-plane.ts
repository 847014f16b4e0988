import { randomUUID } from 'node:crypto';
import type { GatewayAnswer } from '../gateway/messages.ts';
import { decoded, Router } from '../gateway/router.ts';
import { apiKeyOperations } from './api-keys.ts';
import { badRequest, type Call, ControlPlaneError, type Gateway, MAX_BODY_BYTES, type Operation } from './call.ts';
import { tagOperations } from './tags.ts';
import { usagePlanKeyOperations } from './usage-plan-keys.ts';
import { usagePlanOperations } from './usage-plans.ts';

const operations: readonly Operation[] = [
  ...apiKeyOperations,
  ...usagePlanOperations,
  ...usagePlanKeyOperations,
  ...tagOperations,
];

/** The status of what succeeds, by its method. */
const usualStatuses: Readonly<Record<string, number>> = { POST: 201, PUT: 204, DELETE: 202 };

/** What the paths of API Gateway's API begin with, the operations that the host does not know included. */
const collections = new Set(['account', 'apikeys', 'domainnames', 'restapis', 'tags', 'usageplans', 'vpclinks']);

/** Whether a path is one of API Gateway's API. */
export function isControlPlanePath(path: string): boolean {
  return collections.has(path.split('/', 2)[1] ?? '');
}

/** A call as it comes from the network. */
export interface ControlPlaneRequest {
  readonly method: string;
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
  readonly authorization: string | undefined;
  readonly body: Buffer;
  readonly bodyTooLarge: boolean;
}

/** API Gateway's own API, as far as API keys, usage plans and their tags go. */
export class ControlPlane {
  readonly #gateway: Gateway;
  readonly #changed: () => void;
  readonly #router = new Router<Operation>();

  /** @param changed called after every change, as CloudTrail tells of it on AWS */
  constructor(gateway: Gateway, changed: () => void) {
    this.#gateway = gateway;
    this.#changed = changed;
    for (const operation of operations) {
      const [method = '', path = ''] = operation.route.split(' ');
      this.#router.add(path, method, operation);
    }
  }

  answer(request: ControlPlaneRequest): GatewayAnswer {
    try {
      return this.#perform(request);
    } catch (error) {
      if (!(error instanceof ControlPlaneError)) throw error;
      const { type, message, status } = error;
      return answerWith(status, { message }, [['x-amzn-ErrorType', type]]);
    }
  }

  #perform({ method, path, query, authorization, body, bodyTooLarge }: ControlPlaneRequest): GatewayAnswer {
    // The signature is not checked: any credentials will do.
    if (!authorization?.startsWith('AWS4-')) {
      throw new ControlPlaneError('MissingAuthenticationTokenException', 'Missing Authentication Token');
    }
    const match = this.#router.match(method, path);
    if (!match) {
      const known = operations.map(({ name }) => name).join(', ');
      const message = `This host does not answer ${method} ${path}. Of API Gateway's operations it knows: ${known}`;
      throw new ControlPlaneError('UnknownOperationException', message);
    }
    if (bodyTooLarge) throw badRequest(`The request body is longer than ${MAX_BODY_BYTES} bytes`);
    const { target: operation, pathParameters } = match;
    const call: Call = {
      parameter: (name) => decoded(pathParameters[name] ?? ''),
      query: parseQuery(query, operation),
      body: parseJson(body),
    };
    const result = operation.run(this.#gateway, call);
    if (method !== 'GET') {
      this.#gateway.records.save();
      this.#changed();
    }
    return answerWith(operation.status ?? usualStatuses[method] ?? 200, result);
  }
}

/** @throws ControlPlaneError on a parameter that the operation does not take: it must not be ignored */
function parseQuery(text: string, operation: Operation): URLSearchParams {
  const query = new URLSearchParams(text);
  for (const name of query.keys()) {
    if (!operation.query?.includes(name)) throw badRequest(`This host does not know the query parameter ${name}`);
  }
  return query;
}

/** The JSON object in a body. @throws ControlPlaneError where there is something else */
function parseJson(body: Buffer): unknown {
  try {
    const value: unknown = JSON.parse(body.toString() || '{}');
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // It is no JSON at all.
  }
  throw badRequest('The request body must be a JSON object');
}

function answerWith(status: number, body: unknown, headers: GatewayAnswer['headers'] = []): GatewayAnswer {
  return {
    status,
    headers: [['Content-Type', 'application/json'], ['x-amzn-RequestId', randomUUID()], ...headers],
    body: body === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(body)),
  };
}
