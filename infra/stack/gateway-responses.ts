import { ResponseType, type RestApi } from 'aws-cdk-lib/aws-apigateway';
import { type ErrorCode, errorCatalog, ServiceError } from '../../shared/contract/errors.ts';
import { challenges } from '../../shared/http/authorizer-result.ts';
import {
  limitHeaders,
  unknownLimitHeaders,
  corsHeaders,
  helpLink,
  securityHeaders,
} from '../../shared/http/response-headers.ts';

/** Whether the authorizer has run when the error occurs: only then are there limits. `before…` if it may not have. */
type Phase = 'beforeAuthorizer' | 'afterAuthorizer';

/** Header values are in API Gateway's mapping syntax: literals in single quotes, context values without. */
type Definition = readonly [code: ErrorCode, phase: Phase, headers?: Readonly<Record<string, string>>];

const limitHeaderMappings: Readonly<Record<Phase, Readonly<Record<string, string>>>> = {
  // No limit is known, and a mapping cannot compute a time.
  beforeAuthorizer: literals(unknownLimitHeaders),
  afterAuthorizer: mapped(limitHeaders, (source) => `context.authorizer.${source}`),
};
const retryAfterOneSecond = { 'Retry-After': "'1'" };
const challenge = literals({ 'WWW-Authenticate': challenges.API_KEY_INVALID });

/** The type whose code, message and challenge the authorizer sets: it knows whether a key was sent. */
const DENIED = 'ACCESS_DENIED';
const deniedBody = { code: '$context.authorizer.code', message: '$context.authorizer.message' };

/**
 * The response for every type of error of API Gateway itself. A type without one would
 * use AWS's default body, so all are listed, including those that this API cannot cause today.
 */
const responses: Readonly<Record<string, Definition>> = {
  [DENIED]: ['API_KEY_INVALID', 'afterAuthorizer', { 'WWW-Authenticate': 'context.authorizer.challenge' }],
  API_CONFIGURATION_ERROR: ['INTERNAL_ERROR', 'beforeAuthorizer'],
  AUTHORIZER_CONFIGURATION_ERROR: ['SERVICE_UNAVAILABLE', 'beforeAuthorizer', retryAfterOneSecond],
  AUTHORIZER_FAILURE: ['SERVICE_UNAVAILABLE', 'beforeAuthorizer', retryAfterOneSecond],
  BAD_REQUEST_BODY: ['BAD_REQUEST', 'afterAuthorizer'],
  BAD_REQUEST_PARAMETERS: ['BAD_REQUEST', 'afterAuthorizer'],
  DEFAULT_4XX: ['BAD_REQUEST', 'beforeAuthorizer'],
  DEFAULT_5XX: ['BAD_GATEWAY', 'afterAuthorizer'],
  EXPIRED_TOKEN: ['API_KEY_INVALID', 'beforeAuthorizer', challenge],
  INTEGRATION_FAILURE: ['BAD_GATEWAY', 'afterAuthorizer'],
  INTEGRATION_TIMEOUT: ['GATEWAY_TIMEOUT', 'afterAuthorizer'],
  // The usage plans do not know the key (any longer), so it is invalid.
  INVALID_API_KEY: ['API_KEY_INVALID', 'afterAuthorizer', challenge],
  INVALID_SIGNATURE: ['API_KEY_INVALID', 'beforeAuthorizer', challenge],
  // API Gateway's name for a path or method without a resource.
  MISSING_AUTHENTICATION_TOKEN: ['ROUTE_NOT_FOUND', 'beforeAuthorizer'],
  QUOTA_EXCEEDED: ['TOO_MANY_REQUESTS', 'afterAuthorizer', { 'Retry-After': 'context.authorizer.retryAfter' }],
  REQUEST_TOO_LARGE: ['PAYLOAD_TOO_LARGE', 'beforeAuthorizer'],
  RESOURCE_NOT_FOUND: ['ROUTE_NOT_FOUND', 'beforeAuthorizer'],
  // The throttles of the stage and of a method act before the authorizer, that of a usage plan after it.
  THROTTLED: ['TOO_MANY_REQUESTS', 'beforeAuthorizer', retryAfterOneSecond],
  UNAUTHORIZED: ['API_KEY_MISSING', 'beforeAuthorizer', literals({ 'WWW-Authenticate': challenges.API_KEY_MISSING })],
  UNSUPPORTED_MEDIA_TYPE: ['UNSUPPORTED_MEDIA_TYPE', 'afterAuthorizer'],
  WAF_FILTERED: ['FORBIDDEN', 'beforeAuthorizer'],
};

/** Gives every error of the gateway an Error body and the limit headers. @param page origin of the reference */
export function addGatewayResponses(restApi: RestApi, page: string | undefined): void {
  for (const [type, [code, phase, headers]] of Object.entries(responses)) {
    const help = page === undefined ? {} : literals({ Link: helpLink(page, code) });
    restApi.addGatewayResponse(type, {
      type: ResponseType.of(type),
      statusCode: String(errorCatalog[code].status),
      responseHeaders: {
        ...limitHeaderMappings[phase],
        ...literals({ ...corsHeaders, ...securityHeaders }),
        ...headers,
        ...(type === DENIED && page !== undefined ? { Link: 'context.authorizer.help' } : help),
      },
      templates: {
        'application/json': JSON.stringify({ ...new ServiceError(code).body, ...(type === DENIED && deniedBody) }),
      },
    });
  }
}

/** Literal header values in API Gateway's syntax. */
function literals(headers: Readonly<Record<string, string>>): Record<string, string> {
  return mapped(headers, (value) => `'${value}'`);
}

function mapped(headers: Readonly<Record<string, string>>, map: (value: string) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([header, value]) => [header, map(value)]));
}
