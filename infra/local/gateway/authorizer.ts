import * as v from 'valibot';
import { FunctionError } from '../lambda/invocation.ts';
import type { LambdaFunction } from '../lambda/lambda-function.ts';
import { GatewayError } from './gateway-error.ts';
import type { ContextVariables } from './gateway-responses.ts';

/** The policy document of an authorizer. What this API's authorizer does not use is refused. */
const policyDocumentSchema = v.strictObject({
  Version: v.literal('2012-10-17'),
  Statement: v.array(
    v.strictObject({
      Effect: v.picklist(['Allow', 'Deny']),
      Action: v.literal('execute-api:Invoke'),
      /** The ARN of a method, or what it begins with and `*`. */
      Resource: v.pipe(v.string(), v.regex(/^[^*?]*\*?$/)),
    }),
  ),
});

const scalar = v.union([v.string(), v.number(), v.boolean()]);

/** What a Lambda authorizer must return (API Gateway developer guide, "Output from an API Gateway Lambda authorizer"). */
const authorizerResultSchema = v.object({
  principalId: v.string(),
  policyDocument: policyDocumentSchema,
  context: v.optional(v.record(v.string(), scalar), {}),
  usageIdentifierKey: v.optional(v.string()),
});

/** What the authorizer says of a request that it lets through. */
export interface Authorization {
  /** As the event has it: every value is text. */
  readonly context: Readonly<Record<string, string>>;
  readonly usageIdentifierKey: string | undefined;
}

/** A REQUEST authorizer without identity source and caching: asked about every request. */
export class RequestAuthorizer {
  readonly #function: LambdaFunction;

  constructor(lambda: LambdaFunction) {
    this.#function = lambda;
  }

  /**
   * Asks the authorizer. Its context becomes `$context.authorizer`, for a denied request too.
   *
   * @throws GatewayError ACCESS_DENIED, UNAUTHORIZED or AUTHORIZER_CONFIGURATION_ERROR
   */
  async authorize(
    event: Record<string, unknown>,
    methodArn: string,
    variables: ContextVariables,
  ): Promise<Authorization> {
    const startedAt = Date.now();
    const { principalId, policyDocument, context, usageIdentifierKey } = await this.#invoke({
      type: 'REQUEST',
      methodArn,
      ...event,
    });
    const values = {
      ...Object.fromEntries(Object.entries(context).map(([name, value]) => [name, String(value)])),
      principalId,
      integrationLatency: String(Date.now() - startedAt),
    };
    variables.set(values, 'authorizer');
    if (!allowsInvoke(policyDocument, methodArn)) {
      throw new GatewayError('ACCESS_DENIED', 'User is not authorized to access this resource');
    }
    return { context: values, usageIdentifierKey };
  }

  async #invoke(event: Record<string, unknown>): Promise<v.InferOutput<typeof authorizerResultSchema>> {
    try {
      return v.parse(authorizerResultSchema, JSON.parse(await this.#function.invoke(JSON.stringify(event))));
    } catch (error) {
      if (error instanceof FunctionError && error.failure.errorMessage === 'Unauthorized') {
        throw new GatewayError('UNAUTHORIZED', 'Unauthorized');
      }
      if (error instanceof FunctionError || error instanceof v.ValiError) {
        throw new GatewayError('AUTHORIZER_CONFIGURATION_ERROR', 'Internal server error');
      }
      throw error;
    }
  }
}

/** Whether the policy lets a method be invoked: some statement allows it and none denies it. */
function allowsInvoke({ Statement }: v.InferOutput<typeof policyDocumentSchema>, methodArn: string): boolean {
  const applying = Statement.filter(({ Resource }) =>
    Resource.endsWith('*') ? methodArn.startsWith(Resource.slice(0, -1)) : methodArn === Resource,
  );
  return applying.length > 0 && applying.every(({ Effect }) => Effect === 'Allow');
}
