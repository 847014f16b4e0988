import { describe, expect, test } from '@jest/globals';
import { ResponseType } from 'aws-cdk-lib/aws-apigateway';
import * as v from 'valibot';
import { type ErrorCode, errorCatalogue } from '../../../shared/contract/errors.ts';
import { deny } from '../../../shared/http/authorizer-answer.ts';
import { contextOf, noLimitContext } from '../../../shared/http/authorizer-context.ts';
import { propertiesOf, readableStage } from '../../support/readable-template.ts';
import { aKey, tokenOf } from '../../support/tables.ts';

const isErrorCode = (value: unknown): value is ErrorCode => typeof value === 'string' && value in errorCatalogue;
const responseSchema = v.object({
  ResponseType: v.string(),
  StatusCode: v.string(),
  ResponseParameters: v.record(v.string(), v.string()),
  /** Only in JSON: exactly code, message and status (spec §2). */
  ResponseTemplates: v.strictObject({
    'application/json': v.strictObject({ code: v.string(), message: v.string(), status: v.number() }),
  }),
});

const responses = propertiesOf(readableStage('staging'), 'AWS::ApiGateway::GatewayResponse', responseSchema).map(
  ([, { ResponseType: type, StatusCode: status, ResponseParameters, ResponseTemplates }]) => {
    const parameters = Object.entries(ResponseParameters);
    const headers = parameters.map(([target, source]) => [target.replace('gatewayresponse.header.', ''), source]);
    const body = ResponseTemplates['application/json'];
    return { type, status, targets: Object.keys(ResponseParameters), headers: Object.fromEntries(headers), body };
  },
);
const withStatus = (wanted: string) => responses.filter(({ status }) => status === wanted);

const NOW = Date.UTC(2026, 10, 21, 9, 30);
const METHOD_ARN = 'arn:aws:execute-api:eu-central-1:123456789012:a1b2c3d4e5/v1/GET/inventory';
const key = aKey();
const admitted = contextOf({ kind: 'admitted', key }, tokenOf(key).hash, NOW);
const contextOfDenial = (code: 'API_KEY_MISSING' | 'API_KEY_INVALID') =>
  v.parse(v.record(v.string(), v.string()), deny(METHOD_ARN, code, NOW).context);

const LIMITS = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'RateLimit-Policy', 'RateLimit'];
const ofNobody = ["'0'", "'0'", "'0'", `'"minute";q=0;w=60, "day";q=0;w=86400'`, `'"minute";r=0;t=0, "day";r=0;t=0'`];
const ofKey = ['limit', 'remaining', 'reset', 'rateLimitPolicy', 'rateLimit'].map(
  (name) => `context.authorizer.${name}`,
);

/** Every type that the CDK knows: the static members of its class. */
const members: readonly unknown[] = Object.values(ResponseType);
const knownTypes = members.filter((member) => member instanceof ResponseType).map(({ responseType }) => responseType);

test('Gateway responses are set for every type of error that the CDK knows, so that none reverts to the stock body', () => {
  expect(knownTypes.length).toBeGreaterThanOrEqual(21);
  expect(responses.map(({ type }) => type).toSorted()).toEqual(knownTypes.toSorted());
});

describe.each(responses)('the gateway response $type', ({ type, status, targets, headers, body }) => {
  test('has the message and the status of its code (spec §7)', () => {
    const code = type === 'ACCESS_DENIED' ? 'API_KEY_INVALID' : body.code;
    const { message, ...entry } = isErrorCode(code) ? errorCatalogue[code] : { status: 0, message: '' };

    expect(body).toMatchObject(type === 'ACCESS_DENIED' ? { status: entry.status } : { message, status: entry.status });
    expect(status).toBe(String(entry.status));
  });

  test('has the limit headers (spec §8, rule 1; IETF draft): of the key where it is known, else of nobody', () => {
    expect([ofNobody, ofKey]).toContainEqual(LIMITS.map((name) => headers[name]));
  });

  test('may be read by every page, with all headers that it may have', () => {
    const exposed = headers['Access-Control-Expose-Headers']?.slice(1, -1).split(', ');
    const own = Object.keys(headers).filter(
      (name) => !/^(Access-Control-|Cache-Control$|X-Content-|Strict-)/.test(name),
    );

    expect(headers['Access-Control-Allow-Origin']).toBe("'*'");
    expect(exposed).toEqual(expect.arrayContaining(own));
  });

  test('maps headers from quoted literals or from unquoted values that the authorizer puts into the context', () => {
    const sources = Object.values(headers);
    const named = [...JSON.stringify([sources, body]).matchAll(/context\.authorizer\.(\w+)/g)].map(([, name]) => name);
    const contexts = type === 'ACCESS_DENIED' ? [contextOfDenial('API_KEY_MISSING')] : [admitted, noLimitContext(NOW)];

    for (const target of targets) expect(target).toMatch(/^gatewayresponse\.header\.[A-Za-z][A-Za-z-]+$/);
    for (const source of sources) expect(source).toMatch(/^(?:'[^']*'|context\.[\w.]+)$/);
    for (const context of contexts) expect(Object.keys(context)).toEqual(expect.arrayContaining(named));
  });
});

test.each(['API_KEY_MISSING', 'API_KEY_INVALID'] as const)(
  'A denied request is answered with %s by the context',
  (code) => {
    const context = contextOfDenial(code);
    const template = JSON.stringify(responses.find(({ type }) => type === 'ACCESS_DENIED')?.body);
    const body = template.replaceAll(/\$context\.authorizer\.(\w+)/g, (_, name: string) => context[name] ?? '');

    expect(JSON.parse(body)).toEqual({ code, message: errorCatalogue[code].message, status: 401 });
  },
);

describe('beside the limit headers', () => {
  test.each(withStatus('401'))('a 401 asks for a bearer token (RFC 9110 §11.6.1): $type', ({ type, headers }) => {
    const bearer = `'Bearer realm="pet-store-inventory"`;
    const values = { ACCESS_DENIED: 'context.authorizer.challenge', UNAUTHORIZED: `${bearer}'` };

    expect(headers['WWW-Authenticate']).toBe({ ...values }[type] ?? `${bearer}, error="invalid_token"'`);
  });

  test('every 429 and 503 says when to try again (spec §7, rule 1)', () => {
    const refusals = [...withStatus('429'), ...withStatus('503')];

    expect(Object.fromEntries(refusals.map(({ type, headers }) => [type, headers['Retry-After']]))).toEqual({
      QUOTA_EXCEEDED: 'context.authorizer.retryAfter',
      THROTTLED: "'1'",
      AUTHORIZER_CONFIGURATION_ERROR: "'1'",
      AUTHORIZER_FAILURE: "'1'",
    });
  });

  test('a throttled request has no limit of a key: the throttles of stage and method act before the authorizer', () => {
    const throttled = responses.find(({ type }) => type === 'THROTTLED');

    expect(LIMITS.map((name) => throttled?.headers[name])).toEqual(ofNobody);
    expect(JSON.stringify(throttled)).not.toContain('context.');
  });
});
