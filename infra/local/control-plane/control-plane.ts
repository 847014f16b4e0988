import { randomUUID } from 'node:crypto';
import type { GatewayAnswer } from '../gateway/messages.ts';
import { decoded, type Match, Router } from '../gateway/router.ts';
import { apiKeyOperations } from './api-keys.ts';
import { type Call, type Gateway, MAX_BODY_BYTES, type Operation } from './call.ts';
import { badRequest, ControlPlaneError, controlPlaneErrorStatuses } from './control-plane-error.ts';
import { tagOperations } from './tags.ts';
import { usageOperations } from './usage.ts';
import { usagePlanKeyOperations } from './usage-plan-keys.ts';
import { usagePlanOperations } from './usage-plans.ts';

const operations: readonly Operation[] = [
  ...apiKeyOperations,
  ...usagePlanOperations,
  ...usagePlanKeyOperations,
  ...usageOperations,
  ...tagOperations,
];

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
    for (const operation of operations) this.#router.add(operation.path, operation.method, operation);
  }

  async answer(request: ControlPlaneRequest): Promise<GatewayAnswer> {
    try {
      requireSignature(request);
      return await this.#perform(request);
    } catch (error) {
      if (!(error instanceof ControlPlaneError)) throw error;
      const { type, message } = error;
      return answerWith(controlPlaneErrorStatuses[type], { message }, [['x-amzn-ErrorType', type]]);
    }
  }

  async #perform(request: ControlPlaneRequest): Promise<GatewayAnswer> {
    const { target: operation, pathParameters } = this.#match(request);
    const call: Call = {
      parameter: (name) => decoded(pathParameters[name] ?? ''),
      query: parseQuery(request.query, operation),
      body: parseJson(request.body),
    };
    const body = operation.run(this.#gateway, call);
    if (operation.method !== 'GET') {
      this.#gateway.records.save();
      this.#changed();
    }
    return answerWith(operation.status, body);
  }

  #match({ method, path, bodyTooLarge }: ControlPlaneRequest): Match<Operation> {
    const match = this.#router.match(method, path);
    if (!match) {
      const known = operations.map(({ name }) => name).join(', ');
      throw new ControlPlaneError(
        'UnknownOperationException',
        `This host does not answer ${method} ${path}. Of API Gateway's operations it knows: ${known}`,
      );
    }
    if (bodyTooLarge) throw badRequest(`The request body is longer than ${MAX_BODY_BYTES} bytes`);
    return match;
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

/** The signature is not checked: any credentials will do. */
function requireSignature({ authorization }: ControlPlaneRequest): void {
  if (!authorization?.startsWith('AWS4-')) {
    throw new ControlPlaneError('MissingAuthenticationTokenException', 'Missing Authentication Token');
  }
}

function answerWith(status: number, body: unknown, headers: GatewayAnswer['headers'] = []): GatewayAnswer {
  return {
    status,
    headers: [['Content-Type', 'application/json'], ['x-amzn-RequestId', randomUUID()], ...headers],
    body: body === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(body)),
  };
}
