import { ApiError } from './api-error.ts';
import { ConnectionError } from './connection-error.ts';

/** The backoff grows no further than this, in milliseconds. */
const MAX_BACKOFF = 20_000;

/** Errors of the service, or of something on the way to it, that may be over soon. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);

/**
 * Whether a failed try may be repeated. A request that was refused for what it is would be refused again; one that got no
 * answer may have been carried out, which is harmless: a list or a pet is only read, and an update carries the same
 * Idempotency-Key in all tries.
 */
export function mayRepeat(error: unknown): error is ApiError | ConnectionError {
  if (error instanceof ConnectionError) return error.reason !== 'unreadable';
  if (!(error instanceof ApiError)) return false;
  return PASSING_STATUSES.has(error.status);
}

/**
 * Milliseconds from a failed try to the next: as long as `Retry-After` says, and on top a backoff that doubles with each
 * try. A random part of up to half of it keeps clients that failed together from coming back together.
 *
 * @param attempt the try that failed: 1 for the first
 */
export function pauseAfter(error: ApiError | ConnectionError, attempt: number, retryDelay: number): number {
  const backoff = Math.min(MAX_BACKOFF, retryDelay * 2 ** (attempt - 1));
  const retryAfter = error instanceof ApiError ? (error.retryAfter ?? 0) : 0;
  return retryAfter * 1_000 + Math.round(backoff * (0.5 + Math.random() / 2));
}
