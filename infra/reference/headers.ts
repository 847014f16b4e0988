import type { HeaderObject, HeadersObject } from 'openapi3-ts/oas31';
import { operations } from '../../shared/contract/operations.ts';
import { REPLAYED_HEADER } from '../../shared/http/conditional-requests.ts';
import { challenges } from '../../shared/http/authorizer-result.ts';
import {
  type limitHeaders,
  deprecationHeaders,
  helpLink,
  STABILITY_HEADER,
} from '../../shared/http/response-headers.ts';
import { plans } from '../../shared/keys/plans.ts';
import { stages } from '../stages.ts';
import { EXAMPLE_CURSOR, exampleTimes } from './examples.ts';

const header = (description: string, example: number | string | undefined): HeaderObject => ({
  description,
  required: true,
  schema: typeof example === 'number' ? { type: 'integer', format: 'int64', minimum: 0 } : { type: 'string' },
  example,
});

/** An optional header: responses of the gateway and responses without a value for it lack it. */
const optional = (...[description, example]: Parameters<typeof header>): HeaderObject => ({
  ...header(description, example),
  required: false,
});

const { perMinute, perDay } = plans.free.limits;
const { minuteEnds, secondsOfMinute, secondsOfDay } = exampleTimes;

const limits = {
  'X-RateLimit-Limit': header('Limit of the window (minute or day) with the lowest remaining quota', perMinute),
  'X-RateLimit-Remaining': header('Remaining quota of that window', perMinute - 1),
  'X-RateLimit-Reset': header('End of that window, in Unix seconds', minuteEnds),
  'RateLimit-Policy': optional(
    'Both windows: their quotas `q`, and their lengths `w` in seconds (IETF draft-ietf-httpapi-ratelimit-headers-11)',
    `"minute";q=${perMinute};w=60, "day";q=${perDay};w=86400`,
  ),
  RateLimit: optional(
    'Remaining quota `r` of both windows, and seconds `t` until each resets',
    `"minute";r=${perMinute - 1};t=${secondsOfMinute}, "day";r=${perDay - 1};t=${secondsOfDay}`,
  ),
} as const satisfies Record<keyof typeof limitHeaders, HeaderObject>;

/** Headers of every response, of the functions and of the gateway. */
const ofEveryResponse = {
  ...limits,
  'x-amzn-RequestId': header(
    'Request id: include it when you report a problem',
    '8e03978e-40d5-43dd-bc93-6894a57f9324',
  ),
};

const { deprecatedAt, sunsetAt } = stages.production.petDeprecation;
const page = 'https://pets.example.com';
const deprecation = deprecationHeaders({ deprecatedAt: new Date(deprecatedAt), sunsetAt: new Date(sunsetAt), page });

/** Every header for clients, by its name in the document; without those of HTTP, CORS and transport security. */
export const headers = {
  ...ofEveryResponse,
  ETag: header('Version of the stock entry, for `If-Match`', '"mX0aVbq3Zk1T"'),
  ReadETag: optional(
    'Version of this response: as `If-None-Match` it makes an unchanged resource return 304',
    'W/"kEr0qOdpC3nZBvVx"',
  ),
  NextPage: optional(
    'URL of the next page. Absent on the last page, and without `limit`.',
    `</v1/inventory?limit=2&cursor=${EXAMPLE_CURSOR}>; rel="next"`,
  ),
  HelpPage: optional(
    'Documentation of the error (RFC 8288), if the service has that page; for a deprecated operation also of the deprecation',
    helpLink(page, 'PET_NOT_FOUND'),
  ),
  DeprecationPages: optional('Documentation of the deprecation and the sunset', deprecation['Link']),
  Deprecation: optional('Date of the deprecation (RFC 9745)', deprecation['Deprecation']),
  Sunset: optional('Earliest date of removal (RFC 8594)', deprecation['Sunset']),
  [STABILITY_HEADER]: optional('The stability mark of the operation', operations.updateInventory.stability),
  'Retry-After': header('Seconds to wait before the next attempt', secondsOfMinute),
  RetryAfterIfSafe: optional(
    'Seconds to wait before the next attempt; absent with `UPDATE_OUTCOME_UNKNOWN` for a request without `Idempotency-Key`',
    1,
  ),
  [REPLAYED_HEADER]: optional('`true` if an earlier request with this `Idempotency-Key` was applied', 'true'),
  'WWW-Authenticate': header(
    'How to authenticate, with `error="invalid_token"` if a key was sent (RFC 6750)',
    challenges.API_KEY_INVALID,
  ),
  Allow: header('Methods of the path', 'GET, HEAD, PATCH, OPTIONS'),
} as const satisfies Record<string, HeaderObject>;

export type HeaderComponent = keyof typeof headers;

/** Headers whose description depends on the response. */
const sharedNames: Partial<Record<HeaderComponent, string>> = {
  NextPage: 'Link',
  DeprecationPages: 'Link',
  HelpPage: 'Link',
  ReadETag: 'ETag',
  RetryAfterIfSafe: 'Retry-After',
};

/** The headers of a response: the common ones, and these. */
export function headersOf(own: readonly HeaderComponent[]): HeadersObject {
  const all = [
    ...Object.keys(ofEveryResponse).map((name) => [name, name]),
    ...own.map((one) => [sharedNames[one] ?? one, one]),
  ];
  return Object.fromEntries(all.map(([name = '', component]) => [name, { $ref: `#/components/headers/${component}` }]));
}
