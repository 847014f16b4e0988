import * as v from 'valibot';
import { FunctionError } from '../lambda/invocation.ts';
import type { LambdaFunction } from '../lambda/lambda-functions.ts';
import { type ContextVariables, GatewayError } from './gateway-responses.ts';

/**
 * What a Lambda authorizer must return (API Gateway developer guide, "Output from an API Gateway Lambda authorizer"),
 * as far as this API's does.
 */
const resultSchema = v.object({
  principalId: v.string(),
  policyDocument: v.object({
    Statement: v.strictTuple([
      v.object({
        Effect: v.picklist(['Allow', 'Deny']),
        /** What the ARNs of methods begin with, and `*`. */
        Resource: v.pipe(v.string(), v.regex(/^[^*?]*\*$/)),
      }),
    ]),
  }),
  context: v.optional(v.record(v.string(), v.union([v.string(), v.number(), v.boolean()])), {}),
  usageIdentifierKey: v.optional(v.string()),
});

/** What the authorizer says of a request that it lets through. */
export interface Authorization {
  /** As the event has it: every value is text. */
  readonly context: Readonly<Record<string, string>>;
  readonly usageIdentifierKey: string | undefined;
}

/**
 * Asks a REQUEST authorizer without identity source and caching. Its context becomes `$context.authorizer`, for a
 * denied request too.
 *
 * @throws GatewayError ACCESS_DENIED or AUTHORIZER_CONFIGURATION_ERROR
 */
export async function callAuthorizer(
  lambda: Pick<LambdaFunction, 'invoke'>,
  event: Readonly<Record<string, unknown>>,
  methodArn: string,
  variables: ContextVariables,
): Promise<Authorization> {
  const result = await lambda
    .invoke(JSON.stringify({ type: 'REQUEST', methodArn, ...event }))
    .then((text) => v.parse(resultSchema, JSON.parse(text)))
    .catch((error: unknown) => {
      const isOfFunction = error instanceof FunctionError || error instanceof v.ValiError;
      throw isOfFunction ? new GatewayError('AUTHORIZER_CONFIGURATION_ERROR', 'Internal server error') : error;
    });
  const context = {
    ...Object.fromEntries(Object.entries(result.context).map(([name, value]) => [name, String(value)])),
    principalId: result.principalId,
  };
  variables.set(context, 'authorizer');
  const [{ Effect, Resource }] = result.policyDocument.Statement;
  if (Effect === 'Deny' || !methodArn.startsWith(Resource.slice(0, -1))) {
    throw new GatewayError('ACCESS_DENIED', 'User is not authorized to access this resource');
  }
  return { context, usageIdentifierKey: result.usageIdentifierKey };
}
