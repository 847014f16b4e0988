import { describe, expect, test } from '@jest/globals';
import { corsHeaders, deprecationHeaders, stabilityHeader } from '../../../shared/http/response-headers.ts';

describe('CORS', () => {
  test('lets pages see every header that the guide speaks of', () => {
    expect(corsHeaders['Access-Control-Expose-Headers'].split(', ').toSorted()).toEqual([
      'Accept-Patch',
      'Allow',
      'Deprecation',
      'ETag',
      'Link',
      'RateLimit',
      'RateLimit-Policy',
      'Retry-After',
      'Sunset',
      'WWW-Authenticate',
      'X-API-Stability',
      'X-RateLimit-Limit',
      'X-RateLimit-Remaining',
      'X-RateLimit-Reset',
      'x-amzn-RequestId',
    ]);
  });
});

test('A deprecated operation says since when (RFC 9745), until when (RFC 8594) and where to read about it (RFC 8288)', () => {
  const headers = deprecationHeaders({
    deprecatedAt: new Date('2026-11-01T00:00:00.999Z'),
    sunsetAt: new Date('2027-11-05T23:59:59Z'),
    page: 'https://docs.example.com',
  });

  expect(headers).toEqual({
    Deprecation: '@1793491200',
    Sunset: 'Fri, 05 Nov 2027 23:59:59 GMT',
    Link:
      '<https://docs.example.com/#description/deprecations>; rel="deprecation"; type="text/html", ' +
      '<https://docs.example.com/#description/deprecations>; rel="sunset"; type="text/html"',
  });
});

test.each([
  ['listInventory', {}],
  ['updateInventory', { 'X-API-Stability': 'experimental' }],
  ['getPet', {}],
  ['listOrders', { 'X-API-Stability': 'beta' }],
] as const)('%s is marked with %j (spec §9, rule 2)', (operation, header) => {
  expect(stabilityHeader(operation)).toEqual(header);
});
