import type { APIGatewayAuthorizerResult, APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { documentClient } from '../shared/dynamodb.ts';
import { requiredEnv } from '../shared/environment.ts';
import { allow, deny } from '../shared/http/authorizer-answer.ts';
import { contextOf, unavailableContext, usageIdentifier } from '../shared/http/authorizer-context.ts';
import { logError } from '../shared/log.ts';
import { hashApiKey, isPlausibleApiKey } from '../shared/keys/api-key.ts';
import { bearerToken } from '../shared/keys/bearer-token.ts';
import { Limiter } from '../shared/keys/limiter.ts';

/** One try: the SDK repeating a write that did arrive would count a request twice. */
const limiter = new Limiter(documentClient({ maxAttempts: 1, requestTimeout: 3_000 }), requiredEnv('KEYS_TABLE'));
const overflowKey = requiredEnv('OVERFLOW_USAGE_IDENTIFIER');
const interimKey = requiredEnv('INTERIM_USAGE_IDENTIFIER');

/**
 * Authenticates and counts a request (spec §5 and §8). A missing or bad key is denied, which the gateway answers with
 * 401. A request over a limit, or one that cannot be counted, is let through to its function on the overflow usage
 * plan, with the error that the function answers it with.
 */
export const handler = async (event: APIGatewayRequestAuthorizerEvent): Promise<APIGatewayAuthorizerResult> => {
  const now = event.requestContext.requestTimeEpoch;
  const token = bearerToken(event.multiValueHeaders);
  if (token === undefined) return deny(event.methodArn, 'API_KEY_MISSING', now);
  if (!isPlausibleApiKey(token)) return deny(event.methodArn, 'API_KEY_INVALID', now);

  try {
    const verdict = await limiter.admit(hashApiKey(token), now);
    if (verdict.kind === 'denied') return deny(event.methodArn, 'API_KEY_INVALID', now);
    const meteredAs = verdict.kind === 'admitted' ? usageIdentifier(verdict.key, token, interimKey, now) : overflowKey;
    return allow(event.methodArn, verdict.key.keyId, meteredAs, contextOf(verdict, now));
  } catch (error) {
    logError('A request could not be counted', error, { requestId: event.requestContext.requestId });
    return allow(event.methodArn, 'uncounted', overflowKey, unavailableContext(now));
  }
};
