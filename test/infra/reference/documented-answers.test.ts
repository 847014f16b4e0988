import { describe, expect, test } from '@jest/globals';
import { unknownLimit } from '../../../shared/http/authorizer-context.ts';
import { corsHeaders, securityHeaders } from '../../../shared/http/response-headers.ts';
import { DocumentedApi } from '../../support/documented-api.ts';

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
  ...corsHeaders,
  ...securityHeaders,
};

const headersOfUpdate = { ...ofEveryAnswer, ETag: '"1"', 'X-API-Stability': 'experimental' };
const headersOfList = { ...ofEveryAnswer, Vary: 'Accept-Encoding' };
const entry = '{"petId":9223372036854775807,"quantity":1,"status":"sold"}';

const without = (headers: Record<string, string>, name: string) =>
  Object.fromEntries(Object.entries(headers).filter(([other]) => other !== name));

const error = (code: string, status: number) => JSON.stringify({ code, message: 'What is wrong.', status });

const documented = new DocumentedApi();

/** What the document has against an answer. */
function faultsOf(request: typeof update, status: number, headers: Record<string, string>, text: string): string {
  return documented.faults({ status, headers: new Headers(headers), text }, request).join('\n');
}

/** What all end-to-end suites hold answers against: one that finds nothing would go unnoticed. */
describe('The check of answers against the OpenAPI document', () => {
  test.each([
    ['an updated entry', update, 200, headersOfUpdate, entry],
    ['a HEAD of a list', { method: 'HEAD', path: '/inventory' }, 200, headersOfList, ''],
    ['an error off all paths', { method: 'GET', path: '/nowhere' }, 404, ofEveryAnswer, error('ROUTE_NOT_FOUND', 404)],
  ])('has nothing against %s', (_, request, status, headers, text) => {
    expect(faultsOf(request, status, headers, text)).toBe('');
  });

  test.each([
    ['a status that is not declared', 418, headersOfUpdate, entry, /status 418/],
    ['a header that is not declared', 200, { ...headersOfUpdate, Vary: '*' }, entry, /vary is not declared/],
    ['a header that is missing', 200, without(headersOfUpdate, 'ETag'), entry, /ETag is missing/],
    ['a header of another form', 200, { ...headersOfUpdate, ETag: 'W/"1"' }, entry, /ETag: W/],
    ['another media type', 200, { ...headersOfUpdate, 'Content-Type': 'text/html' }, entry, /Content-Type is text/],
    ['a field that is not declared', 200, headersOfUpdate, entry.replace('{', '{"more":1,'), /NOT have additional/],
    ['a petId beyond 64 bits', 200, headersOfUpdate, entry.replace('5807', '5808'), /petId must be integer/],
  ])('finds %s', (_, status, headers, text, fault) => {
    expect(faultsOf(update, status, headers, text)).toMatch(fault);
  });

  test('finds the body of an answer to HEAD', () => {
    const head = { method: 'HEAD', path: '/inventory' };
    expect(faultsOf(head, 200, headersOfList, '[]')).toBe('there is a body: []');
  });
});
