import type { ErrorCode } from '../contract/errors.ts';
import { methodsOf, type OperationId, type Route, routes } from '../contract/routes.ts';
import type { LimitContext } from './request.ts';

/**
 * Headers of every response, of the functions and of the gateway: no content sniffing, no requests without
 * TLS, and no caching except of resources with an `ETag`, by the client (OWASP, REST).
 */
export const securityHeaders = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Strict-Transport-Security': 'max-age=63072000',
} as const;

/** The client may cache it, and must revalidate with `If-None-Match` (RFC 9111 §5.2.2). */
export const REVALIDATED = 'private, no-cache';

export const STABILITY_HEADER = 'X-API-Stability';

/** The header of an operation that is not stable; none for a stable one. */
export function stabilityHeader(id: OperationId): Record<string, string> {
  const { stability }: Route = routes[id];
  return stability === 'stable' ? {} : { [STABILITY_HEADER]: stability };
}

/** The methods at a path (RFC 9110 §10.2.1), and the media type of its PATCH (RFC 5789 §3.1). */
export function allowedMethods(path: string): Record<string, string> {
  const methods = methodsOf(path);
  return {
    Allow: [...methods, 'OPTIONS'].join(', '),
    ...(methods.includes('PATCH') && { 'Accept-Patch': 'application/json' }),
  };
}

/** The link to an error's documentation on the reference page (RFC 8288). */
export const helpLink = (page: string, code: ErrorCode): string => `<${page}/errors.html#${code}>; rel="help"`;

/** Dates of an operation's deprecation and earliest removal, and the origin of the page about it, if any. */
export type Deprecation = Readonly<Record<'deprecatedAt' | 'sunsetAt', Date> & { page: string | undefined }>;

/** The headers of a deprecated operation: `Deprecation` (RFC 9745), `Sunset` (RFC 8594), and `Link` to their page. */
export function deprecationHeaders({ deprecatedAt, sunsetAt, page }: Deprecation): Record<string, string> {
  const link = (relation: string): string => `<${page}/#description/deprecations>; rel="${relation}"; type="text/html"`;
  return {
    Deprecation: `@${Math.floor(deprecatedAt.getTime() / 1_000)}`,
    Sunset: sunsetAt.toUTCString(),
    ...(page !== undefined && { Link: `${link('deprecation')}, ${link('sunset')}` }),
  };
}

/**
 * The limit headers of every response, by their context values: `X-RateLimit-*`, and
 * those of the coming standard (IETF draft-ietf-httpapi-ratelimit-headers).
 */
export const limitHeaders = {
  'X-RateLimit-Limit': 'limit',
  'X-RateLimit-Remaining': 'remaining',
  'X-RateLimit-Reset': 'reset',
  'RateLimit-Policy': 'rateLimitPolicy',
  RateLimit: 'rateLimit',
} as const satisfies Record<string, keyof LimitContext>;

/** The limit headers of a response without key and time: the standard's two would need a quota. */
export const unknownLimitHeaders = {
  'X-RateLimit-Limit': '0',
  'X-RateLimit-Remaining': '0',
  'X-RateLimit-Reset': '0',
} as const satisfies Partial<Record<keyof typeof limitHeaders, string>>;

export function limitHeadersOf(context: LimitContext): Readonly<Record<string, string>> {
  const headers = Object.entries(limitHeaders).map(([name, source]) => [name, context[source] ?? ''] as const);
  return Object.fromEntries(headers.filter(([, value]) => value !== ''));
}

/** Request headers that a web page may send, beyond those that CORS always allows. */
export const allowedRequestHeaders = [
  'Authorization',
  'Content-Type',
  'If-Match',
  'If-None-Match',
  'Idempotency-Key',
] as const;

/** Response headers that a web page may read, beyond those that CORS always allows. */
export const exposedHeaders = [
  ...Object.keys(limitHeaders),
  'Accept-Patch',
  'Allow',
  'Deprecation',
  'ETag',
  'Idempotent-Replayed',
  'Link',
  'Retry-After',
  'Sunset',
  'WWW-Authenticate',
  STABILITY_HEADER,
  'x-amzn-RequestId',
];

/**
 * Allows pages of every origin to read responses (Fetch standard, CORS protocol): the page itself sends the key, never
 * the browser, so no origin has more access than another.
 */
export const corsHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': exposedHeaders.join(', '),
} as const;
