import type { APIGatewayProxyEvent } from 'aws-lambda';
import { ServiceError } from '../contract/errors.ts';
import { type Int64, isInt64 } from '../contract/int64.ts';

/** What the events of functions and of the authorizer have in common here. */
export interface RequestEvent {
  readonly multiValueHeaders: Readonly<Record<string, readonly string[] | undefined>> | null;
  readonly requestContext: { readonly requestTimeEpoch?: number };
}

const BEARER = /^Bearer +(\S+)$/i;

/** All values of a request header, by its name in any case; empty where it was not sent. */
export function headerValues({ multiValueHeaders }: Pick<RequestEvent, 'multiValueHeaders'>, name: string): string[] {
  const found = Object.entries(multiValueHeaders ?? {}).filter(([field]) => field.toLowerCase() === name.toLowerCase());
  return found.flatMap(([, values]) => values ?? []);
}

/**
 * The token of `Authorization: Bearer <token>` (spec §5, RFC 6750 §2.1), or undefined where the header is missing, is
 * sent more than once, or has another form.
 */
export function bearerToken(event: Pick<RequestEvent, 'multiValueHeaders'>): string | undefined {
  const values = headerValues(event, 'Authorization');
  return values.length === 1 ? BEARER.exec(values[0]?.trim() ?? '')?.[1] : undefined;
}

/** When the gateway received a request, Unix milliseconds. Emulators may not tell; then it is now. */
export function requestTime({ requestContext: { requestTimeEpoch } }: Pick<RequestEvent, 'requestContext'>): number {
  return requestTimeEpoch !== undefined && Number.isFinite(requestTimeEpoch) ? requestTimeEpoch : Date.now();
}

/** The path parameter `petId` (spec §4.2). @throws ServiceError INVALID_PET_ID where it is not an int64 */
export function parsePetId({ pathParameters }: APIGatewayProxyEvent): Int64 {
  const petId = pathParameters?.petId ?? '';
  if (!isInt64(petId)) throw new ServiceError('INVALID_PET_ID');
  return petId;
}

/** A name that the caller has given, for a message: in quotes, and cut short. */
export const quoted = (name: string): string => JSON.stringify(name.slice(0, 40));
