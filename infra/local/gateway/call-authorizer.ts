import * as v from 'valibot';
import { FunctionError } from '../lambda/invocation.ts';
import type { LambdaFunction } from '../lambda/lambda-functions.ts';
import { writeNotice } from '../host-error.ts';
import { matchesPattern } from '../matches-pattern.ts';
import { type ContextVariables, GatewayError } from './gateway-responses.ts';
import { invokeWithin, reasonsOf } from './integration.ts';

/** As in the event: every value is text. */
const contextValue = v.pipe(v.union([v.string(), v.number(), v.boolean()]), v.transform(String));

/**
 * What a Lambda authorizer must return (API Gateway developer guide, "Output from an API Gateway Lambda authorizer"),
 * limited to what this API uses.
 */
const resultSchema = v.object({
  principalId: v.string(),
  policyDocument: v.object({
    Statement: v.strictTuple([
      v.object({
        Effect: v.picklist(['Allow', 'Deny']),
        /** A pattern of method ARNs. */
        Resource: v.string(),
      }),
    ]),
  }),
  context: v.optional(v.record(v.string(), contextValue), {}),
  usageIdentifierKey: v.optional(v.string()),
});

/** Timeout, including time in the queue. */
const TIMEOUT_MS = 29_000;

/**
 * Invokes a REQUEST authorizer without identity source and caching. Its context becomes `$context.authorizer`, for a
 * denied request too.
 *
 * @throws GatewayError ACCESS_DENIED, AUTHORIZER_CONFIGURATION_ERROR or INTEGRATION_TIMEOUT
 */
export async function callAuthorizer(
  lambda: Pick<LambdaFunction, 'invoke' | 'name'>,
  event: Readonly<Record<string, unknown>>,
  methodArn: string,
  variables: ContextVariables,
) {
  const result = await invokeWithin(lambda, JSON.stringify({ type: 'REQUEST', methodArn, ...event }), TIMEOUT_MS)
    .then((text) => v.parse(resultSchema, JSON.parse(text)))
    .catch((error: unknown) => {
      if (error instanceof v.ValiError) {
        writeNotice(`${lambda.name} returned a malformed authorizer response: ${reasonsOf(error.issues)}`);
      }
      const isOfFunction = error instanceof FunctionError || error instanceof v.ValiError;
      throw isOfFunction ? new GatewayError('AUTHORIZER_CONFIGURATION_ERROR', 'Internal server error') : error;
    });
  const context = { ...result.context, principalId: result.principalId };
  variables.addAll('authorizer', context);
  const [{ Effect, Resource }] = result.policyDocument.Statement;
  if (Effect === 'Deny' || !matchesPattern(Resource, methodArn)) {
    throw new GatewayError('ACCESS_DENIED', 'User is not authorized to access this resource');
  }
  return { context, usageIdentifierKey: result.usageIdentifierKey };
}
