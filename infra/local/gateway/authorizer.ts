import * as v from 'valibot';
import { FunctionError } from '../lambda/invocation.ts';
import type { LambdaFunction } from '../lambda/lambda-function.ts';
import { type ContextVariables, GatewayError } from './gateway-responses.ts';

/**
 * What a Lambda authorizer must return (API Gateway developer guide, "Output from an API Gateway Lambda authorizer").
 * What this API's authorizer does not use is refused.
 */
const authorizerResultSchema = v.object({
  principalId: v.string(),
  policyDocument: v.strictObject({
    Version: v.literal('2012-10-17'),
    Statement: v.strictTuple([
      v.strictObject({
        Effect: v.picklist(['Allow', 'Deny']),
        Action: v.literal('execute-api:Invoke'),
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
 * Asks a REQUEST authorizer without identity source and caching. Its context becomes `$context.authorizer`, for a denied
 * request too.
 *
 * @throws GatewayError ACCESS_DENIED or AUTHORIZER_CONFIGURATION_ERROR
 */
export async function authorize(
  lambda: Pick<LambdaFunction, 'invoke'>,
  event: Readonly<Record<string, unknown>>,
  methodArn: string,
  variables: ContextVariables,
): Promise<Authorization> {
  const startedAt = Date.now();
  const result = await invoke(lambda, JSON.stringify({ type: 'REQUEST', methodArn, ...event }));
  const context = {
    ...Object.fromEntries(Object.entries(result.context).map(([name, value]) => [name, String(value)])),
    principalId: result.principalId,
    integrationLatency: String(Date.now() - startedAt),
  };
  variables.set(context, 'authorizer');
  const [{ Effect, Resource }] = result.policyDocument.Statement;
  if (Effect === 'Deny' || !methodArn.startsWith(Resource.slice(0, -1))) {
    throw new GatewayError('ACCESS_DENIED', 'User is not authorized to access this resource');
  }
  return { context, usageIdentifierKey: result.usageIdentifierKey };
}

async function invoke(
  lambda: Pick<LambdaFunction, 'invoke'>,
  event: string,
): Promise<v.InferOutput<typeof authorizerResultSchema>> {
  try {
    return v.parse(authorizerResultSchema, JSON.parse(await lambda.invoke(event)));
  } catch (error) {
    if (error instanceof FunctionError || error instanceof v.ValiError) {
      throw new GatewayError('AUTHORIZER_CONFIGURATION_ERROR', 'Internal server error');
    }
    throw error;
  }
}
