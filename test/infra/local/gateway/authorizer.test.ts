import { describe, expect, test } from '@jest/globals';
import { RequestAuthorizer } from '../../../../infra/local/gateway/authorizer.ts';
import { ContextVariables } from '../../../../infra/local/gateway/gateway-responses.ts';
import { answering, testFunctions } from '../../../support/test-functions.ts';

const deploy = testFunctions();

const METHOD_ARN = 'arn:aws:execute-api:us-east-1:000000000000:a1b2c3/v1/GET/inventory';

const statement = (Effect: string, Resource = METHOD_ARN) => ({ Effect, Action: 'execute-api:Invoke', Resource });
const resultWith = (...Statement: readonly object[]) => ({
  principalId: 'k1',
  policyDocument: { Version: '2012-10-17', Statement },
});

/** Asks an authorizer of this source about a request. */
async function authorize(source: string) {
  const variables = new ContextVariables();
  const authorizer = new RequestAuthorizer(deploy(source));
  const outcome: unknown = await authorizer
    .authorize({ path: '/inventory' }, METHOD_ARN, variables)
    .catch((error: unknown) => error);
  return { outcome, variables };
}

const gatewayError = (type: string) => expect.objectContaining({ name: 'GatewayError', type });

test('An authorizer that allows a request gives its context as text, and what the request is metered as', async () => {
  const result = resultWith(statement('Allow'));
  const context = { limit: '60', remaining: 59, good: true, empty: '' };
  const { outcome } = await authorize(answering({ ...result, context, usageIdentifierKey: 'value-1' }));

  expect(outcome).toEqual({
    context: {
      limit: '60',
      remaining: '59',
      good: 'true',
      empty: '',
      principalId: 'k1',
      integrationLatency: expect.stringMatching(/^\d+$/),
    },
    usageIdentifierKey: 'value-1',
  });
});

test.each([
  ['denies it', resultWith(statement('Deny'))],
  ['denies it among others', resultWith(statement('Allow', '*'), statement('Deny', '*'))],
  ['says nothing of it', resultWith()],
  ['allows another stage', resultWith(statement('Allow', METHOD_ARN.replace('/v1/GET/inventory', 'x/*')))],
  ['allows another method', resultWith(statement('Allow', METHOD_ARN.replace('GET', 'PATCH')))],
])('An authorizer refuses a request: %s; its context is there for the gateway response', async (_, result) => {
  const { outcome, variables } = await authorize(answering({ ...result, context: { limit: 0 } }));

  expect(outcome).toEqual(gatewayError('ACCESS_DENIED'));
  expect(variables.substitute('$context.authorizer.limit of $context.authorizer.principalId', '-')).toBe('0 of k1');
});

describe('an authorizer that fails', () => {
  test.each([
    ['says Unauthorized', `throw new Error('Unauthorized');`, 'UNAUTHORIZED'],
    ['throws', `throw new Error('no');`, 'AUTHORIZER_CONFIGURATION_ERROR'],
    ['has no principal', 'return { policyDocument: {} };', 'AUTHORIZER_CONFIGURATION_ERROR'],
    ['has no policy', `return { principalId: 'k1' };`, 'AUTHORIZER_CONFIGURATION_ERROR'],
  ])('%s: the gateway says so', async (_, body, type) => {
    const { outcome, variables } = await authorize(`exports.handler = async () => { ${body} };`);

    expect(outcome).toEqual(gatewayError(type));
    expect(variables.get('authorizer.principalId')).toBeUndefined();
  });
});
