import { LocalServerError } from '../local-server-error.ts';
import type { Resource } from '../template/stack.ts';
import type { HeaderFields } from './request.ts';

/** In the template, each value of a header is a literal in quotes, or `context.` and a variable. */
export interface GatewayHttpResponse<Body = Buffer> {
  readonly status: number;
  readonly headers: HeaderFields;
  readonly body: Body;
}

const gatewayErrorTypes = [
  'ACCESS_DENIED',
  'API_CONFIGURATION_ERROR',
  'AUTHORIZER_CONFIGURATION_ERROR',
  'DEFAULT_5XX',
  'INTEGRATION_TIMEOUT',
  'INVALID_API_KEY',
  'MISSING_AUTHENTICATION_TOKEN',
  'REQUEST_TOO_LARGE',
  'THROTTLED',
] as const;

export type GatewayErrorType = (typeof gatewayErrorTypes)[number];

/** An error of the gateway itself. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly type: GatewayErrorType;

  constructor(type: GatewayErrorType, message: string) {
    super(message);
    this.type = type;
  }
}

/** The `$context` of one request, for substitution in gateway responses. */
export class ContextVariables extends Map<string, string> {
  /** @param prefix of their names, with a dot */
  addAll(prefix: 'authorizer' | 'error', values: Readonly<Record<string, unknown>>): void {
    for (const [name, value] of Object.entries(values)) this.set(`${prefix}.${name}`, String(value));
  }

  /** Replaces each `$context.name` in a template. Gateway responses do not run VTL. */
  substitute(template: string): string {
    return template.replaceAll(/\$context\.([A-Za-z]\w*(?:\.\w+)*)/g, (_, name: string) => this.get(name) ?? '');
  }
}

/** A response of the template to one request. */
export function render({ status, headers, body }: GatewayHttpResponse<string>, variables: ContextVariables) {
  const mapped = headers.flatMap(([header, source]): HeaderFields => {
    const value = source.startsWith("'") ? source.slice(1, -1) : variables.get(source.replace('context.', ''));
    // A header is omitted if its variable is missing.
    return value === undefined ? [] : [[header, value]];
  });
  return { status, headers: mapped, body: Buffer.from(variables.substitute(body)) };
}

/** The headers of a response: `gatewayresponse.header.Retry-After` is `'1'` or `context.authorizer.retryAfter`. */
export function mappedHeaders(
  { logicalId }: Resource,
  kind: 'gatewayresponse' | 'method.response',
  parameters: Readonly<Record<string, string>>,
): HeaderFields {
  return Object.entries(parameters).map(([target, source]) => {
    const [, header] = target.split(`${kind}.header.`);
    if (header !== undefined && /^('[^']*'|context\..+)$/.test(source)) return [header, source];
    throw new LocalServerError(
      `Resource ${logicalId}: the local server does not support ${target} (got ${source}; a literal needs its own ` +
        'single quotes)',
    );
  });
}

/**
 * @returns renders an error by the gateway response of its type
 * @throws LocalServerError if the API uses AWS's default for one of them, which is not an Error body
 */
export function gatewayResponses(resources: readonly Resource[]) {
  const byType = new Map(resources.map((each) => [each.text('ResponseType'), gatewayResponse(each)]));
  const find = (type: GatewayErrorType) => {
    const response = byType.get(type);
    if (response) return response;
    throw new LocalServerError(`The template sets no gateway response ${type}`);
  };
  gatewayErrorTypes.forEach(find);
  return ({ type, message }: GatewayError, variables: ContextVariables): GatewayHttpResponse => {
    variables.addAll('error', { message, messageString: JSON.stringify(message), responseType: type });
    return render(find(type), variables);
  };
}

function gatewayResponse(resource: Resource): GatewayHttpResponse<string> {
  const mapped = mappedHeaders(resource, 'gatewayresponse', resource.texts('ResponseParameters'));
  return {
    status: Number(resource.text('StatusCode')),
    headers: [['Content-Type', "'application/json'"], ...mapped],
    body: resource.text('ResponseTemplates.application/json'),
  };
}
