import type { APIGatewayAuthorizerResult, APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { errorCatalogue } from '../shared/contract/errors.ts';
import { operationAt } from '../shared/contract/operations.ts';
import { documentClient } from '../shared/dynamodb.ts';
import { requiredEnv } from '../shared/environment.ts';
import { ANY_ID, warmUp, withHealthCheck } from '../shared/health-check.ts';
import { allow, deny, type DenialCode } from '../shared/http/authorizer-answer.ts';
import { authorizerMetrics, contextOf, unavailableContext, UNCOUNTED } from '../shared/http/authorizer-context.ts';
import { isRehearsal, rehearse } from '../shared/http/rehearsal.ts';
import { bearerToken, headerValues, requestTime } from '../shared/http/request.ts';
import { logError } from '../shared/log.ts';
import { Limiter } from '../shared/keys/limiter.ts';
import { generateToken, parseToken } from '../shared/keys/token.ts';
import { requestLog, takeColdStarts } from '../shared/request-log.ts';

const limiter = new Limiter(documentClient({ requestTimeout: 3_000 }), requiredEnv('KEYS_TABLE'));
const overflowKey = requiredEnv('OVERFLOW_USAGE_IDENTIFIER');
const interimKey = requiredEnv('INTERIM_USAGE_IDENTIFIER');
const logRequest = requestLog();

/**
 * Authenticates and counts a request (spec §5 and §8). A missing or bad key is denied, which the gateway answers with
 * 401. A request over a limit goes on to its function on the overflow usage plan, which is throttled; one that could not
 * be counted on the interim plan, which is not; with the error that the function answers it with, and logs.
 */
export const handler = withHealthCheck(() => limiter.check(), authorize);

/** With a token that no key has: it is denied, and nothing is counted. */
const unknownKey = { httpMethod: 'GET', petId: ANY_ID, headers: { Authorization: `Bearer ${generateToken()}` } };

export const initialise = () => warmUp(() => rehearse(authorize, unknownKey));

async function authorize(event: APIGatewayRequestAuthorizerEvent): Promise<APIGatewayAuthorizerResult> {
  const now = requestTime(event);
  const text = bearerToken(event);
  if (text === undefined) return denied(event, 'API_KEY_MISSING', now);
  const token = parseToken(text);
  if (!token) return denied(event, 'API_KEY_INVALID', now);

  try {
    const verdict = await limiter.admit(token, now);
    if (verdict.kind === 'denied') return denied(event, 'API_KEY_INVALID', now);
    const { key } = verdict;
    const isInterim = now < key.interimUntil;
    const meteredAs = verdict.kind !== 'admitted' ? overflowKey : isInterim ? interimKey : token.usageIdentifier;
    const metrics = authorizerMetrics(takeColdStarts(), key.plan);
    const context = { ...contextOf(verdict, token.hash, now), ...metrics };
    return allow(event.methodArn, key.keyId, meteredAs, context);
  } catch (error) {
    if (isRehearsal(event)) throw error;
    logError('A request could not be counted', error, { requestId: event.requestContext.requestId });
    return allow(event.methodArn, UNCOUNTED, interimKey, {
      ...unavailableContext(now),
      ...authorizerMetrics(takeColdStarts()),
    });
  }
}

/** No function runs for a request that is denied, so it is logged here. */
function denied(event: APIGatewayRequestAuthorizerEvent, code: DenialCode, now: number): APIGatewayAuthorizerResult {
  if (!isRehearsal(event)) logDenial(event, code, now);
  const hasSeveral = headerValues(event, 'Authorization').length > 1;
  const message = hasSeveral ? 'The request has more than one Authorization header: send one.' : undefined;
  return deny(event.methodArn, code, now, message === undefined ? {} : { message });
}

function logDenial(event: APIGatewayRequestAuthorizerEvent, code: DenialCode, now: number): void {
  logRequest({
    coldStarts: takeColdStarts(),
    requestId: event.requestContext.requestId,
    receivedAt: now,
    operation: operationAt(event.httpMethod, event.resource),
    status: errorCatalogue[code].status,
    code,
    refusal: code,
  });
}
