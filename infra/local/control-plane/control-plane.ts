import { randomUUID } from 'node:crypto';
import type { GatewayAnswer } from '../gateway/messages.ts';
import { decoded, type Match, Router } from '../gateway/router.ts';
import { apiKeyOperations } from './api-keys.ts';
import { badRequest, ControlPlaneError, controlPlaneErrorStatuses } from './control-plane-error.ts';
import type { Call, Gateway, Operation } from './operation.ts';
import { Query } from './query.ts';
import { MAX_BODY_BYTES, parseJson } from './request-body.ts';
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
      parameters: Object.fromEntries(Object.entries(pathParameters).map(([name, value]) => [name, decoded(value)])),
      query: new Query(request.query, operation.query ?? []),
      body: operation.method === 'GET' ? {} : parseJson(request.body),
    };
    const body = operation.run(this.#gateway, call);
    if (operation.method !== 'GET') {
      await this.#gateway.records.saved();
      this.#changed();
    }
    return answerWith(operation.status, body);
  }

  #match({ method, path, query, bodyTooLarge }: ControlPlaneRequest): Match<Operation> {
    const match = this.#router.match(method, path);
    // ImportApiKeys has the path of CreateApiKey.
    if (!match || new URLSearchParams(query).has('mode')) {
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
