import { expect, test } from '@jest/globals';
import { callAuthorizer } from '../../../../infra/local/gateway/call-authorizer.ts';
import { ContextVariables } from '../../../../infra/local/gateway/gateway-responses.ts';
import { FunctionError } from '../../../../infra/local/lambda/invocation.ts';

const STAGE_ARN = 'arn:aws:execute-api:us-east-1:000000000000:a1b2c3/v1';

const resultWith = (Effect: string, Resource = `${STAGE_ARN}/*`) => ({
  principalId: 'k1',
  policyDocument: { Version: '2012-10-17', Statement: [{ Effect, Action: 'execute-api:Invoke', Resource }] },
});

/** Asks an authorizer that returns this, or fails so, about `GET /inventory`. */
async function ask(result: unknown) {
  const variables = new ContextVariables();
  const invoke = () => (result instanceof Error ? Promise.reject(result) : Promise.resolve(JSON.stringify(result)));
  const outcome: unknown = await callAuthorizer({ invoke }, {}, `${STAGE_ARN}/GET/inventory`, variables).catch(
    (error: unknown) => error,
  );
  return { outcome, variables };
}

const gatewayError = (type: string) => expect.objectContaining({ name: 'GatewayError', type });

test('An authorizer that allows a request gives its context as text, and what the request is metered as', async () => {
  const context = { limit: '60', remaining: 59, good: true, empty: '' };
  const { outcome } = await ask({ ...resultWith('Allow'), context, usageIdentifierKey: 'value-1' });
  const texts = { limit: '60', remaining: '59', good: 'true', empty: '', principalId: 'k1' };

  expect(outcome).toEqual({
    context: texts,
    usageIdentifierKey: 'value-1',
  });
});

test.each([
  ['denies it', resultWith('Deny')],
  ['allows another method', resultWith('Allow', `${STAGE_ARN}/PATCH/*`)],
])('An authorizer refuses a request: %s; its context is there for the gateway response', async (_, result) => {
  const { outcome, variables } = await ask({ ...result, context: { limit: 0 } });

  expect(outcome).toEqual(gatewayError('ACCESS_DENIED'));
  expect(variables.substitute('$context.authorizer.limit of $context.authorizer.principalId')).toBe('0 of k1');
});

const twoStatements = resultWith('Allow').policyDocument.Statement.flatMap((statement) => [statement, statement]);

const failure = (errorMessage: string) => new FunctionError({ errorType: 'Error', errorMessage });

test.each([
  ['throws', failure('no'), 'AUTHORIZER_CONFIGURATION_ERROR'],
  ['has no principal', { ...resultWith('Allow'), principalId: undefined }, 'AUTHORIZER_CONFIGURATION_ERROR'],
  [
    'has two statements',
    { principalId: 'k1', policyDocument: { Version: '2012-10-17', Statement: twoStatements } },
    'AUTHORIZER_CONFIGURATION_ERROR',
  ],
])('An authorizer that fails: it %s', async (_, result, type) => {
  const { outcome, variables } = await ask(result);

  expect(outcome).toEqual(gatewayError(type));
  expect(variables.get('authorizer.principalId')).toBeUndefined();
});
