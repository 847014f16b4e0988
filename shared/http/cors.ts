import { limitHeaders } from './authorizer-context.ts';
import { headerValues, type RequestEvent } from './request.ts';
import { STABILITY_HEADER } from './stability.ts';

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
 * The origin whose pages may read the answer to a request: its own, where `ALLOWED_ORIGINS` has it, else that of the
 * reference page. No `Vary` says so, as nothing may be stored (`Cache-Control`).
 */
export function allowedOrigin(event: Pick<RequestEvent, 'multiValueHeaders'>): string | undefined {
  const { ALLOWED_ORIGINS, PAGE_ORIGIN } = process.env;
  const [ofPage, ...others] = (ALLOWED_ORIGINS ?? PAGE_ORIGIN ?? '').split(' ');
  const [requested] = headerValues(event, 'Origin');
  return others.find((origin) => origin === requested) ?? ofPage;
}

/** Lets the pages of one origin read the answers (Fetch standard, CORS protocol); none without an origin. */
export function corsHeaders(origin: string | undefined): Record<string, string> {
  if (origin === undefined || origin === '') return {};
  return { 'Access-Control-Allow-Origin': origin, 'Access-Control-Expose-Headers': exposedHeaders.join(', ') };
}
