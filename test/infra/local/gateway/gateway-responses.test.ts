import { describe, expect, test } from '@jest/globals';
import {
  ContextVariables,
  GatewayError,
  type GatewayErrorType,
  GatewayResponses,
} from '../../../../infra/local/gateway/gateway-responses.ts';
import { type Resource, ServedStack } from '../../../../infra/local/template/stack.ts';

interface Properties {
  readonly StatusCode?: string;
  readonly ResponseParameters?: Readonly<Record<string, string>>;
  readonly ResponseTemplates?: Readonly<Record<'application/json', string>>;
}

function response(ResponseType: string, differences: Properties = {}): Resource {
  const properties = { ResponseType, ...differences };
  const resource = { Type: 'AWS::ApiGateway::GatewayResponse', Properties: properties };
  const stack = new ServedStack('test', { Resources: { [`Response${ResponseType}`]: resource } });
  return stack.only(resource.Type);
}

/** The answer to an error, where the API sets these responses and the authorizer has given a limit of 60. */
function render(type: GatewayErrorType, ...responses: readonly Resource[]) {
  const variables = new ContextVariables();
  variables.set({ limit: 60 }, 'authorizer');
  const answer = new GatewayResponses(responses).render(new GatewayError(type, 'What "went" wrong'), variables);
  return { ...answer, body: answer.body.toString() };
}

const json = ['Content-Type', 'application/json'];

test('A gateway response has the status, the headers and the body that the API sets', () => {
  const set = response('THROTTLED', {
    StatusCode: '430',
    ResponseParameters: {
      'gatewayresponse.header.Retry-After': "'1, or more'",
      'gatewayresponse.header.X-Limit': 'context.authorizer.limit',
      'gatewayresponse.header.X-None': 'context.authorizer.none',
    },
    ResponseTemplates: {
      'application/json': '["$context.authorizer.limit","$context.authorizer.none","$context.error.responseType"]',
    },
  });

  expect(render('THROTTLED', set)).toEqual({
    status: 430,
    headers: [json, ['Retry-After', '1, or more'], ['X-Limit', '60']],
    body: '["60","","THROTTLED"]',
  });
});

describe('an error without a gateway response of its own', () => {
  test.each([
    ['THROTTLED', 'DEFAULT_4XX'],
    ['INTEGRATION_TIMEOUT', 'DEFAULT_5XX'],
  ] as const)('%s is answered by %s', (type, fallback) => {
    const defaults = ['DEFAULT_4XX', 'DEFAULT_5XX'].map((name) =>
      response(name, { StatusCode: '499', ResponseTemplates: { 'application/json': name } }),
    );

    expect(render(type, ...defaults)).toMatchObject({ status: 499, body: fallback });
  });

  test('has the stock body and status where there is no default either', () => {
    const body = String.raw`{"message":"What \"went\" wrong"}`;

    expect(render('ACCESS_DENIED')).toEqual({ status: 403, headers: [json], body });
  });
});

test('A header that is an unquoted literal stops the host, with the resource and the property named', () => {
  const set = response('THROTTLED', { ResponseParameters: { 'gatewayresponse.header.X-A': '0' } });

  expect(() => new GatewayResponses([set])).toThrow(
    /^Resource ResponseTHROTTLED: .*ResponseParameters\.gatewayresponse\.header\.X-A .*a literal needs its own/,
  );
});
