import { expect, test } from '@jest/globals';
import {
  ContextVariables,
  GatewayError,
  GatewayResponses,
  gatewayErrorTypes,
} from '../../../../infra/local/gateway/gateway-responses.ts';
import { ServedStack } from '../../../../infra/local/template/stack.ts';

/** Responses of an API, of which THROTTLED has these headers. */
function responses(ResponseParameters: object, types: readonly string[] = gatewayErrorTypes): GatewayResponses {
  const ResponseTemplates = {
    'application/json': '["$context.authorizer.limit","$context.authorizer.none","$context.error.responseType"]',
  };
  const Resources = types.map((ResponseType) => [
    `Response${ResponseType}`,
    {
      Type: 'AWS::ApiGateway::GatewayResponse',
      Properties: {
        ResponseType,
        StatusCode: '430',
        ResponseTemplates,
        ...(ResponseType === 'THROTTLED' && { ResponseParameters }),
      },
    },
  ]);
  const stack = new ServedStack('test', { Resources: Object.fromEntries(Resources) });
  return new GatewayResponses(stack.resources('AWS::ApiGateway::GatewayResponse'));
}

test('A gateway response has the status, the headers and the body that the API sets', () => {
  const variables = new ContextVariables();
  variables.set({ limit: 60 }, 'authorizer');
  const set = responses({
    'gatewayresponse.header.Retry-After': "'1, or more'",
    'gatewayresponse.header.X-Limit': 'context.authorizer.limit',
    'gatewayresponse.header.X-None': 'context.authorizer.none',
  });

  expect(set.render(new GatewayError('THROTTLED', 'no'), variables)).toEqual({
    status: 430,
    headers: [
      ['Content-Type', 'application/json'],
      ['Retry-After', '1, or more'],
      ['X-Limit', '60'],
    ],
    body: Buffer.from('["60","","THROTTLED"]'),
  });
});

test.each<[string, () => unknown, RegExp]>([
  ['no response of a type', () => responses({}, []), /sets no gateway response ACCESS_DENIED$/],
  [
    'a header that is an unquoted literal',
    () => responses({ 'gatewayresponse.header.X-A': '0' }),
    /^Resource ResponseTHROTTLED: .*ResponseParameters\.gatewayresponse\.header\.X-A .*a literal needs its own/,
  ],
])('A template with %s stops the host', (_, read, message) => {
  expect(read).toThrow(message);
});
