import { describe, expect, test } from '@jest/globals';
import { allowedRequestHeaders, corsHeaders } from '../../../shared/http/cors.ts';

describe('CORS', () => {
  test('lets the pages of the one origin read the answers', () => {
    expect(corsHeaders('https://docs.example.com')).toMatchObject({
      'Access-Control-Allow-Origin': 'https://docs.example.com',
    });
  });

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

  test('lets them send what the operations read', () => {
    expect(allowedRequestHeaders).toEqual(['Authorization', 'Content-Type', 'If-Match', 'Idempotency-Key']);
  });
});
