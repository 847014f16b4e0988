import { describe, expect, test } from '@jest/globals';
import { corsHeaders } from '../../../shared/http/cors.ts';
import { deprecationHeaders } from '../../../shared/http/deprecation.ts';
import { stabilityHeader } from '../../../shared/http/stability.ts';

describe('CORS', () => {
  test.each([
    'X-RateLimit-Limit',
    'X-RateLimit-Remaining',
    'X-RateLimit-Reset',
    'RateLimit-Policy',
    'RateLimit',
    'Retry-After',
    'ETag',
    'Link',
    'Allow',
    'Deprecation',
    'Sunset',
    'WWW-Authenticate',
    'X-API-Stability',
    'x-amzn-RequestId',
  ])('lets them see %s', (header) => {
    expect(corsHeaders('https://docs.example.com')['Access-Control-Expose-Headers']?.split(', ')).toContain(header);
  });

  test.each([undefined, ''])('says nothing where there is no origin: %j', (origin) => {
    expect(corsHeaders(origin)).toEqual({});
  });
});

const headers = deprecationHeaders({
  deprecatedAt: new Date('2026-11-01T00:00:00.999Z'),
  sunsetAt: new Date('2027-11-05T23:59:59Z'),
  page: 'https://docs.example.com',
});

describe('the headers of a deprecated operation', () => {
  test('say since when it is deprecated: a structured date (RFC 9745 §2.1)', () => {
    expect(headers.Deprecation).toBe('@1793491200');
  });

  test('say from when on it may be gone: an HTTP date (RFC 8594 §3)', () => {
    expect(headers.Sunset).toBe('Fri, 05 Nov 2027 23:59:59 GMT');
  });

  test('link to where both are explained (RFC 8288)', () => {
    expect(headers.Link).toBe(
      '<https://docs.example.com/#description/deprecations>; rel="deprecation"; type="text/html", ' +
        '<https://docs.example.com/#description/deprecations>; rel="sunset"; type="text/html"',
    );
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
