import type { HeaderObject, HeadersObject, SchemaObject } from 'openapi3-ts/oas31';
import { operations } from '../../shared/contract/operations.ts';
import { challenges } from '../../shared/http/authorizer-answer.ts';
import type { limitHeaders } from '../../shared/http/authorizer-context.ts';
import {
  corsHeaders,
  deprecationHeaders,
  helpLink,
  REVALIDATED,
  securityHeaders,
  STABILITY_HEADER,
} from '../../shared/http/response-headers.ts';
import { plans } from '../../shared/keys/plans.ts';
import { stages } from '../stages.ts';
import { EXAMPLE_CURSOR, exampleTimes } from './examples.ts';
import { countSchema, int64From } from './schemas.ts';

const header = (description: string, schema: SchemaObject, example: unknown): HeaderObject => ({
  description,
  required: true,
  schema,
  example,
});

/** A header whose value is text of one form. Its length, in characters, is the longest that API Gateway lets through. */
const text = (description: string, pattern: string, example: string | undefined): HeaderObject =>
  header(description, { type: 'string', pattern, maxLength: 8_192 }, example);

const constant = (description: string, value: string): HeaderObject =>
  header(description, { type: 'string', const: value }, value);

const optional = (component: HeaderObject): HeaderObject => ({ ...component, required: false });

const { perMinute, perDay } = plans.free.limits;
const { minuteEnds, secondsOfMinute, secondsOfDay } = exampleTimes;

const limits = {
  'X-RateLimit-Limit': header(
    'Requests in the window (UTC minute or day) that has the least left',
    countSchema,
    perMinute,
  ),
  'X-RateLimit-Remaining': header('Requests left in that window', countSchema, perMinute - 1),
  'X-RateLimit-Reset': header('When that window ends, in Unix seconds', int64From('0'), minuteEnds),
  'RateLimit-Policy': optional(
    text(
      'Both windows: their quotas `q`, and their lengths `w` in seconds (IETF draft-ietf-httpapi-ratelimit-headers-11)',
      String.raw`^"minute";q=\d+;w=\d+, "day";q=\d+;w=\d+$`,
      `"minute";q=${perMinute};w=60, "day";q=${perDay};w=86400`,
    ),
  ),
  RateLimit: optional(
    text(
      'What remains `r` of both windows, and in how many seconds `t` the quota of each is there again',
      String.raw`^"minute";r=\d+;t=\d+, "day";r=\d+;t=\d+$`,
      `"minute";r=${perMinute - 1};t=${secondsOfMinute}, "day";r=${perDay - 1};t=${secondsOfDay}`,
    ),
  ),
} as const satisfies Record<keyof typeof limitHeaders, HeaderObject>;

/** Headers of every answer, of the functions and of the gateway. */
const ofEveryAnswer = {
  ...limits,
  'Access-Control-Allow-Origin': constant(
    'The origins whose pages a browser lets read the answer: all',
    corsHeaders['Access-Control-Allow-Origin'],
  ),
  'Access-Control-Expose-Headers': constant(
    'The headers that such a page may read',
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
  'Cache-Control': header(
    `\`${REVALIDATED}\` where the answer is to a read and has an \`ETag\`: the client may keep it, and asks again with \`If-None-Match\``,
    { type: 'string', enum: [securityHeaders['Cache-Control'], REVALIDATED] },
    securityHeaders['Cache-Control'],
  ),
  'X-Content-Type-Options': constant(
    'The answer is what its Content-Type says',
    securityHeaders['X-Content-Type-Options'],
  ),
  'Strict-Transport-Security': constant(
    'Browsers come back by HTTPS only (RFC 6797)',
    securityHeaders['Strict-Transport-Security'],
  ),
};

const { deprecatedAt, sunsetAt } = stages.production.petDeprecation;
const page = 'https://pets.example.com';
const deprecation = deprecationHeaders({ deprecatedAt: new Date(deprecatedAt), sunsetAt: new Date(sunsetAt), page });

/** The stability marks that operations have. */
const marks = Object.values(operations).flatMap(({ stability }) => (stability === 'stable' ? [] : [stability]));

/** Headers that an answer has by its operation, and lacks where the gateway has made it. A whole list has no ETag. */
const ofOperation = {
  ReadETag: text(
    'Names this answer: sent as `If-None-Match`, it makes the answer 304 as long as nothing has changed',
    String.raw`^W/"[\w-]+"$`,
    'W/"kEr0qOdpC3nZBvVx"',
  ),
  [STABILITY_HEADER]: header('The stability mark of the operation', { type: 'string', enum: marks }, marks[0]),
  Deprecation: text(
    'Since when the operation is deprecated (RFC 9745)',
    String.raw`^@\d+$`,
    deprecation['Deprecation'],
  ),
  Sunset: text(
    'When the operation may go (RFC 8594)',
    String.raw`^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$`,
    deprecation['Sunset'],
  ),
};

/** Every header that an answer can have besides those of HTTP itself, by its name in the document. */
export const headers = {
  ...ofEveryAnswer,
  ...ofOperation,
  'WWW-Authenticate': text(
    'How to authenticate, and `error="invalid_token"` where a key was sent (RFC 6750)',
    '^Bearer realm="[^"]+"(, error="invalid_token")?$',
    challenges.API_KEY_INVALID,
  ),
  Allow: text('Methods of the path', '^[A-Z]+(, [A-Z]+)*$', 'GET, HEAD, PATCH, OPTIONS'),
  'Accept-Patch': optional(
    constant('What the body of a PATCH must be (RFC 5789), where the path has it', 'application/json'),
  ),
  'Retry-After': header('Seconds to wait before the next try', { ...countSchema, minimum: 1 }, secondsOfMinute),
  ETag: text('The version of the stock entry: for `If-Match`', '^"[!#-~]+"$', '"mX0aVbq3Zk1T"'),
  Vary: constant('Request headers that the form of the answer depends on', 'Accept-Encoding'),
  'Content-Encoding': optional(constant('How the body is compressed, where `Accept-Encoding` allows it', 'gzip')),
  DeprecationPages: optional(
    text(
      'Where to read about the deprecation and the sunset, where there is such a page',
      '^<[!-;=?-~]+>; rel="deprecation"; type="text/html", <[!-;=?-~]+>; rel="sunset"; type="text/html"$',
      deprecation['Link'],
    ),
  ),
  HelpPage: optional(
    text(
      'Where to read about the error (RFC 8288), where there is such a page; for a deprecated operation also about that',
      '^(?:<[!-;=?-~]+>; rel="(?:deprecation|sunset)"; type="text/html", )*<[!-;=?-~]+>; rel="help"$',
      helpLink(page, 'PET_NOT_FOUND'),
    ),
  ),
  NextPage: optional(
    text(
      'Where the next page is. It is absent on the last page, and where no `limit` was given.',
      '^</[!-;=?-~]+>; rel="next"$',
      `</v1/inventory?limit=2&cursor=${EXAMPLE_CURSOR}>; rel="next"`,
    ),
  ),
} as const satisfies Record<string, HeaderObject>;

export type HeaderComponent = keyof typeof headers;
export type OperationHeader = keyof typeof ofOperation;

/** The same, and beside them those of operations as an answer may have or lack them. */
export const headerComponents: Readonly<Record<string, HeaderObject>> = {
  ...headers,
  ...Object.fromEntries(Object.entries(ofOperation).map(([name, each]) => [`Optional${name}`, optional(each)])),
};

/** Headers that mean one thing here, another there. */
const sharedNames: Partial<Record<HeaderComponent, string>> = {
  NextPage: 'Link',
  DeprecationPages: 'Link',
  HelpPage: 'Link',
  ReadETag: 'ETag',
};

const reference = (name: string, component: string) => [name, { $ref: `#/components/headers/${component}` }];

/**
 * The headers of an answer: those of every one, and these.
 *
 * @param perhaps headers that it has or lacks, as the gateway or the operation has made it
 */
export function headersOf(own: readonly HeaderComponent[], perhaps: readonly OperationHeader[] = []): HeadersObject {
  return Object.fromEntries([
    ...Object.keys(ofEveryAnswer).map((name) => reference(name, name)),
    ...own.map((component) => reference(sharedNames[component] ?? component, component)),
    ...perhaps.map((component) => reference(sharedNames[component] ?? component, `Optional${component}`)),
  ]);
}
