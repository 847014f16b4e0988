import { describe, expect, test } from '@jest/globals';
import { ResponseType } from 'aws-cdk-lib/aws-apigateway';
import * as v from 'valibot';
import { errorCatalogue } from '../../../shared/contract/errors.ts';
import { deny } from '../../../shared/http/authorizer-answer.ts';
import { contextOf, unavailableContext } from '../../../shared/http/authorizer-context.ts';
import { aKey } from '../../support/tables.ts';
import { resourcesOf, synthesizedStages, text } from '../../support/synthesized.ts';

const { staging } = synthesizedStages();

const responseSchema = v.object({
  ResponseType: v.string(),
  StatusCode: v.string(),
  ResponseParameters: v.record(v.string(), text),
  ResponseTemplates: v.record(v.string(), v.string()),
});
const responses = resourcesOf(staging, 'AWS::ApiGateway::GatewayResponse', responseSchema).map(
  ({ properties }) => properties,
);

const NOW = Date.UTC(2026, 10, 21, 9, 30);
const METHOD_ARN = 'arn:aws:execute-api:eu-central-1:123456789012:a1b2c3d4e5/v1/GET/inventory';
const admitted = contextOf({ kind: 'admitted', key: aKey() }, NOW);

function contextOfDenial(code: 'API_KEY_MISSING' | 'API_KEY_INVALID'): Record<string, string> {
  return v.parse(v.record(v.string(), v.string()), deny(METHOD_ARN, code, NOW).context);
}

/** The template as the gateway sends it to a request with this authorizer context. */
function bodyOf(template: string | undefined, context: Readonly<Record<string, string>> = {}): unknown {
  return JSON.parse(
    (template ?? '').replaceAll(/\$context\.authorizer\.(\w+)/g, (_, name: string) => context[name] ?? ''),
  );
}

const responseOf = (type: string) => responses.find(({ ResponseType: ofResponse }) => ofResponse === type);

function headerOf(type: string, name: string): string | undefined {
  return responseOf(type)?.ResponseParameters[`gatewayresponse.header.${name}`];
}

const ofNobody = ["'0'", "'0'", "'0'", `'"minute";q=0;w=60, "day";q=0;w=86400'`, `'"minute";r=0;t=0, "day";r=0;t=0'`];
const ofKey = ['limit', 'remaining', 'reset', 'rateLimitPolicy', 'rateLimit'].map(
  (name) => `context.authorizer.${name}`,
);

const typesWith = (status: string) => responses.filter(({ StatusCode }) => StatusCode === status);

/** Every type that the CDK knows: the static members of its class. */
const members: readonly unknown[] = Object.values(ResponseType);
const knownTypes = members.filter((member) => member instanceof ResponseType).map(({ responseType }) => responseType);

describe('the gateway responses', () => {
  test('are set for every type of error that the CDK knows, so that none reverts to the stock body', () => {
    expect(knownTypes.length).toBeGreaterThanOrEqual(21);
    expect(responses.map(({ ResponseType: type }) => type).toSorted()).toEqual(knownTypes.toSorted());
  });
});

describe.each(responses)('the gateway response $ResponseType', ({ StatusCode, ...response }) => {
  const mappings = Object.entries(response.ResponseParameters);

  test('has an Error body in JSON: exactly code, message and status, of the catalogue (spec §2 and §7)', () => {
    expect(Object.keys(response.ResponseTemplates)).toEqual(['application/json']);

    const body = bodyOf(response.ResponseTemplates['application/json'], contextOfDenial('API_KEY_INVALID'));
    const { code } = v.parse(v.object({ code: v.string() }), body);
    const [, entry] = Object.entries(errorCatalogue).find(([name]) => name === code) ?? [];
    expect(body).toEqual({ code, message: entry?.message, status: entry?.status });
    expect(StatusCode).toBe(String(entry?.status));
  });

  test('has the limit headers (spec §8, rule 1; IETF draft): of the key where it is known, else of nobody', () => {
    const names = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'RateLimit-Policy', 'RateLimit'];
    const limits = names.map((name) => headerOf(response.ResponseType, name));

    expect([ofNobody, ofKey]).toContainEqual(limits);
  });

  test('may be read by the reference page, and by no other, with all headers that it may have', () => {
    expect(headerOf(response.ResponseType, 'Access-Control-Allow-Origin')).toBe("'<staging-ReferencePageOrigin>'");

    const exposed = headerOf(response.ResponseType, 'Access-Control-Expose-Headers')?.slice(1, -1).split(', ');
    const own = mappings.map(([target]) => target.replace('gatewayresponse.header.', ''));
    expect(exposed).toEqual(
      expect.arrayContaining(own.filter((name) => !/^(Access-Control-|Cache-Control$|X-Content-|Strict-)/.test(name))),
    );
  });

  test.each(mappings)('maps %s from a quoted literal or an unquoted context value: %s', (target, source) => {
    expect(target).toMatch(/^gatewayresponse\.header\.[A-Za-z][A-Za-z-]+$/);
    expect(source).toMatch(/^(?:'[^']*'|context\.[\w.]+)$/);
  });

  test('takes from the context only what the authorizer puts into it', () => {
    const known = [contextOfDenial('API_KEY_MISSING'), admitted, unavailableContext(NOW)];
    const contexts = response.ResponseType === 'ACCESS_DENIED' ? known.slice(0, 1) : known.slice(1);
    const named = [...JSON.stringify(response).matchAll(/context\.authorizer\.(\w+)/g)].map(([, name]) => name ?? '');

    for (const context of contexts) expect(Object.keys(context)).toEqual(expect.arrayContaining(named));
  });
});

describe('a request that the authorizer denies', () => {
  test.each(['API_KEY_MISSING', 'API_KEY_INVALID'] as const)(
    'is answered with %s where the authorizer says so',
    (code) => {
      const { message } = errorCatalogue[code];

      expect(bodyOf(responseOf('ACCESS_DENIED')?.ResponseTemplates['application/json'], contextOfDenial(code))).toEqual(
        {
          code,
          message,
          status: 401,
        },
      );
    },
  );
});

describe('beside the limit headers', () => {
  test.each(typesWith('401'))(
    'a 401 asks for a bearer token (RFC 9110 §11.6.1): $ResponseType',
    ({ ResponseType: type }) => {
      const value = headerOf(type, 'WWW-Authenticate');
      const bearer = `'Bearer realm="pet-store-inventory"`;
      const values = { ACCESS_DENIED: 'context.authorizer.challenge', UNAUTHORIZED: `${bearer}'` };
      expect({ type, value }).toEqual({ type, value: { ...values }[type] ?? `${bearer}, error="invalid_token"'` });
    },
  );

  test.each(typesWith('429'))(
    'a 429 says when to try again (spec §7, rule 1): $ResponseType',
    ({ ResponseType: type }) => {
      expect(headerOf(type, 'Retry-After')).toBe('context.authorizer.retryAfter');
    },
  );

  test.each(typesWith('503'))('a 503 says to try again in a second: $ResponseType', ({ ResponseType: type }) => {
    expect(headerOf(type, 'Retry-After')).toBe("'1'");
  });
});
