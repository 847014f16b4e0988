import type { APIGatewayProxyEvent, APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import * as v from 'valibot';
import { isErrorCode, ServiceError } from '../contract/errors.ts';
import { type Int64, INT64_RULE, isInt64 } from '../contract/int64.ts';
import { operationAt } from '../contract/routes.ts';

/** The outcome of a request that reaches its function. */
export const ADMITTED = 'ADMITTED';

/** Text, as API Gateway passes every value; or a safe default if another release's authorizer sent none. */
const textOr = (otherwise: string) => v.fallback(v.optional(v.string(), otherwise), otherwise);
const textIfAny = v.fallback(v.optional(v.string()), undefined);

const limitContextSchema = v.object({
  limit: textOr('0'),
  remaining: textOr('0'),
  /** Unix seconds. */
  reset: textOr('0'),
  /** The quotas of both windows for `RateLimit-Policy`; absent if unknown. */
  rateLimitPolicy: textIfAny,
  /** The remaining quota of both windows for `RateLimit`; absent if unknown. */
  rateLimit: textIfAny,
  /** Seconds. Also set for an admitted request, in case the gateway's throttle refuses it. */
  retryAfter: textOr('1'),
});
export type LimitContext = v.InferOutput<typeof limitContextSchema>;

/**
 * The authorizer's context for the gateway and the functions: both use it for the limit headers,
 * and the functions for their log lines. During a canary the two are of different releases: values
 * unknown to one of them have safe defaults.
 */
const authorizerContextSchema = v.object({
  /** `ADMITTED`, or the error code that the function returns. */
  outcome: textOr('none'),
  /** Of that error; absent: the message of the catalog. */
  message: textIfAny,
  ...limitContextSchema.entries,
  /** An `Access`; an unknown one is read-only. Absent if the request could not be counted. */
  access: textIfAny,
  /** Partition key of the key's record, the same for all its tokens. Absent with `access`. */
  recordId: textIfAny,
  plan: textIfAny,
  /** Label and last four characters of the token that was sent, such as `main/ly02`. */
  token: textIfAny,
  /** Expiry of the key or this token, ISO 8601; absent: none. */
  expiresAt: textIfAny,
  /** Both windows as JSON: `KeyLimit[]`. */
  limits: textIfAny,
  /** The id of the key, added by API Gateway; {@link UNCOUNTED} if the request could not be counted. */
  principalId: textIfAny,
});

export type AuthorizerContext = v.InferOutput<typeof authorizerContextSchema>;

/** Parses the context in a function. Throws without one. */
export const readAuthorizerContext = (context: unknown): AuthorizerContext =>
  v.parse(authorizerContextSchema, context ?? {});

/** All values of each request header, by its name in lower case. */
export type RequestHeaders = ReadonlyMap<string, readonly string[]>;

/** A request from API Gateway, parsed. */
export type ApiRequest = Readonly<ReturnType<typeof readRequest>>;

export function readRequest(event: APIGatewayProxyEvent) {
  const { httpMethod: method, resource, requestContext } = event;
  return {
    id: requestContext.requestId,
    /** When the gateway received it, Unix milliseconds. */
    receivedAt: requestContext.requestTimeEpoch,
    method,
    /** The resource path, such as `/inventory/{petId}`. */
    resource,
    /** The requested path, with the stage. */
    path: requestContext.path,
    /** Undefined if no operation matches. */
    operation: operationAt(method, resource),
    pathParameters: event.pathParameters ?? {},
    query: event.multiValueQueryStringParameters ?? {},
    headers: readHeaders(event),
    body: Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8'),
    authorizer: readAuthorizerContext(requestContext.authorizer),
  };
}

/** Header names are case-insensitive. */
export function readHeaders(event: Pick<APIGatewayRequestAuthorizerEvent, 'multiValueHeaders'>): RequestHeaders {
  const headers = new Map<string, readonly string[]>();
  for (const [name, values = []] of Object.entries(event.multiValueHeaders ?? {})) {
    const field = name.toLowerCase();
    headers.set(field, [...headerValues(headers, field), ...values]);
  }
  return headers;
}

/** All values of a header, by its name in lower case; empty if absent. */
export const headerValues = (headers: RequestHeaders, name: string): readonly string[] => headers.get(name) ?? [];

/** The error of a request that is not admitted. An unknown one, of a later release, is 503. */
export function refusalOf({ outcome, message, retryAfter }: AuthorizerContext): ServiceError {
  const headers = { 'Retry-After': retryAfter };
  if (isErrorCode(outcome)) return new ServiceError(outcome, { message, headers });
  const cause = new Error(`Unknown outcome of the authorizer: ${outcome}`);
  return new ServiceError('SERVICE_UNAVAILABLE', { headers, cause });
}

/** The principal of a request that could not be counted, because the keys table is unavailable. */
export const UNCOUNTED = 'uncounted';

const BEARER = /^Bearer +(\S+)$/i;

/**
 * The token of `Authorization: Bearer <token>` (RFC 6750 §2.1), or undefined if the header is missing, is
 * repeated, or has another form.
 */
export function bearerToken(headers: RequestHeaders): string | undefined {
  const values = headerValues(headers, 'authorization');
  return values.length === 1 ? BEARER.exec(values[0]?.trim() ?? '')?.[1] : undefined;
}

/** The path parameter `petId`. @throws ServiceError INVALID_PET_ID if it is not an int64 */
export function parsePetId({ pathParameters: { petId } }: Pick<ApiRequest, 'pathParameters'>): Int64 {
  if (petId !== undefined && isInt64(petId)) return petId;
  throw new ServiceError('INVALID_PET_ID', { message: `petId is ${quoted(petId ?? '')}, but ${INT64_RULE}.` });
}

const MAX_QUOTED = 40;

/** A client's value as JSON: shortened with an ellipsis, and with invisible characters escaped. */
export function quoted(value: unknown): string {
  const text = typeof value === 'string' ? JSON.stringify(shortened(value)) : shortened(JSON.stringify(value));
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escaped);
}

const shortened = (text: string): string => (text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text);

const escaped = (character: string): string =>
  character.replace(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
