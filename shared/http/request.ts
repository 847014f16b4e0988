import type { APIGatewayProxyEvent } from 'aws-lambda';
import { ServiceError } from '../contract/errors.ts';
import { type Int64, INT64_RULE, isInt64 } from '../contract/int64.ts';
import { type OperationId, operationAt } from '../contract/routes.ts';
import { type AuthorizerContext, readAuthorizerContext } from './authorizer-context.ts';

type Values = readonly string[] | undefined;

/** All values of each request header, by its name in lower case. */
export type RequestHeaders = ReadonlyMap<string, readonly string[]>;

/** A request as the gateway hands it over to a function, read once. */
export interface ApiRequest {
  readonly id: string;
  /** When the gateway received it, Unix milliseconds. */
  readonly receivedAt: number;
  readonly method: string;
  /** The path of the template, such as `/inventory/{petId}`. */
  readonly resource: string;
  /** The path that the client asked for, with the stage. */
  readonly path: string;
  /** Undefined for a request that is no operation. */
  readonly operation: OperationId | undefined;
  readonly pathParameters: Readonly<Record<string, string | undefined>>;
  readonly query: Readonly<Record<string, Values>>;
  readonly headers: RequestHeaders;
  readonly body: Buffer;
  /** What the authorizer says of it. */
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

/** Names in several spellings are one header. */
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

/** All values of a header, by its name in lower case; empty where it was not sent. */
export const headerValues = (headers: RequestHeaders, name: string): readonly string[] => headers.get(name) ?? [];

const BEARER = /^Bearer +(\S+)$/i;

/**
 * The token of `Authorization: Bearer <token>` (RFC 6750 §2.1), or undefined where the header is missing, is
 * sent more than once, or has another form.
 */
export function bearerToken(headers: RequestHeaders): string | undefined {
  const values = headerValues(headers, 'authorization');
  return values.length === 1 ? BEARER.exec(values[0]?.trim() ?? '')?.[1] : undefined;
}

/** The path parameter `petId`. @throws ServiceError INVALID_PET_ID where it is not an int64 */
export function parsePetId({ pathParameters: { petId } }: Pick<ApiRequest, 'pathParameters'>): Int64 {
  if (petId !== undefined && isInt64(petId)) return petId;
  throw new ServiceError('INVALID_PET_ID', { message: `petId is ${quoted(petId ?? '')}, but ${INT64_RULE}.` });
}

/** What a client has sent, as JSON: cut short, and with an escape for each invisible character. */
export function quoted(value: unknown): string {
  const text = typeof value === 'string' ? JSON.stringify(value.slice(0, 40)) : JSON.stringify(value).slice(0, 40);
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escaped);
}

const escaped = (character: string): string =>
  character.replace(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
