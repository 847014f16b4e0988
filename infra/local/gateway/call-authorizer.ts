import * as v from 'valibot';
import type { LambdaFunction } from '../lambda/lambda-functions.ts';
import { writeNotice } from '../local-server-error.ts';
import { matchesPattern } from '../iam.ts';
import { type ContextVariables, GatewayError } from './gateway-responses.ts';
import { invokeWithin, reasonsOf } from './integration.ts';

/** Its resource is a pattern of method ARNs. */
const statementSchema = v.object({ Effect: v.picklist(['Allow', 'Deny']), Resource: v.string() });

/** As in the event: every value is text. */
const contextValue = v.pipe(v.union([v.string(), v.number(), v.boolean()]), v.transform(String));

/**
 * What a Lambda authorizer must return (API Gateway developer guide, "Output from an API Gateway Lambda authorizer"),
 * limited to what this API uses.
 */
const resultSchema = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    principalId: v.string(),
    policyDocument: v.object({ Statement: v.strictTuple([statementSchema]) }),
    context: v.optional(v.record(v.string(), contextValue), {}),
    usageIdentifierKey: v.optional(v.string()),
  }),
);

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
  const input = JSON.stringify({ type: 'REQUEST', methodArn, ...event });
  const text = await invokeWithin(lambda, input, TIMEOUT_MS, 'AUTHORIZER_CONFIGURATION_ERROR');
  const { success, output: result, issues } = v.safeParse(resultSchema, text);
  if (!success) {
    writeNotice(`${lambda.name} returned a malformed authorizer response: ${reasonsOf(issues)}`);
    throw new GatewayError('AUTHORIZER_CONFIGURATION_ERROR', 'Internal server error');
  }
  const context = { ...result.context, principalId: result.principalId };
  variables.addAll('authorizer', context);
  const [{ Effect, Resource }] = result.policyDocument.Statement;
  if (Effect === 'Deny' || !matchesPattern(Resource, methodArn)) {
    throw new GatewayError('ACCESS_DENIED', 'User is not authorized to access this resource');
  }
  return { context, usageIdentifierKey: result.usageIdentifierKey };
}
