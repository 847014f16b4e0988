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

type GatewayResponseResource = Resource<'AWS::ApiGateway::GatewayResponse'>;

interface HeaderMapping {
  readonly header: string;
  readonly valueOf: (variables: ContextVariables) => string | undefined;
}

interface GatewayResponse {
  readonly status: number | undefined;
  readonly headers: readonly HeaderMapping[];
  readonly template: string;
}

const STOCK_TEMPLATE = '{"message":$context.error.messageString}';

/** The answers that the gateway makes by itself, type by type, as the API sets them. */
export class GatewayResponses {
  readonly #byType = new Map<string, GatewayResponse>();

  constructor(resources: readonly GatewayResponseResource[]) {
    for (const { logicalId, properties } of resources) {
      this.#byType.set(properties.ResponseType, {
        status: properties.StatusCode === undefined ? undefined : Number(properties.StatusCode),
        headers: Object.entries(properties.ResponseParameters).map(([target, source]) =>
          headerMapping(logicalId, target, source),
        ),
        template: properties.ResponseTemplates?.['application/json'] ?? STOCK_TEMPLATE,
      });
    }
  }

  render(error: GatewayError, variables: ContextVariables): GatewayAnswer {
    variables.set(
      { message: error.message, messageString: JSON.stringify(error.message), responseType: error.type },
      'error',
    );
    const response = this.#responseFor(error.type);
    const mapped = (response?.headers ?? []).flatMap(({ header, valueOf }): HeaderFields => {
      const value = valueOf(variables);
      return value === undefined ? [] : [[header, value]];
    });
    return {
      status: response?.status ?? gatewayErrorStatuses[error.type],
      headers: [['Content-Type', 'application/json'], ...mapped],
      body: Buffer.from(variables.substitute(response?.template ?? STOCK_TEMPLATE, '')),
    };
  }

  #responseFor(type: GatewayErrorType): GatewayResponse | undefined {
    const fallback = gatewayErrorStatuses[type] >= 500 ? 'DEFAULT_5XX' : 'DEFAULT_4XX';
    return this.#byType.get(type) ?? this.#byType.get(fallback);
  }
}

/** A mapping such as `gatewayresponse.header.Retry-After`: `'1'` or `context.authorizer.retryAfter`. */
function headerMapping(logicalId: string, target: string, source: string): HeaderMapping {
  const header = /^gatewayresponse\.header\.(.+)$/.exec(target)?.[1];
  const literal = /^'([^']*)'$/.exec(source)?.[1];
  if (header !== undefined && literal !== undefined) return { header, valueOf: () => literal };
  const variable = /^context\.(.+)$/.exec(source)?.[1];
  if (header !== undefined && variable !== undefined)
    return { header, valueOf: (variables) => variables.get(variable) };
  throw new HostError(
    `Resource ${logicalId}: the local host does not support property ResponseParameters.${target} (got ${source}; ` +
      'a literal needs its own single quotes)',
  );
}
