import { describe, expect, test } from '@jest/globals';
import { ContextVariables } from '../../../../infra/local/gateway/context-variables.ts';
import { GatewayError, type GatewayErrorType } from '../../../../infra/local/gateway/gateway-error.ts';
import { GatewayResponses } from '../../../../infra/local/gateway/gateway-responses.ts';
import type { HeaderFields } from '../../../../infra/local/gateway/messages.ts';
import { HostError } from '../../../../infra/local/host-error.ts';
import type { Resource } from '../../../../infra/local/template/stack.ts';

type Properties = Resource<'AWS::ApiGateway::GatewayResponse'>['properties'];

function response(ResponseType: string, differences: Partial<Properties> = {}) {
  const properties: Properties = { RestApiId: 'api', ResponseType, ResponseParameters: {}, ...differences };
  return { logicalId: `Response${ResponseType}`, ref: ResponseType, properties };
}

interface Rendering {
  readonly context?: Readonly<Record<string, unknown>>;
  readonly requestHeaders?: HeaderFields;
}

/** The answer to an error, where the API sets these responses. */
function render(
  type: GatewayErrorType,
  responses: readonly ReturnType<typeof response>[],
  { context = {}, requestHeaders = [] }: Rendering = {},
) {
  const variables = new ContextVariables();
  variables.set(context, 'authorizer');
  const answer = new GatewayResponses(responses).render(
    new GatewayError(type, 'What "went" wrong'),
    variables,
    requestHeaders,
  );
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

  test('is of its own type', () => {
    const responses = [response('UNAUTHORIZED', { StatusCode: '499' }), response('THROTTLED', { StatusCode: '498' })];

    expect(render('UNAUTHORIZED', responses).status).toBe(499);
    expect(render('THROTTLED', responses).status).toBe(498);
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
  const requestHeaders: HeaderFields = [
    ['x-id', 'first'],
    ['X-Id', 'last'],
  ];

  test.each([
    ["'1'", '1'],
    ["'Bearer realm=x, y'", 'Bearer realm=x, y'],
    ["''", ''],
    ["'context.authorizer.limit'", 'context.authorizer.limit'],
    ['context.authorizer.limit', '60'],
    ['context.error.responseType', 'THROTTLED'],
    ['method.request.header.X-ID', 'last'],
  ])('%s is %j', (source, value) => {
    const { headers } = render('THROTTLED', [response('THROTTLED', mapping(source))], {
      context: { limit: 60 },
      requestHeaders,
    });

    expect(headers).toEqual([
      ['Content-Type', 'application/json'],
      ['X-A', value],
    ]);
  });

  test.each(['context.authorizer.limit', 'method.request.header.X-None'])(
    'is left out without a value: %s',
    (source) => {
      const { headers } = render('THROTTLED', [response('THROTTLED', mapping(source))], { requestHeaders });

      expect(headers).toEqual([['Content-Type', 'application/json']]);
    },
  );
});

describe('an error without a gateway response of its own', () => {
  /** API Gateway developer guide, "Gateway response types": the default of each and the status that it has unset. */
  const types = [
    ['ACCESS_DENIED', 'DEFAULT_4XX', 403],
    ['BAD_REQUEST_BODY', 'DEFAULT_4XX', 400],
    ['BAD_REQUEST_PARAMETERS', 'DEFAULT_4XX', 400],
    ['EXPIRED_TOKEN', 'DEFAULT_4XX', 403],
    ['INVALID_API_KEY', 'DEFAULT_4XX', 403],
    ['INVALID_SIGNATURE', 'DEFAULT_4XX', 403],
    ['MISSING_AUTHENTICATION_TOKEN', 'DEFAULT_4XX', 403],
    ['QUOTA_EXCEEDED', 'DEFAULT_4XX', 429],
    ['REQUEST_TOO_LARGE', 'DEFAULT_4XX', 413],
    ['RESOURCE_NOT_FOUND', 'DEFAULT_4XX', 404],
    ['THROTTLED', 'DEFAULT_4XX', 429],
    ['UNAUTHORIZED', 'DEFAULT_4XX', 401],
    ['UNSUPPORTED_MEDIA_TYPE', 'DEFAULT_4XX', 415],
    ['WAF_FILTERED', 'DEFAULT_4XX', 403],
    ['API_CONFIGURATION_ERROR', 'DEFAULT_5XX', 500],
    ['AUTHORIZER_CONFIGURATION_ERROR', 'DEFAULT_5XX', 500],
    ['AUTHORIZER_FAILURE', 'DEFAULT_5XX', 500],
    ['INTEGRATION_FAILURE', 'DEFAULT_5XX', 504],
    ['INTEGRATION_TIMEOUT', 'DEFAULT_5XX', 504],
  ] as const;

  test.each(types)('%s is answered by %s', (type, fallback, _status) => {
    const defaults = ['DEFAULT_4XX', 'DEFAULT_5XX'].map((name) =>
      response(name, { StatusCode: '499', ResponseTemplates: { 'application/json': name } }),
    );

    expect(render(type, defaults)).toMatchObject({ status: 499, body: fallback });
  });

  test.each(types)('%s, answered by %s, keeps its status %d where that sets none', (type, fallback, status) => {
    expect(render(type, [response(fallback)]).status).toBe(status);
  });

  test('has the stock body and status where there is no default either', () => {
    expect(render('ACCESS_DENIED', [])).toEqual({
      status: 403,
      headers: [['Content-Type', 'application/json']],
      body: String.raw`{"message":"What \"went\" wrong"}`,
    });
  });
});

test('A gateway response without a template has the stock body', () => {
  expect(render('THROTTLED', [response('THROTTLED', { StatusCode: '420' })])).toMatchObject({
    status: 420,
    body: String.raw`{"message":"What \"went\" wrong"}`,
  });
});

describe('what the local host does not know of a gateway response', () => {
  test.each([
    [
      'an unquoted literal',
      mapping('0'),
      /gatewayresponse\.header\.X-A .*got 0; a literal needs its own single quotes/,
    ],
    ['half a literal', mapping("'0"), /X-A/],
    ['two literals', mapping("'0''1'"), /X-A/],
    ['a stage variable', mapping('stageVariables.a'), /got stageVariables\.a/],
    ['a query parameter', mapping('method.request.querystring.a'), /querystring/],
    ['another target', { ResponseParameters: { 'gatewayresponse.path.x': "'0'" } }, /gatewayresponse\.path\.x/],
  ])('stops it with the resource and the property named: %s', (_, differences, message) => {
    const load = () => new GatewayResponses([response('THROTTLED', differences)]);

    expect(load).toThrow(HostError);
    expect(load).toThrow(/^Resource ResponseTHROTTLED: .*ResponseParameters/);
    expect(load).toThrow(message);
  });

  test.each(['TEAPOT', 'throttled', 'constructor'])('stops it: the type %s', (type) => {
    const load = () => new GatewayResponses([response(type)]);

    expect(load).toThrow(HostError);
    expect(load).toThrow(
      `Resource Response${type}: the local host does not know the property value ResponseType ${type}`,
    );
  });
});
