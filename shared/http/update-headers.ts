import { createHash } from 'node:crypto';
import { ServiceError } from '../contract/errors.ts';
import { IDEMPOTENCY_KEY_RULE, readIdempotencyKey } from '../contract/idempotency-key.ts';
import type { IdempotentRequest } from '../stores/idempotent-changes.ts';
import type { StockChange } from '../stores/stock-store.ts';
import { isTagList, tagsIn } from './entity-tags.ts';
import { type ApiRequest, headerValues, type RequestHeaders } from './request.ts';

/** Max entity tags per request, and their max length with commas and quotes. */
const MAX_TAGS = 20;
const MAX_TAGS_LENGTH = 2_000;

/** The format of a stock entry's tag. */
const STRONG_TAG = /^"([\w-]+)"$/;

/**
 * The versions in `If-Match`; undefined if the header is absent or `*`. A
 * weak or foreign tag keeps its quotes, and matches no version (RFC 9110 §13.1.1).
 *
 * @throws ServiceError INVALID_HEADER
 */
export function expectedVersions(headers: RequestHeaders): readonly string[] | undefined {
  if (headerValues(headers, 'if-none-match').length > 0) {
    throw new ServiceError('INVALID_HEADER', {
      message: 'Remove If-None-Match. If-Match has the version to update.',
    });
  }
  const values = headerValues(headers, 'if-match');
  const header = values.join(', ');
  if (values.length === 0 || header.trim() === '*') return undefined;
  const tags = header.length > MAX_TAGS_LENGTH ? [] : tagsIn(header);
  if (tags.length === 0 || tags.length > MAX_TAGS || !isTagList(header)) {
    const message = `If-Match must be * or at most ${MAX_TAGS} entity tags such as "mX0aVbq3Zk1T", as in an ETag header.`;
    throw new ServiceError('INVALID_HEADER', { message });
  }
  return tags.map((tag) => STRONG_TAG.exec(tag)?.[1] ?? tag);
}

/**
 * The request's idempotency (IETF draft-ietf-httpapi-idempotency-key-header); undefined without the header.
 * It is scoped to the API key, so it is the same request with any of the key's tokens.
 *
 * @param change all content of the request
 * @throws ServiceError INVALID_HEADER
 */
export function idempotentRequest(request: ApiRequest, change: StockChange): IdempotentRequest | undefined {
  const values = headerValues(request.headers, 'idempotency-key');
  if (values.length === 0) return undefined;
  const { recordId } = request.authorizer;
  if (!recordId) {
    const cause = new Error('The request has no record id to scope its Idempotency-Key');
    throw new ServiceError('SERVICE_UNAVAILABLE', { cause });
  }
  return { requestId: digest([recordId, parseIdempotencyKey(values)]), fingerprint: fingerprintOf(change) };
}

/** In a fixed order of properties: a retry may reach another release, as in a canary. */
function fingerprintOf({ petId, versions, ...fields }: StockChange): string {
  const sorted = Object.entries(fields).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return digest({ petId, ...Object.fromEntries(sorted), versions });
}

function parseIdempotencyKey([text = '', ...others]: readonly string[]): string {
  const key = readIdempotencyKey(text.trim());
  if (key !== undefined && others.length === 0) return key;
  const message = `Idempotency-Key, such as "8e03978e-40d5-43dd-bc93-6894a57f9324", must be ${IDEMPOTENCY_KEY_RULE}.`;
  throw new ServiceError('INVALID_HEADER', { message });
}

const digest = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('hex');
