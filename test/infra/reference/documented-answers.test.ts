import { describe, expect, test } from '@jest/globals';
import { unknownLimit } from '../../../shared/http/authorizer-context.ts';
import { corsHeaders } from '../../../shared/http/cors.ts';
import { DocumentedApi } from '../../support/documented-api.ts';

const list = { method: 'GET', path: '/inventory' };
const update = { method: 'PATCH', path: '/inventory/101' };

const ofEveryAnswer = {
  'Content-Type': 'application/json',
  'X-RateLimit-Limit': '60',
  'X-RateLimit-Remaining': '59',
  'X-RateLimit-Reset': '1795253280',
  'RateLimit-Policy': unknownLimit.rateLimitPolicy,
  RateLimit: unknownLimit.rateLimit,
  'x-amzn-RequestId': '8e03978e-40d5-43dd-bc93-6894a57f9324',
  'x-amz-apigw-id': 'Bq3kXH1dIAMEVXw=',
  ...corsHeaders('https://pets.example.com'),
};

const headersOfList = { ...ofEveryAnswer, Vary: 'Accept-Encoding' };
const headersOfUpdate = { ...ofEveryAnswer, ETag: '"1"', 'X-API-Stability': 'experimental' };
const entry = '{"petId":9223372036854775807,"quantity":1,"status":"sold"}';

const without = (headers: Record<string, string>, name: string) =>
  Object.fromEntries(Object.entries(headers).filter(([other]) => other !== name));

const error = (code: string, status: number) => JSON.stringify({ code, message: 'What is wrong.', status });

const documented = new DocumentedApi();

/** What the document has against an answer. */
function faultsOf(request: typeof list, status: number, headers: Record<string, string>, text: string): string {
  return documented.faults({ status, headers: new Headers(headers), text }, request).join('\n');
}

describe('The check of answers against the OpenAPI document', () => {
  test.each([
    ['a list', list, 200, headersOfList, `[${entry}]`],
    [
      'a compressed page of one',
      list,
      200,
      { ...headersOfList, 'Content-Encoding': 'gzip', Link: '</v1/a?b=c>; rel="next"' },
      '[]',
    ],
    ['an updated entry', update, 200, headersOfUpdate, entry],
    ['an error of an operation', update, 404, without(headersOfUpdate, 'ETag'), error('PET_NOT_FOUND', 404)],
    [
      'an error of the gateway',
      list,
      401,
      { ...ofEveryAnswer, 'WWW-Authenticate': 'Bearer' },
      error('API_KEY_INVALID', 401),
    ],
    ['an error off all paths', { method: 'GET', path: '/nowhere' }, 404, ofEveryAnswer, error('ROUTE_NOT_FOUND', 404)],
    [
      'a method that a path lacks',
      { method: 'PUT', path: '/inventory' },
      405,
      { ...ofEveryAnswer, Allow: 'GET' },
      error('METHOD_NOT_ALLOWED', 405),
    ],
  ])('has nothing against %s', (_, request, status, headers, text) => {
    expect(faultsOf(request, status, headers, text)).toBe('');
  });

  test.each([
    ['a status that is not declared', list, 418, headersOfList, '[]', /status 418/],
    ['success off all paths', { method: 'GET', path: '/nowhere' }, 200, ofEveryAnswer, '[]', /status 200/],
    ['a header that is not declared', list, 200, { ...headersOfList, ETag: '"1"' }, '[]', /etag is not declared/],
    [
      'a header of another operation',
      list,
      200,
      { ...headersOfList, 'X-API-Stability': 'beta' },
      '[]',
      /stability is not declared/,
    ],
    ['a limit header that is missing', list, 200, without(headersOfList, 'RateLimit'), '[]', /RateLimit is missing/],
    ['an ETag that is missing', update, 200, without(headersOfUpdate, 'ETag'), entry, /ETag is missing/],
    [
      'a 429 without Retry-After',
      list,
      429,
      ofEveryAnswer,
      error('RATE_LIMIT_EXCEEDED', 429),
      /Retry-After is missing/,
    ],
    [
      'a 405 without Allow',
      { method: 'PUT', path: '/inventory' },
      405,
      ofEveryAnswer,
      error('METHOD_NOT_ALLOWED', 405),
      /Allow is missing/,
    ],
    [
      'a limit that is no number',
      list,
      200,
      { ...headersOfList, 'X-RateLimit-Limit': 'sixty' },
      '[]',
      /X-RateLimit-Limit: sixty/,
    ],
    ['a weak ETag', update, 200, { ...headersOfUpdate, ETag: 'W/"1"' }, entry, /ETag: W/],
    [
      'another media type',
      list,
      200,
      { ...headersOfList, 'Content-Type': 'text/html' },
      '[]',
      /Content-Type is text\/html/,
    ],
    ['a body of another shape', list, 200, headersOfList, entry, /must be array/],
    ['a field that is missing', update, 200, headersOfUpdate, '{"petId":1,"quantity":1}', /required property 'status'/],
    [
      'a field that is not declared',
      update,
      200,
      headersOfUpdate,
      entry.replace('}', ',"name":"Rex"}'),
      /additional properties/,
    ],
    ['a petId beyond 64 bits', update, 200, headersOfUpdate, entry.replace('5807', '5808'), /petId must be integer/],
    [
      'a petId as text',
      update,
      200,
      headersOfUpdate,
      entry.replace('9223372036854775807', '"101"'),
      /petId must be integer/,
    ],
    [
      'a petId whose digits were rounded',
      update,
      200,
      headersOfUpdate,
      entry.replace('9223372036854775807', '9.2e18'),
      /petId must be integer/,
    ],
    [
      'a code that the operation does not have',
      list,
      400,
      ofEveryAnswer,
      error('INVALID_BODY', 400),
      /code must be equal to one of/,
    ],
    [
      'a code of another status',
      update,
      404,
      without(headersOfUpdate, 'ETag'),
      error('INVALID_BODY', 404),
      /code must be equal to one of/,
    ],
    [
      'a status that differs from the answer’s',
      update,
      404,
      without(headersOfUpdate, 'ETag'),
      error('PET_NOT_FOUND', 400),
      /status must be equal/,
    ],
    [
      'an error that tells more',
      list,
      400,
      ofEveryAnswer,
      '{"code":"BAD_REQUEST","message":"x","status":400,"stack":""}',
      /additional properties/,
    ],
  ])('finds %s', (_, request, status, headers, text, fault) => {
    expect(faultsOf(request, status, headers, text)).toMatch(fault);
  });

  describe('of a preflight', () => {
    const preflight = {
      ...without(without(ofEveryAnswer, 'Content-Type'), 'Access-Control-Expose-Headers'),
      'Access-Control-Allow-Methods': 'GET',
      'Access-Control-Allow-Headers': 'Authorization',
      'Access-Control-Max-Age': '3600',
    };
    const request = { method: 'OPTIONS', path: '/inventory' };

    test('has nothing against one as it should be', () => {
      expect(faultsOf(request, 204, preflight, '')).toBe('');
    });

    test.each([
      ['another status', 200, preflight, '', /answered with 200/],
      ['methods that the path lacks', 204, { ...preflight, 'Access-Control-Allow-Methods': 'PUT' }, '', /allows PUT/],
      [
        'a header that is missing',
        204,
        without(preflight, 'Access-Control-Allow-Headers'),
        '',
        /Allow-Headers is missing/,
      ],
      ['a header that has no place in it', 204, { ...preflight, Server: 'x' }, '', /server is not declared/],
    ])('finds %s', (_, status, headers, text, fault) => {
      expect(faultsOf(request, status, headers, text)).toMatch(fault);
    });
  });
});
