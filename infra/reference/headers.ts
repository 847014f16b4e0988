import type { HeaderObject, HeadersObject } from 'openapi3-ts/oas31';
import { operations } from '../../shared/contract/operations.ts';
import type { limitHeaders } from '../../shared/http/authorizer-context.ts';
import {
  corsHeaders,
  deprecationHeaders,
  securityHeaders,
  STABILITY_HEADER,
} from '../../shared/http/response-headers.ts';
import { plans } from '../../shared/keys/plans.ts';
import { stages } from '../stages.ts';
import { EXAMPLE_CURSOR, exampleTimes } from './examples.ts';
import { challenges } from '../../shared/http/authorizer-answer.ts';
import { countSchema, int64, int64From } from './schemas.ts';

/** Characters. API Gateway lets no longer header through. */
const MAX_LENGTH = 8_192;

/** A header whose value is text of one form. */
const text = (description: string, pattern: string, example: string | undefined): HeaderObject => ({
  description,
  required: true,
  schema: { type: 'string', pattern, maxLength: MAX_LENGTH },
  example,
});

/** One that an answer has or lacks. */
const optional = (header: HeaderObject): HeaderObject => ({ ...header, required: false });

const count = (description: string, example: number): HeaderObject => ({
  description,
  required: true,
  schema: countSchema,
  example,
});

const { perMinute, perDay } = plans.free.limits;
const { minuteEnds, secondsOfMinute, secondsOfDay } = exampleTimes;

const limits = {
  'X-RateLimit-Limit': count('Requests in the window (UTC minute or day) that has the least left', perMinute),
  'X-RateLimit-Remaining': count('Requests left in that window', perMinute - 1),
  'X-RateLimit-Reset': {
    description: 'When that window ends, in Unix seconds',
    required: true,
    schema: int64From(int64('0')),
    example: minuteEnds,
  },
  'RateLimit-Policy': text(
    'Both windows: their quotas `q`, and their lengths `w` in seconds (IETF draft-ietf-httpapi-ratelimit-headers)',
    String.raw`^"minute";q=\d+;w=\d+, "day";q=\d+;w=\d+$`,
    `"minute";q=${perMinute};w=60, "day";q=${perDay};w=86400`,
  ),
  RateLimit: text(
    'What remains `r` of both windows, and in how many seconds `t` each ends',
    String.raw`^"minute";r=\d+;t=\d+, "day";r=\d+;t=\d+$`,
    `"minute";r=${perMinute - 1};t=${secondsOfMinute}, "day";r=${perDay - 1};t=${secondsOfDay}`,
  ),
} as const satisfies Record<keyof typeof limitHeaders, HeaderObject>;

const { petDeprecation } = stages.production;
const PAGE = 'https://pets.example.com';
const deprecation = deprecationHeaders({
  deprecatedAt: new Date(petDeprecation.deprecatedAt),
  sunsetAt: new Date(petDeprecation.sunsetAt),
  page: PAGE,
});

/** The stability marks that operations have. */
const marks = Object.values(operations).flatMap(({ stability }) => (stability === 'stable' ? [] : [stability]));

const METHODS = '^[A-Z]+(, [A-Z]+)*$';
const HTTP_DATE = String.raw`^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$`;

/** Every header that an answer can have besides those of HTTP itself, by its name in the document. */
export const headers = {
  ...limits,
  'Access-Control-Allow-Origin': text(
    'The origins whose pages a browser lets read the answer: all',
    String.raw`^\*$`,
    corsHeaders['Access-Control-Allow-Origin'],
  ),
  'Access-Control-Expose-Headers': text(
    'The headers that such a page may read',
    String.raw`^[\w-]+(, [\w-]+)*$`,
    corsHeaders['Access-Control-Expose-Headers'],
  ),
  'x-amzn-RequestId': text(
    'Names the request: say it when you report a problem',
    String.raw`^[\w-]+$`,
    '8e03978e-40d5-43dd-bc93-6894a57f9324',
  ),
  'x-amz-apigw-id': text('Names the request within API Gateway', String.raw`^[\w=+/-]+$`, 'Bq3kXH1dIAMEVXw='),
  'X-Amzn-Trace-Id': optional(
    text('Names the trace of the request, where there is one', '^[!-~]+$', 'Root=1-6920303a-4f1c2d3e5a6b7c8d9e0f1a2b'),
  ),
  'WWW-Authenticate': text(
    'How to authenticate, and `error="invalid_token"` where a key was sent (RFC 6750)',
    '^Bearer realm="[^"]+"(, error="invalid_token")?$',
    challenges.API_KEY_INVALID,
  ),
  'Cache-Control': text('The answer is not to be kept', '^no-store$', securityHeaders['Cache-Control']),
  'X-Content-Type-Options': text(
    'The answer is what its Content-Type says',
    '^nosniff$',
    securityHeaders['X-Content-Type-Options'],
  ),
  'Strict-Transport-Security': text(
    'Browsers come back by HTTPS only (RFC 6797)',
    String.raw`^max-age=\d+$`,
    securityHeaders['Strict-Transport-Security'],
  ),
  Allow: text('Methods of the path', METHODS, 'PATCH, OPTIONS'),
  'Accept-Patch': text('What the body of a PATCH must be (RFC 5789)', '^application/json$', 'application/json'),
  'Retry-After': {
    ...count('Seconds to wait before the next try', secondsOfMinute),
    schema: { ...countSchema, minimum: 1 },
  },
  ReadETag: text(
    'Names this answer: sent as `If-None-Match`, it makes the answer 304 as long as nothing has changed',
    String.raw`^W/"[\w-]+"$`,
    'W/"kEr0qOdpC3nZBvVx"',
  ),
  ETag: text('The version of the stock entry: for `If-Match`', '^"[!#-~]+"$', '"mX0aVbq3Zk1T"'),
  Vary: text('Request headers that the form of the answer depends on', '^Accept-Encoding$', 'Accept-Encoding'),
  'Content-Encoding': optional(text('How the body is compressed, where `Accept-Encoding` allows it', '^gzip$', 'gzip')),
  NextPage: optional(
    text(
      'Where the next page is. It is absent on the last page, and where no `limit` was given.',
      '^</[!-;=?-~]+>; rel="next"$',
      `</v1/inventory?limit=2&cursor=${EXAMPLE_CURSOR}>; rel="next"`,
    ),
  ),
  [STABILITY_HEADER]: {
    description: 'The stability mark of the operation',
    required: true,
    schema: { type: 'string', enum: marks },
    example: marks[0],
  },
  Deprecation: text(
    'Since when the operation is deprecated (RFC 9745)',
    String.raw`^@\d+$`,
    deprecation['Deprecation'],
  ),
  Sunset: text('When the operation may go (RFC 8594)', HTTP_DATE, deprecation['Sunset']),
  DeprecationPages: text(
    'Where to read about the deprecation and the sunset',
    '^<[!-;=?-~]+>; rel="deprecation"; type="text/html", <[!-;=?-~]+>; rel="sunset"; type="text/html"$',
    deprecation['Link'],
  ),
} as const satisfies Record<string, HeaderObject>;

export type HeaderComponent = keyof typeof headers;

/** Headers of every answer, of the functions and of the gateway. */
const ofEveryAnswer: readonly HeaderComponent[] = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
  'Access-Control-Allow-Origin',
  'Access-Control-Expose-Headers',
  'x-amzn-RequestId',
  'x-amz-apigw-id',
  'X-Amzn-Trace-Id',
  'Cache-Control',
  'X-Content-Type-Options',
  'Strict-Transport-Security',
];

/** Headers that mean one thing here, another there. */
const sharedNames: Partial<Record<HeaderComponent, string>> = {
  NextPage: 'Link',
  DeprecationPages: 'Link',
  ReadETag: 'ETag',
};

const nameOf = (component: HeaderComponent): string => sharedNames[component] ?? component;

/**
 * The headers of an answer: those of every one, and these.
 *
 * @param perhaps headers that it has or lacks, as the gateway or the operation has made it
 */
export function headersOf(own: readonly HeaderComponent[], perhaps: readonly HeaderComponent[] = []): HeadersObject {
  const references = [...ofEveryAnswer, ...own].map((component) => [
    nameOf(component),
    { $ref: `#/components/headers/${component}` },
  ]);
  const copies = perhaps.map((component) => [nameOf(component), optional(headers[component])]);
  return Object.fromEntries([...references, ...copies]);
}
