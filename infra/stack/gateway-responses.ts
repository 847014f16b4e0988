import { ResponseType, type RestApi } from 'aws-cdk-lib/aws-apigateway';
import { type ErrorCode, errorCatalog } from '../../shared/contract/errors.ts';
import { challenges } from '../../shared/http/authorizer-result.ts';
import {
  limitHeaders,
  unknownLimitHeaders,
  corsHeaders,
  helpLink,
  securityHeaders,
} from '../../shared/http/response-headers.ts';

interface ResponseDefinition {
  readonly code: ErrorCode;
  /** Whether the authorizer has always run before, so its context has the limit of the key. */
  readonly afterAuthorizer: boolean;
  /** Header values in API Gateway's mapping syntax: literals in single quotes, context values without. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the authorizer sets the code. */
  readonly codeFromContext?: boolean;
}

const retryAfterOneSecond = { 'Retry-After': "'1'" };
const challenge = { 'WWW-Authenticate': literal(challenges.API_KEY_INVALID) };
const before = { afterAuthorizer: false };
const after = { afterAuthorizer: true };

/**
 * The response for every type of error of API Gateway itself. A type without one would
 * use AWS's default body, so all are listed, including those that this API cannot cause today.
 */
const responses: Record<string, ResponseDefinition> = {
  ACCESS_DENIED: {
    code: 'API_KEY_INVALID',
    ...after,
    headers: { 'WWW-Authenticate': 'context.authorizer.challenge' },
    codeFromContext: true,
  },
  API_CONFIGURATION_ERROR: { code: 'INTERNAL_ERROR', ...before },
  AUTHORIZER_CONFIGURATION_ERROR: { code: 'SERVICE_UNAVAILABLE', ...before, headers: retryAfterOneSecond },
  AUTHORIZER_FAILURE: { code: 'SERVICE_UNAVAILABLE', ...before, headers: retryAfterOneSecond },
  BAD_REQUEST_BODY: { code: 'BAD_REQUEST', ...after },
  BAD_REQUEST_PARAMETERS: { code: 'BAD_REQUEST', ...after },
  DEFAULT_4XX: { code: 'BAD_REQUEST', ...before },
  DEFAULT_5XX: { code: 'BAD_GATEWAY', ...after },
  EXPIRED_TOKEN: { code: 'API_KEY_INVALID', ...before, headers: challenge },
  INTEGRATION_FAILURE: { code: 'BAD_GATEWAY', ...after },
  INTEGRATION_TIMEOUT: { code: 'GATEWAY_TIMEOUT', ...after },
  // The usage plans do not know the key (any longer), so it is invalid.
  INVALID_API_KEY: { code: 'API_KEY_INVALID', ...after, headers: challenge },
  INVALID_SIGNATURE: { code: 'API_KEY_INVALID', ...before, headers: challenge },
  // API Gateway's name for a path or method without a resource.
  MISSING_AUTHENTICATION_TOKEN: { code: 'ROUTE_NOT_FOUND', ...before },
  QUOTA_EXCEEDED: { code: 'TOO_MANY_REQUESTS', ...after, headers: { 'Retry-After': 'context.authorizer.retryAfter' } },
  REQUEST_TOO_LARGE: { code: 'PAYLOAD_TOO_LARGE', ...before },
  RESOURCE_NOT_FOUND: { code: 'ROUTE_NOT_FOUND', ...before },
  // The throttles of the stage and of a method act before the authorizer, that of a usage plan after it.
  THROTTLED: { code: 'TOO_MANY_REQUESTS', ...before, headers: retryAfterOneSecond },
  UNAUTHORIZED: {
    code: 'API_KEY_MISSING',
    ...before,
    headers: { 'WWW-Authenticate': literal(challenges.API_KEY_MISSING) },
  },
  UNSUPPORTED_MEDIA_TYPE: { code: 'UNSUPPORTED_MEDIA_TYPE', ...after },
  WAF_FILTERED: { code: 'FORBIDDEN', ...before },
};

/**
 * Gives every error of the gateway itself an Error body with the limit headers.
 *
 * @param page origin of the reference page, for the links
 */
export function addGatewayResponses(restApi: RestApi, page: string | undefined): void {
  const fixed = Object.entries({ ...corsHeaders, ...securityHeaders }).map(([header, value]) => [
    header,
    literal(value),
  ]);
  for (const [type, { code, afterAuthorizer, headers, codeFromContext = false }] of Object.entries(responses)) {
    const help = page !== undefined && {
      Link: codeFromContext ? 'context.authorizer.help' : literal(helpLink(page, code)),
    };
    restApi.addGatewayResponse(type, {
      type: ResponseType.of(type),
      statusCode: String(errorCatalog[code].status),
      responseHeaders: { ...limitHeaderMappings(afterAuthorizer), ...Object.fromEntries(fixed), ...headers, ...help },
      templates: { 'application/json': codeFromContext ? bodyFromContext() : bodyOf(code) },
    });
  }
}

function bodyOf(code: ErrorCode): string {
  const { message, status } = errorCatalog[code];
  return JSON.stringify({ code, message, status });
}

/** A denied request's code and message come from the authorizer, which knows whether a key was sent. */
function bodyFromContext(): string {
  const { status } = errorCatalog.API_KEY_INVALID;
  return `{"code":"$context.authorizer.code","message":"$context.authorizer.message","status":${status}}`;
}

/** Before the authorizer runs, no limit is known, and a mapping cannot compute a time. */
function limitHeaderMappings(afterAuthorizer: boolean): Record<string, string> {
  const mappings = afterAuthorizer
    ? Object.entries(limitHeaders).map(([header, source]) => [header, `context.authorizer.${source}`])
    : Object.entries(unknownLimitHeaders).map(([header, value]) => [header, literal(value)]);
  return Object.fromEntries(mappings);
}

/** A literal header value in API Gateway's syntax. */
function literal(value: string): string {
  return `'${value}'`;
}
