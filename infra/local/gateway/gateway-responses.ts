import * as v from 'valibot';
import { HostError } from '../host-error.ts';
import type { Resource } from '../template/stack.ts';
import type { GatewayAnswer, HeaderFields } from './messages.ts';

/** The types of errors that this gateway makes by itself, with the status each has unless the API sets another. */
const gatewayErrorStatuses = {
  ACCESS_DENIED: 403,
  AUTHORIZER_CONFIGURATION_ERROR: 500,
  DEFAULT_5XX: 502,
  INTEGRATION_TIMEOUT: 504,
  INVALID_API_KEY: 403,
  MISSING_AUTHENTICATION_TOKEN: 403,
  QUOTA_EXCEEDED: 429,
  REQUEST_TOO_LARGE: 413,
  THROTTLED: 429,
} as const satisfies Record<string, number>;

export type GatewayErrorType = keyof typeof gatewayErrorStatuses;

/** A request that the gateway answers by itself. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly type: GatewayErrorType;

  constructor(type: GatewayErrorType, message: string) {
    super(message);
    this.type = type;
  }
}

/** The `$context` of one request: what gateway responses and access logs can substitute. */
export class ContextVariables {
  readonly #values = new Map<string, string>();

  /** @param prefix such as `authorizer`; names come after it with a dot */
  set(values: Readonly<Record<string, unknown>>, prefix = ''): void {
    for (const [name, value] of Object.entries(values)) {
      const isScalar = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
      if (isScalar) this.#values.set(prefix === '' ? name : `${prefix}.${name}`, String(value));
    }
  }

  get(name: string): string | undefined {
    return this.#values.get(name);
  }

  /** Replaces each `$context.name` in a template. There is no more to gateway responses: they run no VTL. */
  substitute(template: string, missing: string): string {
    return template.replaceAll(/\$context\.([A-Za-z]\w*(?:\.\w+)*)/g, (_, name: string) => this.get(name) ?? missing);
  }
}

/** The value of a header; undefined where a variable that it has is missing: then the header is left out. */
type HeaderValue = (variables: ContextVariables) => string | undefined;

const STOCK_TEMPLATE = '{"message":$context.error.messageString}';

/** The answers that the gateway makes by itself, type by type, as the API sets them. */
export class GatewayResponses {
  readonly #byType: ReadonlyMap<string, ReturnType<typeof gatewayResponse>>;

  constructor(resources: readonly Resource[]) {
    this.#byType = new Map(resources.map((each) => [each.text('ResponseType'), gatewayResponse(each)]));
  }

  render(error: GatewayError, variables: ContextVariables): GatewayAnswer {
    const { type, message } = error;
    variables.set({ message, messageString: JSON.stringify(message), responseType: type }, 'error');
    const fallback = gatewayErrorStatuses[type] >= 500 ? 'DEFAULT_5XX' : 'DEFAULT_4XX';
    const response = this.#byType.get(type) ?? this.#byType.get(fallback);
    const mapped = (response?.headers ?? []).flatMap(([header, valueOf]): HeaderFields => {
      const value = valueOf(variables);
      return value === undefined ? [] : [[header, value]];
    });
    return {
      status: response?.status ?? gatewayErrorStatuses[type],
      headers: [['Content-Type', 'application/json'], ...mapped],
      body: Buffer.from(variables.substitute(response?.template ?? STOCK_TEMPLATE, '')),
    };
  }
}

function gatewayResponse(resource: Resource) {
  const parameters = Object.entries(resource.texts('ResponseParameters'));
  return {
    status: Number(resource.read('StatusCode', v.optional(v.string()))) || undefined,
    headers: parameters.map(([target, source]) => headerMapping(resource.logicalId, target, source)),
    template: resource.read('ResponseTemplates.application/json', v.optional(v.string(), STOCK_TEMPLATE)),
  };
}

/** A mapping such as `gatewayresponse.header.Retry-After`: `'1'` or `context.authorizer.retryAfter`. */
function headerMapping(logicalId: string, target: string, source: string): readonly [string, HeaderValue] {
  const header = /^gatewayresponse\.header\.(.+)$/.exec(target)?.[1];
  const literal = /^'([^']*)'$/.exec(source)?.[1];
  const variable = /^context\.(.+)$/.exec(source)?.[1];
  if (header !== undefined && literal !== undefined) return [header, () => literal];
  if (header !== undefined && variable !== undefined) return [header, (variables) => variables.get(variable)];
  const problem = `${target} (got ${source}; a literal needs its own single quotes)`;
  throw new HostError(`Resource ${logicalId}: the local host does not support property ResponseParameters.${problem}`);
}
