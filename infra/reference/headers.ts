import type { HeaderObject, HeadersObject } from 'openapi3-ts/oas31';
import { operations } from '../../shared/contract/operations.ts';
import { challenges } from '../../shared/http/authorizer-result.ts';
import type { limitHeaders } from '../../shared/http/authorizer-context.ts';
import { deprecationHeaders, helpLink, STABILITY_HEADER } from '../../shared/http/response-headers.ts';
import { plans } from '../../shared/keys/plans.ts';
import { stages } from '../stages.ts';
import { EXAMPLE_CURSOR, exampleTimes } from './examples.ts';

const header = (description: string, example: number | string | undefined): HeaderObject => ({
  description,
  required: true,
  schema: typeof example === 'number' ? { type: 'integer', format: 'int64', minimum: 0 } : { type: 'string' },
  example,
});

/** A header that an answer may lack: the gateway has made it, or it has nothing to say. */
const optional = (...[description, example]: Parameters<typeof header>): HeaderObject => ({
  ...header(description, example),
  required: false,
});

const { perMinute, perDay } = plans.free.limits;
const { minuteEnds, secondsOfMinute, secondsOfDay } = exampleTimes;

const limits = {
  'X-RateLimit-Limit': header('Requests in the window (UTC minute or day) that has the least left', perMinute),
  'X-RateLimit-Remaining': header('Requests left in that window', perMinute - 1),
  'X-RateLimit-Reset': header('When that window ends, in Unix seconds', minuteEnds),
  'RateLimit-Policy': optional(
    'Both windows: their quotas `q`, and their lengths `w` in seconds (IETF draft-ietf-httpapi-ratelimit-headers-11)',
    `"minute";q=${perMinute};w=60, "day";q=${perDay};w=86400`,
  ),
  RateLimit: optional(
    'What remains `r` of both windows, and in how many seconds `t` the quota of each is there again',
    `"minute";r=${perMinute - 1};t=${secondsOfMinute}, "day";r=${perDay - 1};t=${secondsOfDay}`,
  ),
} as const satisfies Record<keyof typeof limitHeaders, HeaderObject>;

/** Headers of every answer, of the functions and of the gateway. */
const ofEveryResponse = {
  ...limits,
  'x-amzn-RequestId': header(
    'Names the request: say it when you report a problem',
    '8e03978e-40d5-43dd-bc93-6894a57f9324',
  ),
};

const { deprecatedAt, sunsetAt } = stages.production.petDeprecation;
const page = 'https://pets.example.com';
const deprecation = deprecationHeaders({ deprecatedAt: new Date(deprecatedAt), sunsetAt: new Date(sunsetAt), page });

/** Every header that a client goes by, by its name in the document; not those of HTTP, CORS and transport security. */
export const headers = {
  ...ofEveryResponse,
  ETag: header('The version of the stock entry: for `If-Match`', '"mX0aVbq3Zk1T"'),
  ReadETag: optional(
    'Names this answer: sent as `If-None-Match`, it makes the answer 304 as long as nothing has changed',
    'W/"kEr0qOdpC3nZBvVx"',
  ),
  NextPage: optional(
    'Where the next page is. It is absent on the last page, and where no `limit` was given.',
    `</v1/inventory?limit=2&cursor=${EXAMPLE_CURSOR}>; rel="next"`,
  ),
  HelpPage: optional(
    'Where to read about the error (RFC 8288), where there is such a page; for a deprecated operation also about that',
    helpLink(page, 'PET_NOT_FOUND'),
  ),
  DeprecationPages: optional('Where to read about the deprecation and the sunset', deprecation['Link']),
  Deprecation: optional('Since when the operation is deprecated (RFC 9745)', deprecation['Deprecation']),
  Sunset: optional('When the operation may go (RFC 8594)', deprecation['Sunset']),
  [STABILITY_HEADER]: optional('The stability mark of the operation', operations.updateInventory.stability),
  'Retry-After': header('Seconds to wait before the next try', secondsOfMinute),
  'WWW-Authenticate': header(
    'How to authenticate, and `error="invalid_token"` where a key was sent (RFC 6750)',
    challenges.API_KEY_INVALID,
  ),
  Allow: header('Methods of the path', 'GET, HEAD, PATCH, OPTIONS'),
} as const satisfies Record<string, HeaderObject>;

export type HeaderComponent = keyof typeof headers;

/** Headers that mean one thing here, another there. */
const sharedNames: Partial<Record<HeaderComponent, string>> = {
  NextPage: 'Link',
  DeprecationPages: 'Link',
  HelpPage: 'Link',
  ReadETag: 'ETag',
};

/** The headers of an answer: those of every one, and these. */
export function headersOf(own: readonly HeaderComponent[]): HeadersObject {
  const all = [
    ...Object.keys(ofEveryResponse).map((name) => [name, name]),
    ...own.map((one) => [sharedNames[one] ?? one, one]),
  ];
  return Object.fromEntries(all.map(([name = '', component]) => [name, { $ref: `#/components/headers/${component}` }]));
}
