import type { ErrorCode } from '../contract/errors.ts';
import { methodsOf, type OperationId, type Route, routes } from '../contract/routes.ts';
import { limitHeaders } from './authorizer-context.ts';

/**
 * Headers of every answer, of the functions and of the gateway: nothing is taken for another type or asked for without
 * TLS again, and nothing is kept by caches but what has an `ETag` to ask again with, by its client (OWASP, REST).
 */
export const securityHeaders = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Strict-Transport-Security': 'max-age=63072000',
} as const;

/** What a client may keep, to ask for it again with `If-None-Match` (RFC 9111 §5.2.2). */
export const REVALIDATED = 'private, no-cache';

/** Names the stability mark of an operation. */
export const STABILITY_HEADER = 'X-API-Stability';

/** The header of a marked operation; none for one without a mark. */
export function stabilityHeader(id: OperationId): Record<string, string> {
  const { stability }: Route = routes[id];
  return stability === 'stable' ? {} : { [STABILITY_HEADER]: stability };
}

/** What the operations at a path take: their methods (RFC 9110 §10.2.1), and the form of a PATCH (RFC 5789 §3.1). */
export function allowedMethods(path: string): Record<string, string> {
  const methods = methodsOf(path);
  return {
    Allow: [...methods, 'OPTIONS'].join(', '),
    ...(methods.includes('PATCH') && { 'Accept-Patch': 'application/json' }),
  };
}

/** Leads to what the reference page says of an error (RFC 8288). */
export const helpLink = (page: string, code: ErrorCode): string => `<${page}/errors#${code}>; rel="help"`;

/** Since when an operation is deprecated, from when on it may be gone, and the origin of the page about it, if any. */
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

/** Request headers that a page in a browser may send (beside those that it always may). */
export const allowedRequestHeaders = [
  'Authorization',
  'Content-Type',
  'If-Match',
  'If-None-Match',
  'Idempotency-Key',
] as const;

/** Response headers that a page in a browser may read (beside those that it always may). */
export const exposedHeaders = [
  ...Object.keys(limitHeaders),
  'Accept-Patch',
  'Allow',
  'Deprecation',
  'ETag',
  'Link',
  'Retry-After',
  'Sunset',
  'WWW-Authenticate',
  STABILITY_HEADER,
  'x-amzn-RequestId',
];

/**
 * Lets pages of every origin read the answers (Fetch standard, CORS protocol): a key is sent by the page itself, never
 * by the browser, so no origin has more rights than another.
 */
export const corsHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': exposedHeaders.join(', '),
} as const;
