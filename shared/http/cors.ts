import { limitHeaders } from './authorizer-context.ts';
import { STABILITY_HEADER } from './stability.ts';

/** Request headers that a page in a browser may send (beside those that it always may). */
export const allowedRequestHeaders = ['Authorization', 'Content-Type', 'If-Match', 'Idempotency-Key'] as const;

/** Response headers that a page in a browser may read (beside those that it always may). */
export const exposedHeaders = [
  ...Object.keys(limitHeaders),
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

/** Lets the pages of one origin read the answers (Fetch standard, CORS protocol); none without an origin. */
export function corsHeaders(origin: string | undefined): Record<string, string> {
  if (origin === undefined || origin === '') return {};
  return { 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': exposedHeaders.join(', ') };
}
