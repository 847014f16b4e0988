import { expect, jest, test } from '@jest/globals';
import { callAuthorizer } from '../../../../infra/local/gateway/call-authorizer.ts';
import { ContextVariables } from '../../../../infra/local/gateway/gateway-responses.ts';

const STAGE_ARN = 'arn:aws:execute-api:us-east-1:000000000000:a1b2c3/v1';

const resultWith = (Effect: string, Resource = `${STAGE_ARN}/*`) => ({
  principalId: 'k1',
  policyDocument: { Version: '2012-10-17', Statement: [{ Effect, Action: 'execute-api:Invoke', Resource }] },
});

/** Calls an authorizer that returns this result for `GET /inventory`. */
async function ask(result: unknown) {
  const variables = new ContextVariables([
    ['requestId', 'id'],
    ['path', '/v1/inventory'],
  ]);
  const invoke = () => Promise.resolve(JSON.stringify(result));
  const outcome: unknown = await callAuthorizer(
    { name: 'authorizer', invoke },
    {},
    `${STAGE_ARN}/GET/inventory`,
    variables,
  ).catch((error: unknown) => error);
  return { outcome, variables };
}

const gatewayError = (type: string) => expect.objectContaining({ name: 'GatewayError', type });

test.each([
  ['denies the request', resultWith('Deny')],
  ['allows another method', resultWith('Allow', `${STAGE_ARN}/PATCH/*`)],
])('an authorizer that %s is ACCESS_DENIED, and the gateway response has its context', async (_, result) => {
  const { outcome, variables } = await ask({ ...result, context: { limit: 0 } });

  expect(outcome).toEqual(gatewayError('ACCESS_DENIED'));
  expect(variables.substitute('$context.authorizer.limit of $context.authorizer.principalId')).toBe('0 of k1');
});

const never = { name: 'authorizer', invoke: () => new Promise<string>(() => undefined) };

test('an authorizer that does not respond within 29 seconds is a 504', async () => {
  jest.useFakeTimers();
  const asked = callAuthorizer(
    never,
    {},
    `${STAGE_ARN}/GET/`,
    new ContextVariables([
      ['requestId', 'id'],
      ['path', '/v1/'],
    ]),
  );
  jest.advanceTimersByTime(29_000);
  jest.useRealTimers();

  await expect(asked).rejects.toEqual(gatewayError('INTEGRATION_TIMEOUT'));
});

test.each(['', '{"principalId":"k1"}'])('an authorizer that returns %j is a configuration error', async (result) => {
  const notices = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
  const broken = { name: 'authorizer', invoke: () => Promise.resolve(result) };
  const asked = callAuthorizer(broken, {}, `${STAGE_ARN}/GET/`, new ContextVariables());

  await expect(asked).rejects.toEqual(gatewayError('AUTHORIZER_CONFIGURATION_ERROR'));
  expect(notices).toHaveBeenCalledWith(expect.stringMatching(/^authorizer returned a malformed authorizer response: /));
  notices.mockRestore();
});
