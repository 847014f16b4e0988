import type { APIGatewayProxyEvent } from 'aws-lambda';
import { ServiceError } from '../contract/errors.ts';
import { type Int64, INT64_RULE, isInt64 } from '../contract/int64.ts';
import { type OperationId, operationAt } from '../contract/routes.ts';
import { type AuthorizerContext, readAuthorizerContext } from './authorizer-context.ts';

type Values = readonly string[] | undefined;

/** All values of each request header, by its name in lower case. */
export type RequestHeaders = ReadonlyMap<string, readonly string[]>;

/** A request from API Gateway, parsed. */
export interface ApiRequest {
  readonly id: string;
  /** When the gateway received it, Unix milliseconds. */
  readonly receivedAt: number;
  readonly method: string;
  /** The resource path, such as `/inventory/{petId}`. */
  readonly resource: string;
  /** The requested path, with the stage. */
  readonly path: string;
  /** Undefined if no operation matches. */
  readonly operation: OperationId | undefined;
  readonly pathParameters: Readonly<Record<string, string | undefined>>;
  readonly query: Readonly<Record<string, Values>>;
  readonly headers: RequestHeaders;
  readonly body: Buffer;
  /** The authorizer's context. */
  readonly authorizer: AuthorizerContext;
}

export function readRequest(event: APIGatewayProxyEvent): ApiRequest {
  const { httpMethod: method, resource, requestContext } = event;
  return {
    id: requestContext.requestId,
    receivedAt: requestContext.requestTimeEpoch,
    method,
    resource,
    path: requestContext.path,
    operation: operationAt(method, resource),
    pathParameters: event.pathParameters ?? {},
    query: event.multiValueQueryStringParameters ?? {},
    headers: readHeaders(event),
    body: Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8'),
    authorizer: readAuthorizerContext(requestContext.authorizer),
  };
}

/** Header names are case-insensitive. */
export function readHeaders({
  multiValueHeaders,
}: {
  readonly multiValueHeaders: Readonly<Record<string, Values>> | null;
}): RequestHeaders {
  const headers = new Map<string, readonly string[]>();
  for (const [name, values = []] of Object.entries(multiValueHeaders ?? {})) {
    const field = name.toLowerCase();
    headers.set(field, [...headerValues(headers, field), ...values]);
  }
  return headers;
}

/** All values of a header, by its name in lower case; empty if absent. */
export const headerValues = (headers: RequestHeaders, name: string): readonly string[] => headers.get(name) ?? [];

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

/** A client's value as JSON: truncated, and with invisible characters escaped. */
export function quoted(value: unknown): string {
  const text = typeof value === 'string' ? JSON.stringify(value.slice(0, 40)) : JSON.stringify(value).slice(0, 40);
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escaped);
}

const escaped = (character: string): string =>
  character.replace(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
