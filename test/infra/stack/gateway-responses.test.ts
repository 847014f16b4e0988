import { describe, expect, test } from '@jest/globals';
import { ResponseType } from 'aws-cdk-lib/aws-apigateway';
import * as v from 'valibot';
import { ContextVariables } from '../../../infra/local/gateway/gateway-responses.ts';
import { type ErrorCode, errorCatalog } from '../../../shared/contract/errors.ts';
import { deny, contextOf, uncountedContext } from '../../../shared/http/authorizer-result.ts';
import { propertiesOf, readableStage } from '../../support/service-template.ts';
import { aKey, tokenOf } from '../../support/tables.ts';

const isErrorCode = (value: unknown): value is ErrorCode => typeof value === 'string' && value in errorCatalog;
const responseSchema = v.object({
  ResponseType: v.string(),
  StatusCode: v.string(),
  ResponseParameters: v.record(v.string(), v.string()),
  /** Only in JSON: exactly code, message and status. */
  ResponseTemplates: v.strictObject({
    'application/json': v.strictObject({ code: v.string(), message: v.string(), status: v.number() }),
  }),
});

const responses = propertiesOf(readableStage('staging'), 'AWS::ApiGateway::GatewayResponse', responseSchema).map(
  ([, { ResponseType: type, StatusCode: status, ResponseParameters, ResponseTemplates }]) => {
    const parameters = Object.entries(ResponseParameters);
    const headers = parameters.map(([target, source]) => [target.replace('gatewayresponse.header.', ''), source]);
    return { type, status, headers: Object.fromEntries(headers), body: ResponseTemplates['application/json'] };
  },
);

const NOW = Date.UTC(2026, 10, 21, 9, 30);
const key = aKey();
const admitted = contextOf({ kind: 'admitted', key }, tokenOf(key).hash, NOW);
const METHOD_ARN = 'arn:aws:execute-api:eu-central-1:123456789012:api/v1/GET/inventory';
const denied = deny(METHOD_ARN, 'API_KEY_MISSING', NOW, {
  referenceOrigin: 'https://docs.example.com',
});

const LIMITS = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'RateLimit-Policy', 'RateLimit'];
const unknown = ["'0'", "'0'", "'0'", undefined, undefined];
const ofKey = ['limit', 'remaining', 'reset', 'rateLimitPolicy', 'rateLimit'].map(
  (name) => `context.authorizer.${name}`,
);

test('Every error type that the CDK knows has a gateway response', () => {
  // The static members of its class.
  const members: readonly unknown[] = Object.values(ResponseType);
  const types = members.filter((member) => member instanceof ResponseType).map(({ responseType }) => responseType);

  expect(types.length).toBeGreaterThanOrEqual(21);
  expect(responses.map(({ type }) => type).toSorted()).toEqual(types.toSorted());
});

describe.each(responses)('the gateway response $type', ({ type, status, headers, body }) => {
  test('has the status and message of its code, the limit headers and a link to its documentation', () => {
    const code = type === 'ACCESS_DENIED' ? 'API_KEY_INVALID' : body.code;
    const { message, ...entry } = isErrorCode(code) ? errorCatalog[code] : { status: 0, message: '' };

    expect(body).toMatchObject(type === 'ACCESS_DENIED' ? { status: entry.status } : { message, status: entry.status });
    expect(status).toBe(String(entry.status));
    expect([unknown, ofKey]).toContainEqual(LIMITS.map((name) => headers[name]));
    expect(headers['Access-Control-Allow-Origin']).toBe("'*'");
    expect(headers['Link']).toBe(
      type === 'ACCESS_DENIED'
        ? 'context.authorizer.help'
        : `'<https://<ReferencePageDistribution.DomainName>/errors.html#${code}>; rel="help"'`,
    );
  });

  test('maps headers only from quoted literals or from context values that the authorizer sets', () => {
    const sources = Object.values(headers);
    const named = [...JSON.stringify([sources, body]).matchAll(/context\.authorizer\.(\w+)/g)].map(([, name]) => name);
    // Without a value, API Gateway leaves a header out: both are, where the quotas are not known.
    const uncounted = { rateLimit: undefined, rateLimitPolicy: undefined, ...uncountedContext(NOW) };
    const contexts = type === 'ACCESS_DENIED' ? [denied.context ?? {}] : [admitted, uncounted];

    for (const source of sources) expect(source).toMatch(/^(?:'[^']*'|context\.[\w.]+)$/);
    for (const context of contexts) expect(Object.keys(context)).toEqual(expect.arrayContaining(named));
  });
});

test('The message of a denial is unchanged, even with quotes, backslashes and dollar signs', () => {
  const message = 'Send "Bearer", $context.authorizer.code, no \\ and no\nsecond line.';
  const variables = new ContextVariables([
    ['requestId', 'id'],
    ['path', '/v1/inventory'],
  ]);
  variables.addAll('authorizer', deny(METHOD_ARN, 'API_KEY_MISSING', NOW, { message }).context ?? {});
  const template = JSON.stringify(responses.find(({ type }) => type === 'ACCESS_DENIED')?.body);

  expect(JSON.parse(variables.substitute(template))).toEqual({ code: 'API_KEY_MISSING', message, status: 401 });
});

test('A response template resolves the request id and path; an unknown variable is empty', () => {
  const variables = new ContextVariables([
    ['requestId', 'id'],
    ['path', '/v1/inventory'],
  ]);

  expect(variables.substitute('$context.requestId of $context.path, $context.none.')).toBe('id of /v1/inventory, .');
});

test.each([
  [
    '401',
    'WWW-Authenticate',
    /^(?:'Bearer realm="pet-store-inventory"(?:, error="invalid_token")?'|context\.authorizer\.challenge)$/,
  ],
  ['429', 'Retry-After', /^(?:'1'|context\.authorizer\.retryAfter)$/],
  ['503', 'Retry-After', /^'1'$/],
])('Every %s response has the header %s (RFC 9110)', (expected, header, form) => {
  const found = responses.filter(({ status }) => status === expected);

  expect(found.length).toBeGreaterThan(1);
  for (const { headers } of found) expect(headers[header]).toMatch(form);
});

test('A THROTTLED response has no key limits: the throttles act before the authorizer', () => {
  const throttled = responses.find(({ type }) => type === 'THROTTLED');

  expect(throttled?.body.code).toBe('TOO_MANY_REQUESTS');
  expect(JSON.stringify(throttled)).not.toContain('context.');
});
