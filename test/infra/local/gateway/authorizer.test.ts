import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { RequestAuthorizer } from '../../../../infra/local/gateway/authorizer.ts';
import { ContextVariables } from '../../../../infra/local/gateway/gateway-responses.ts';
import { answering, testFunctions, type TestFunctionSettings } from '../../../support/test-functions.ts';

const deploy = testFunctions();

const METHOD_ARN = 'arn:aws:execute-api:us-east-1:000000000000:a1b2c3/v1/GET/inventory';

const policy = (Effect: string, Resource = METHOD_ARN) => ({
  Version: '2012-10-17',
  Statement: [{ Effect, Action: 'execute-api:Invoke', Resource }],
});

const allowing = { principalId: 'k1', policyDocument: policy('Allow') };
const denying = { principalId: 'anonymous', policyDocument: policy('Deny') };

/** Asks an authorizer of this source about a request. */
async function authorize(source: string, settings?: TestFunctionSettings) {
  const variables = new ContextVariables();
  const authorizer = new RequestAuthorizer(deploy(source, settings));
  const outcome: unknown = await authorizer.authorize({ path: '/inventory' }, METHOD_ARN, variables).catch(errorOf);
  return { outcome, variables };
}

const errorOf = (error: unknown): unknown => error;
const gatewayError = (type: string) => expect.objectContaining({ name: 'GatewayError', type });

describe('an authorizer that allows a request', () => {
  test('lets it through with its context as text, its principal, and what the request is metered as', async () => {
    const context = { limit: '60', remaining: 59, good: true, empty: '' };
    const { outcome } = await authorize(answering({ ...allowing, context, usageIdentifierKey: 'value-1' }));

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

  test('makes its context the $context.authorizer of the request', async () => {
    const { variables } = await authorize(answering({ ...allowing, context: { outcome: 'ADMITTED' } }));

    expect(variables.substitute('$context.authorizer.outcome of $context.authorizer.principalId', '-')).toBe(
      'ADMITTED of k1',
    );
  });
});

describe('the event of an authorizer', () => {
  test('is the request, with its type and the ARN of the method', async () => {
    const { outcome } = await authorize(`exports.handler = async (event) => (
      { principalId: 'k1', policyDocument: ${JSON.stringify(policy('Allow'))}, context: { event: JSON.stringify(event) } });`);

    const { context } = v.parse(v.object({ context: v.object({ event: v.string() }) }), outcome);
    expect(JSON.parse(context.event)).toEqual({
      type: 'REQUEST',
      methodArn: METHOD_ARN,
      path: '/inventory',
    });
  });
});

describe('an authorizer that does not allow a request', () => {
  test.each([
    ['denies it', denying],
    [
      'allows another stage',
      { ...denying, policyDocument: policy('Allow', METHOD_ARN.replace('/v1/GET/inventory', 'x/*')) },
    ],
    [
      'denies it among others',
      {
        ...denying,
        policyDocument: {
          Version: '2012-10-17',
          Statement: ['Allow', 'Deny'].flatMap((effect) => policy(effect, '*').Statement),
        },
      },
    ],
    ['allows another method', { ...denying, policyDocument: policy('Allow', METHOD_ARN.replace('GET', 'PATCH')) }],
    ['says nothing of it', { ...denying, policyDocument: { Version: '2012-10-17', Statement: [] } }],
  ])('refuses it: %s', async (_, result) => {
    expect((await authorize(answering(result))).outcome).toEqual(gatewayError('ACCESS_DENIED'));
  });

  test('still makes its context the $context.authorizer, for the gateway response', async () => {
    const { variables } = await authorize(answering({ ...denying, context: { code: 'API_KEY_MISSING', limit: 0 } }));

    expect(variables.get('authorizer.code')).toBe('API_KEY_MISSING');
    expect(variables.get('authorizer.limit')).toBe('0');
    expect(variables.get('authorizer.principalId')).toBe('anonymous');
  });
});

describe('an authorizer that says Unauthorized', () => {
  test.each([
    ['an Error', `throw new Error('Unauthorized')`],
    ['text', `throw 'Unauthorized'`],
  ])('refuses the request as unauthorized: %s', async (_, body) => {
    const { outcome, variables } = await authorize(`exports.handler = async () => { ${body}; };`);

    expect(outcome).toEqual(gatewayError('UNAUTHORIZED'));
    expect(variables.get('authorizer.principalId')).toBeUndefined();
  });
});

describe('an authorizer that fails', () => {
  const broken = 'AUTHORIZER_CONFIGURATION_ERROR';

  test.each([
    ['throws', `exports.handler = async () => { throw new Error('no'); };`],
    ['throws what is almost Unauthorized', `exports.handler = async () => { throw new Error('unauthorized'); };`],
    ['cannot be loaded', `throw new Error('no configuration')`],
  ])('is a fault of the API: %s', async (_, source) => {
    expect((await authorize(source)).outcome).toEqual(gatewayError(broken));
  });

  test('is a fault of the API: takes too long', async () => {
    const source = 'exports.handler = () => new Promise(() => {});';

    expect((await authorize(source, { timeoutSeconds: 0.1 })).outcome).toEqual(gatewayError(broken));
  });

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['no principal', { policyDocument: policy('Allow') }],
    ['no policy', { principalId: 'k1' }],
    ['an effect that does not exist', { principalId: 'k1', policyDocument: policy('Permit') }],
    ['a context with a list', { ...allowing, context: { plans: ['free'] } }],
  ])('is a fault of the API: answers with %s', async (_, result) => {
    const { outcome, variables } = await authorize(answering(result));

    expect(outcome).toEqual(gatewayError(broken));
    expect(variables.get('authorizer.principalId')).toBeUndefined();
  });
});
