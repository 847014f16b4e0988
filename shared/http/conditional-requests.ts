import { hash } from 'node:crypto';
import { ServiceError } from '../contract/errors.ts';
import type { Int64 } from '../contract/int64.ts';
import { entityTag, inventoryItemToJson } from '../contract/inventory.ts';
import type { ChangeResult, IdempotentRequest } from '../stores/idempotent-changes.ts';
import { withoutTokens } from '../keys/token.ts';
import type { StockAuthor } from '../stores/stock-history.ts';
import type { StockChange } from '../stores/stock-store.ts';
import type { Reply } from './operation-handler.ts';
import { type ApiRequest, headerValues, type RequestHeaders } from './request.ts';
import { REVALIDATED } from './response-headers.ts';

/** If another release's authorizer sends no id. */
const UNKNOWN_AUTHOR = 'unknown';

/** `"…"` or `W/"…"` (RFC 9110 §8.8.3), anywhere in a text. */
const TAGS = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g;

/** A comma-separated list of them, with empty elements, which recipients accept (RFC 9110 §5.6.1). */
const TAG_LIST =
  /^[ \t,]*(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"(?:[ \t]*,[ \t,]*(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")*[ \t,]*$/;

const tagsIn = (header: string): string[] => header.match(TAGS) ?? [];

/** The header of a response whose request was applied before. */
export const REPLAYED_HEADER = 'Idempotent-Replayed';

/** A stock entry, with its `ETag` for an update. */
export const entryReply = ({ entry, version, isReplayed = false }: ChangeResult): Reply => ({
  status: 200,
  headers: { ETag: entityTag(version), ...(isReplayed && { [REPLAYED_HEADER]: 'true' }) },
  body: inventoryItemToJson(entry),
});

/**
 * The reply with an `ETag` of what it says; 304 where the request knows it. The tag is weak: it is the same for a
 * compressed response, and is not a version for updates.
 */
export function withEntityTag(requestHeaders: RequestHeaders, { status, headers, body }: Reply): Reply {
  const tag = hash('sha256', `${headers?.Link ?? ''}\n${body}`, 'base64url').slice(0, 16);
  return notModifiedOr(requestHeaders, { status, headers: { ...headers, ETag: `W/"${tag}"` }, body });
}

/** The reply, for its client to keep; or 304 if `If-None-Match` has its `ETag`, weak or strong (RFC 9110 §13.1.2). */
export function notModifiedOr(requestHeaders: RequestHeaders, reply: Reply): Reply {
  const asked = headerValues(requestHeaders, 'if-none-match').join(', ');
  const tags = tagsIn(asked).map(opaque);
  const isKnown = asked.trim() === '*' || tags.includes(opaque(reply.headers?.ETag ?? ''));
  const headers = { ...reply.headers, 'Cache-Control': REVALIDATED };
  return isKnown ? { status: 304, headers, body: '' } : { ...reply, headers };
}

const opaque = (tag: string): string => tag.replace('W/', '');

/** Max entity tags per request, and their max length with commas and quotes. */
const MAX_TAGS = 20;
const MAX_TAGS_LENGTH = 2_000;

/** The format of a stock entry's tag. */
const STRONG_TAG = /^"([\w-]+)"$/;

/**
 * The versions in `If-Match`; undefined if the header is absent or `*`. A weak or foreign tag keeps its quotes, and
 * matches no version (RFC 9110 §13.1.1). @throws ServiceError INVALID_HEADER
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
  if (tags.length === 0 || tags.length > MAX_TAGS || !TAG_LIST.test(header)) {
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
 * @param row id of the row of a batch: each is a request of its own
 * @throws ServiceError INVALID_HEADER
 */
export function idempotentRequest(
  request: ApiRequest,
  change: StockChange,
  row?: Int64,
): IdempotentRequest | undefined {
  const key = idempotencyKeyOf(request);
  if (key === undefined) return undefined;
  const { recordId } = request.authorizer;
  if (!recordId) {
    const cause = new Error('The request has no record id to scope its Idempotency-Key');
    throw new ServiceError('SERVICE_UNAVAILABLE', { cause });
  }
  const requestId = digest(row === undefined ? [recordId, key] : [recordId, key, row]);
  return { requestId, fingerprint: fingerprintOf(change) };
}

/** The client, for the history of the stock. @throws ServiceError INVALID_HEADER */
export function authorOf(request: ApiRequest, how: StockAuthor['how']): StockAuthor {
  const { recordId: who = UNKNOWN_AUTHOR, token } = request.authorizer;
  const reference = idempotencyKeyOf(request);
  return { who, token, how, reference: reference && withoutTokens(reference) };
}

/** In a fixed order of properties: a retry may reach another release, as in a canary. */
function fingerprintOf({ petId, versions, ...fields }: StockChange): string {
  const sorted = Object.entries(fields).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return digest({ petId, ...Object.fromEntries(sorted), versions });
}

function idempotencyKeyOf({ headers }: ApiRequest): string | undefined {
  const [text, ...others] = headerValues(headers, 'idempotency-key');
  if (text === undefined) return undefined;
  const key = text.trim();
  if (others.length === 0 && SYNTAX.test(key))
    return key.startsWith('"') ? key.slice(1, -1).replaceAll(/\\(["\\])/g, '$1') : key;
  const message = `Idempotency-Key, such as "8e03978e-40d5-43dd-bc93-6894a57f9324", must be ${IDEMPOTENCY_KEY_RULE}.`;
  throw new ServiceError('INVALID_HEADER', { message });
}

const digest = (value: unknown): string => hash('sha256', JSON.stringify(value));

const MAX_LENGTH = 255;

/** The syntax of an `Idempotency-Key` in one sentence, for the document, the guide and the error. */
export const IDEMPOTENCY_KEY_RULE = `1 to ${MAX_LENGTH} printable ASCII characters in double quotes, with inner quotes and backslashes escaped by a backslash; the outer quotes are optional without spaces, quotes and backslashes`;

/** The same, {@link MAX_LENGTH} included: a structured field string (RFC 9651 §3.3.3), or as many clients send it. */
// Without the backslashes, other languages read `[` in brackets otherwise.
// oxlint-disable-next-line no-useless-escape
const SYNTAX = /^(?:"(?:[ !#-\[\]-~]|\\["\\]){1,255}"|[!#-\[\]-~]{1,255})$/;

export const IDEMPOTENCY_KEY_PATTERN = SYNTAX.source;

/** Quotes, and a backslash before each escaped character. */
export const MAX_HEADER_LENGTH = 2 * MAX_LENGTH + 2;
