import { randomUUID } from 'node:crypto';
import type { APIGatewayAuthorizerResult, APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { errorCatalog } from '../shared/contract/errors.ts';
import { operationAt } from '../shared/contract/routes.ts';
import { documentClient } from '../shared/dynamodb.ts';
import { pageOrigin, requiredEnv } from '../shared/environment.ts';
import { allow, deny, type DenialCode, contextOf, uncountedContext } from '../shared/http/authorizer-result.ts';
import { UNCOUNTED, bearerToken, headerValues, readHeaders, type RequestHeaders } from '../shared/http/request.ts';
import { probed } from '../shared/http/probe.ts';
import { idOf, isInterim, UnreadableRecordError } from '../shared/keys/key-record.ts';
import { Limiter } from '../shared/keys/limiter.ts';
import { parseToken } from '../shared/keys/token.ts';
import { logError, requestLog } from '../shared/log.ts';

const limiter = new Limiter(documentClient(), requiredEnv('KEYS_TABLE'));
const overflowKey = requiredEnv('OVERFLOW_USAGE_IDENTIFIER');
const interimKey = requiredEnv('INTERIM_USAGE_IDENTIFIER');
const referenceOrigin = pageOrigin();
const logRequest = requestLog();

/**
 * Authenticates and counts a request. A missing or invalid key is denied, and the gateway returns
 * 401. A request over a limit is passed to its function on the overflow usage plan; an uncounted one on the
 * interim plan, which only throttles batch updates. Both carry the error that the function returns and logs.
 */
async function authorize(event: APIGatewayRequestAuthorizerEvent): Promise<APIGatewayAuthorizerResult> {
  const { methodArn, requestContext } = event;
  const { requestId } = requestContext;
  const now = receivedAt(requestContext);
  const headers = readHeaders(event);
  const text = bearerToken(headers);
  if (text === undefined)
    return denied(event, now, 'API_KEY_MISSING', `${missingKey(headers)}. ${errorCatalog.API_KEY_MISSING.message}`);
  const token = parseToken(text);
  if (!token) return denied(event, now, 'API_KEY_INVALID', MISTYPED);

  try {
    const verdict = await limiter.admit(token, now);
    if (verdict.kind === 'denied')
      return denied(event, now, 'API_KEY_INVALID', verdict.isSuspended ? SUSPENDED : UNKNOWN);
    const ofKey = isInterim(verdict.key, now) ? interimKey : token.usageIdentifier;
    const meteredAs = verdict.kind === 'admitted' ? ofKey : overflowKey;
    return allow(methodArn, idOf(verdict.key), meteredAs, contextOf(verdict, token.hash, now));
  } catch (error) {
    logError('A request could not be counted', error, {
      requestId,
      cause: error instanceof Error ? error.name : '',
    });
    const principal = error instanceof UnreadableRecordError ? idOf(error) : UNCOUNTED;
    return allow(methodArn, principal, interimKey, uncountedContext(now));
  }
}

/** The gateway's time. The guide's example of an authorizer event has none, though AWS's types have. */
const receivedAt = ({ requestTimeEpoch }: { readonly requestTimeEpoch?: number }): number =>
  requestTimeEpoch ?? Date.now();

const MISTYPED = 'The API key is mistyped or truncated: send all 50 characters.';
const SUSPENDED = 'The API key is suspended: ask the admin of the store to resume it.';
const UNKNOWN =
  'The API key has a valid format, but is unknown, disabled, revoked or expired: ask the admin of the store for a new one.';

/** What the request has instead of an API key. The gateway copies it into JSON unescaped: no quotes. */
function missingKey(headers: RequestHeaders): string {
  const [value, ...others] = headerValues(headers, 'authorization');
  if (others.length > 0) return 'The request has more than one Authorization header';
  if (headers.has('x-api-key')) return 'The API key is in the header x-api-key';
  if (value === undefined) return 'The request has no Authorization header';
  if (!/^Bearer(?: |$)/i.test(value.trim())) return 'The Authorization header does not begin with Bearer and a space';
  return 'The Authorization header has no key after Bearer, or more than one word';
}

/** No function runs for a denied request, so it is logged here. */
function denied(
  { httpMethod, resource, methodArn, requestContext }: APIGatewayRequestAuthorizerEvent,
  now: number,
  code: DenialCode,
  message?: string,
): APIGatewayAuthorizerResult {
  logRequest({
    requestId: requestContext.requestId,
    receivedAt: now,
    operation: operationAt(httpMethod, resource),
    status: errorCatalog[code].status,
    code,
    refusal: code,
  });
  return deny(methodArn, code, now, { message, referenceOrigin });
}

/** Sends the write of a request for a random unknown key, which changes nothing. */
const probe = () =>
  limiter.admit({ recordId: `probe ${randomUUID()}`, hash: 'none', usageIdentifier: 'none' }, Date.now());

export const { handler, initialize } = probed(authorize, [probe]);
