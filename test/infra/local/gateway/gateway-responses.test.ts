import { describe, expect, test } from '@jest/globals';
import { GatewayError, type GatewayErrorType } from '../../../../infra/local/gateway/gateway-error.ts';
import { ContextVariables, GatewayResponses } from '../../../../infra/local/gateway/gateway-responses.ts';
import { HostError } from '../../../../infra/local/host-error.ts';
import type { Resource } from '../../../../infra/local/template/stack.ts';

type Properties = Resource<'AWS::ApiGateway::GatewayResponse'>['properties'];

function response(ResponseType: string, differences: Partial<Properties> = {}) {
  const properties: Properties = { RestApiId: 'api', ResponseType, ResponseParameters: {}, ...differences };
  return { logicalId: `Response${ResponseType}`, ref: ResponseType, properties };
}

interface Rendering {
  readonly context?: Readonly<Record<string, unknown>>;
}

/** The answer to an error, where the API sets these responses. */
function render(
  type: GatewayErrorType,
  responses: readonly ReturnType<typeof response>[],
  { context = {} }: Rendering = {},
) {
  const variables = new ContextVariables();
  variables.set(context, 'authorizer');
  const answer = new GatewayResponses(responses).render(new GatewayError(type, 'What "went" wrong'), variables);
  return { ...answer, body: answer.body.toString() };
}

const mapping = (source: string) => ({ ResponseParameters: { 'gatewayresponse.header.X-A': source } });

describe('a gateway response', () => {
  test('has the status, the headers and the body that the API sets', () => {
    const set = response('THROTTLED', {
      StatusCode: '429',
      ResponseParameters: { 'gatewayresponse.header.Retry-After': "'1'" },
      ResponseTemplates: { 'application/json': '{"code":"SLOW_DOWN"}' },
    });

    expect(render('THROTTLED', [set])).toEqual({
      status: 429,
      headers: [
        ['Content-Type', 'application/json'],
        ['Retry-After', '1'],
      ],
      body: '{"code":"SLOW_DOWN"}',
    });
  });

  test('has its body from the context of the request and of the error', () => {
    const template =
      '{"code":"$context.authorizer.code","x":"$context.authorizer.x","type":"$context.error.responseType"}';
    const set = response('ACCESS_DENIED', { ResponseTemplates: { 'application/json': template } });

    expect(render('ACCESS_DENIED', [set], { context: { code: 'API_KEY_MISSING' } }).body).toBe(
      '{"code":"API_KEY_MISSING","x":"","type":"ACCESS_DENIED"}',
    );
  });
});

describe('a header of a gateway response', () => {
  test.each([
    ["'1'", '1'],
    ["'Bearer realm=x, y'", 'Bearer realm=x, y'],
    ["''", ''],
    ["'context.authorizer.limit'", 'context.authorizer.limit'],
    ['context.authorizer.limit', '60'],
    ['context.error.responseType', 'THROTTLED'],
  ])('%s is %j', (source, value) => {
    const { headers } = render('THROTTLED', [response('THROTTLED', mapping(source))], {
      context: { limit: 60 },
    });

    expect(headers).toEqual([
      ['Content-Type', 'application/json'],
      ['X-A', value],
    ]);
  });

  test('is left out without a value', () => {
    const { headers } = render('THROTTLED', [response('THROTTLED', mapping('context.authorizer.limit'))]);

    expect(headers).toEqual([['Content-Type', 'application/json']]);
  });
});

describe('an error without a gateway response of its own', () => {
  /** API Gateway developer guide, "Gateway response types": the default of each and the status that it has unset. */
  const types = [
    ['ACCESS_DENIED', 'DEFAULT_4XX', 403],
    ['INVALID_API_KEY', 'DEFAULT_4XX', 403],
    ['MISSING_AUTHENTICATION_TOKEN', 'DEFAULT_4XX', 403],
    ['QUOTA_EXCEEDED', 'DEFAULT_4XX', 429],
    ['REQUEST_TOO_LARGE', 'DEFAULT_4XX', 413],
    ['THROTTLED', 'DEFAULT_4XX', 429],
    ['UNAUTHORIZED', 'DEFAULT_4XX', 401],
    ['AUTHORIZER_CONFIGURATION_ERROR', 'DEFAULT_5XX', 500],
    ['INTEGRATION_TIMEOUT', 'DEFAULT_5XX', 504],
  ] as const;

  test.each(types)('%s is answered by %s', (type, fallback, _status) => {
    const defaults = ['DEFAULT_4XX', 'DEFAULT_5XX'].map((name) =>
      response(name, { StatusCode: '499', ResponseTemplates: { 'application/json': name } }),
    );

    expect(render(type, defaults)).toMatchObject({ status: 499, body: fallback });
  });

  test('has the stock body and status where there is no default either', () => {
    expect(render('ACCESS_DENIED', [])).toEqual({
      status: 403,
      headers: [['Content-Type', 'application/json']],
      body: String.raw`{"message":"What \"went\" wrong"}`,
    });
  });
});

describe('what the local host does not know of a gateway response', () => {
  test.each([
    [
      'an unquoted literal',
      mapping('0'),
      /gatewayresponse\.header\.X-A .*got 0; a literal needs its own single quotes/,
    ],
    ['a stage variable', mapping('stageVariables.a'), /got stageVariables\.a/],
    ['another target', { ResponseParameters: { 'gatewayresponse.path.x': "'0'" } }, /gatewayresponse\.path\.x/],
  ])('stops it with the resource and the property named: %s', (_, differences, message) => {
    const load = () => new GatewayResponses([response('THROTTLED', differences)]);

    expect(load).toThrow(HostError);
    expect(load).toThrow(/^Resource ResponseTHROTTLED: .*ResponseParameters/);
    expect(load).toThrow(message);
  });
});
