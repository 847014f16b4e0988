import { HostError } from '../host-error.ts';
import type { Resource } from '../template/stack.ts';
import type { GatewayHttpResponse, HeaderFields } from './messages.ts';

/** The types of errors of the gateway itself. */
export const gatewayErrorTypes = [
  'ACCESS_DENIED',
  'API_CONFIGURATION_ERROR',
  'AUTHORIZER_CONFIGURATION_ERROR',
  'DEFAULT_5XX',
  'INTEGRATION_TIMEOUT',
  'INVALID_API_KEY',
  'MISSING_AUTHENTICATION_TOKEN',
  'QUOTA_EXCEEDED',
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
export class ContextVariables {
  readonly #values = new Map<string, string>();

  constructor({ requestId, path }: Readonly<Record<'requestId' | 'path', string>>) {
    this.#values.set('requestId', requestId).set('path', path);
  }

  /** @param prefix of their names, with a dot */
  set(values: Readonly<Record<string, unknown>>, prefix: 'authorizer' | 'error'): void {
    for (const [name, value] of Object.entries(values)) this.#values.set(`${prefix}.${name}`, String(value));
  }

  get(name: string): string | undefined {
    return this.#values.get(name);
  }

  /** Replaces each `$context.name` in a template. Gateway responses do not run VTL. */
  substitute(template: string): string {
    return template.replaceAll(/\$context\.([A-Za-z]\w*(?:\.\w+)*)/g, (_, name: string) => this.get(name) ?? '');
  }
}

/** A gateway response of the API. */
interface GatewayResponse {
  readonly status: number;
  /** Each value is a literal in quotes, or `context.` and a variable. */
  readonly headers: HeaderFields;
  readonly template: string;
}

/** The gateway responses, by type. */
export class GatewayResponses {
  readonly #byType: ReadonlyMap<string, GatewayResponse>;

  /** @throws HostError if the API uses AWS's default for one of them, which is not an Error body */
  constructor(resources: readonly Resource[]) {
    this.#byType = new Map(resources.map((each) => [each.text('ResponseType'), gatewayResponse(each)]));
    for (const type of gatewayErrorTypes) this.#of(type);
  }

  render({ type, message }: GatewayError, variables: ContextVariables): GatewayHttpResponse {
    variables.set({ message, messageString: JSON.stringify(message), responseType: type }, 'error');
    const { status, headers, template } = this.#of(type);
    const mapped = headers.flatMap(([header, source]): HeaderFields => {
      const value = source.startsWith("'") ? source.slice(1, -1) : variables.get(source.replace('context.', ''));
      // A header is omitted if its variable is missing.
      return value === undefined ? [] : [[header, value]];
    });
    const body = Buffer.from(variables.substitute(template));
    return { status, headers: [['Content-Type', 'application/json'], ...mapped], body };
  }

  #of(type: GatewayErrorType): GatewayResponse {
    const response = this.#byType.get(type);
    if (response) return response;
    throw new HostError(`The template sets no gateway response ${type}`);
  }
}

function gatewayResponse(resource: Resource): GatewayResponse {
  const parameters = Object.entries(resource.texts('ResponseParameters'));
  return {
    status: Number(resource.text('StatusCode')),
    headers: parameters.map(([target, source]) => headerMapping(resource.logicalId, target, source)),
    template: resource.text('ResponseTemplates.application/json'),
  };
}

/** A mapping such as `gatewayresponse.header.Retry-After`: `'1'` or `context.authorizer.retryAfter`. */
function headerMapping(logicalId: string, target: string, source: string): HeaderFields[number] {
  const header = /^gatewayresponse\.header\.(.+)$/.exec(target)?.[1];
  if (header !== undefined && /^('[^']*'|context\..+)$/.test(source)) return [header, source];
  const problem = `${target} (got ${source}; a literal needs its own single quotes)`;
  throw new HostError(
    `Resource ${logicalId}: the local server does not support property ResponseParameters.${problem}`,
  );
}
