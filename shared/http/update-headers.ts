import { createHash } from 'node:crypto';
import { ServiceError } from '../contract/errors.ts';
import { IDEMPOTENCY_KEY_RULE, readIdempotencyKey } from '../contract/idempotency-key.ts';
import type { IdempotentRequest } from '../stores/idempotent-changes.ts';
import type { StockChange } from '../stores/stock-store.ts';
import { isTagList, tagsIn } from './entity-tags.ts';
import { type ApiRequest, headerValues, type RequestHeaders } from './request.ts';

/** Entity tags that one request may name, and their length with commas and quotes. */
const MAX_TAGS = 20;
const MAX_TAGS_LENGTH = 2_000;

/** A tag that a stock entry can have. */
const STRONG_TAG = /^"([\w-]+)"$/;

/**
 * The versions that an update is meant for: those that `If-Match` names; undefined where it is not sent, or is `*`. A
 * tag that is weak or not ours stays in its quotes, and matches no version (RFC 9110 §13.1.1).
 *
 * @throws ServiceError INVALID_HEADER
 */
export function expectedVersions(headers: RequestHeaders): readonly string[] | undefined {
  if (headerValues(headers, 'if-none-match').length > 0) {
    throw new ServiceError('INVALID_HEADER', {
      message: 'Leave If-None-Match out of a change. If-Match names the version that it is meant for.',
    });
  }
  const values = headerValues(headers, 'if-match');
  const header = values.join(', ');
  if (values.length === 0 || header.trim() === '*') return undefined;
  const tags = header.length > MAX_TAGS_LENGTH ? [] : tagsIn(header);
  if (tags.length === 0 || tags.length > MAX_TAGS || !isTagList(header)) {
    const message = `If-Match must be * or at most ${MAX_TAGS} entity tags such as "mX0aVbq3Zk1T", as an ETag header has them.`;
    throw new ServiceError('INVALID_HEADER', { message });
  }
  return tags.map((tag) => STRONG_TAG.exec(tag)?.[1] ?? tag);
}

/**
 * The request by its `Idempotency-Key` (IETF draft-ietf-httpapi-idempotency-key-header); undefined where none is sent.
 * It belongs to the API key, so that it is the same request with any of its tokens.
 *
 * @param change all that the request asks for
 * @throws ServiceError INVALID_HEADER
 */
export function idempotentRequest(request: ApiRequest, change: StockChange): IdempotentRequest | undefined {
  const values = headerValues(request.headers, 'idempotency-key');
  if (values.length === 0) return undefined;
  const { recordId } = request.authorizer;
  if (!recordId) {
    const cause = new Error('The request has no record id, which sets those of its key apart from those of others');
    throw new ServiceError('SERVICE_UNAVAILABLE', { cause });
  }
  return { requestId: digest([recordId, parseIdempotencyKey(values)]), fingerprint: fingerprintOf(change) };
}

/** In a pinned order, whatever that of the properties: a retry may reach another release, as in a canary. */
function fingerprintOf({ petId, versions, ...fields }: StockChange): string {
  const sorted = Object.entries(fields).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return digest({ petId, ...Object.fromEntries(sorted), versions });
}

function parseIdempotencyKey([text = '', ...others]: readonly string[]): string {
  const key = readIdempotencyKey(text.trim());
  if (key !== undefined && others.length === 0) return key;
  const message = `Idempotency-Key is not such as "8e03978e-40d5-43dd-bc93-6894a57f9324": it must be ${IDEMPOTENCY_KEY_RULE}.`;
  throw new ServiceError('INVALID_HEADER', { message });
}

const digest = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('hex');
