import { HostError } from '../host-error.ts';
import type { Resource } from '../template/stack.ts';
import type { ContextVariables } from './context-variables.ts';
import { type GatewayError, type GatewayErrorType, gatewayErrorStatuses } from './gateway-error.ts';
import { type GatewayAnswer, headerValues, type HeaderFields } from './messages.ts';

type GatewayResponseResource = Resource<'AWS::ApiGateway::GatewayResponse'>;

interface HeaderMapping {
  readonly header: string;
  readonly valueOf: (variables: ContextVariables, requestHeaders: HeaderFields) => string | undefined;
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
      if (!Object.hasOwn(gatewayErrorStatuses, properties.ResponseType)) {
        throw new HostError(
          `Resource ${logicalId}: the local host does not know the property value ResponseType ${properties.ResponseType}`,
        );
      }
      this.#byType.set(properties.ResponseType, {
        status: properties.StatusCode === undefined ? undefined : Number(properties.StatusCode),
        headers: Object.entries(properties.ResponseParameters).map(([target, source]) =>
          headerMapping(logicalId, target, source),
        ),
        template: properties.ResponseTemplates?.['application/json'] ?? STOCK_TEMPLATE,
      });
    }
  }

  render(error: GatewayError, variables: ContextVariables, requestHeaders: HeaderFields): GatewayAnswer {
    variables.set(
      { message: error.message, messageString: JSON.stringify(error.message), responseType: error.type },
      'error',
    );
    const response = this.#responseFor(error.type);
    const mapped = (response?.headers ?? []).flatMap(({ header, valueOf }): HeaderFields => {
      const value = valueOf(variables, requestHeaders);
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
  if (header === undefined) {
    throw new HostError(
      `Resource ${logicalId}: the local host does not know the property ResponseParameters.${target}`,
    );
  }
  const literal = /^'([^']*)'$/.exec(source)?.[1];
  if (literal !== undefined) return { header, valueOf: () => literal };
  const variable = /^context\.(.+)$/.exec(source)?.[1];
  if (variable !== undefined) return { header, valueOf: (variables) => variables.get(variable) };
  const requestHeader = /^method\.request\.header\.(.+)$/.exec(source)?.[1];
  if (requestHeader !== undefined) {
    return { header, valueOf: (_, requestHeaders) => headerValues(requestHeaders, requestHeader).at(-1) };
  }
  throw new HostError(
    `Resource ${logicalId}: the local host does not support property ResponseParameters.${target} (got ${source}; ` +
      'a literal needs its own single quotes)',
  );
}
