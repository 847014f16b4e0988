import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { operations } from '../../../shared/contract/operations.ts';
import { apiMethods } from '../../support/api-methods.ts';
import { synthesizedStages, text } from '../../support/synthesized.ts';

const { staging, production } = synthesizedStages();

const preflightsOf = (stage: typeof staging) =>
  apiMethods(stage).filter(({ properties }) => properties.HttpMethod === 'OPTIONS');

const preflights = preflightsOf(staging);

const answerSchema = v.object({
  RequestTemplates: v.record(v.string(), v.string()),
  IntegrationResponses: v.tuple([
    v.strictObject({ StatusCode: v.string(), ResponseParameters: v.record(v.string(), text) }),
  ]),
});

/** The one answer of a preflight: its status and its headers, as API Gateway maps them. */
function answerOf({ properties }: (typeof preflights)[number]) {
  const [{ StatusCode, ResponseParameters }] = v.parse(answerSchema, properties.Integration).IntegrationResponses;
  const headers = Object.entries(ResponseParameters).map(([target, source]) => [
    target.replace('method.response.header.', ''),
    source,
  ]);
  return { status: StatusCode, targets: Object.keys(ResponseParameters), headers: Object.fromEntries(headers) };
}

const headersOf = (path: string, stage = staging): unknown =>
  preflightsOf(stage)
    .filter((preflight) => preflight.path === path)
    .map((preflight) => answerOf(preflight).headers)[0];

describe('a preflight', () => {
  test('is answered on exactly the paths of operations: a browser asks before it sends a key', () => {
    const paths = new Set(Object.values(operations).map(({ path }) => path));

    expect(preflights.map(({ path }) => path).toSorted()).toEqual([...paths].toSorted());
  });

  test.each(preflights)('$route asks nobody, and needs no key', ({ properties }) => {
    expect(properties).toMatchObject({ AuthorizationType: 'NONE', ApiKeyRequired: false });
    expect(properties).not.toHaveProperty('AuthorizerId');
  });

  test.each(preflights)('$route is answered by the gateway itself: 204', (preflight) => {
    const { RequestTemplates } = v.parse(answerSchema, preflight.properties.Integration);

    expect(preflight.properties.Integration).toMatchObject({ Type: 'MOCK' });
    expect(preflight.properties.Integration).not.toHaveProperty('Uri');
    expect(Object.keys(RequestTemplates)).toEqual(['application/json']);
    expect(JSON.parse(RequestTemplates['application/json'] ?? '')).toEqual({ statusCode: 204 });
    expect(answerOf(preflight).status).toBe('204');
  });

  test.each([
    ['/inventory', 'GET'],
    ['/inventory/{petId}', 'PATCH'],
    ['/pets/{petId}', 'GET'],
    ['/store/orders', 'GET'],
  ])('of %s allows the reference page %s, and the headers that the operations know', (path, method) => {
    expect(headersOf(path)).toEqual({
      'Access-Control-Allow-Origin': "'<staging-ReferencePageOrigin>'",
      'Access-Control-Allow-Methods': `'${method}'`,
      'Access-Control-Allow-Headers': "'Authorization, Content-Type, If-Match, Idempotency-Key'",
      'Access-Control-Max-Age': "'3600'",
      'X-RateLimit-Limit': "'0'",
      'X-RateLimit-Remaining': "'0'",
      'X-RateLimit-Reset': "'0'",
      'RateLimit-Policy': `'"minute";q=0;w=60, "day";q=0;w=86400'`,
      RateLimit: `'"minute";r=0;t=0, "day";r=0;t=0'`,
    });
  });

  test('allows the page of its own stage', () => {
    expect(headersOf('/inventory', production)).toMatchObject({
      'Access-Control-Allow-Origin': "'<production-ReferencePageOrigin>'",
    });
  });

  test.each(preflights)('$route has every header as a literal in single quotes, with none inside', (preflight) => {
    for (const [header, source] of Object.entries(answerOf(preflight).headers)) {
      expect(`${header}: ${String(source)}`).toMatch(/^[A-Za-z-]+: '[^']+'$/);
    }
  });

  test.each(preflights)('$route declares every header that it maps, without which a deployment fails', (preflight) => {
    const { targets } = answerOf(preflight);

    expect(preflight.properties.MethodResponses).toEqual([
      { StatusCode: '204', ResponseParameters: Object.fromEntries(targets.map((target) => [target, true])) },
    ]);
    for (const target of targets) expect(target).toMatch(/^method\.response\.header\.[A-Za-z-]+$/);
  });
});
