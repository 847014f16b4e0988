import { createHash } from 'node:crypto';
import { entityTag, inventoryItemToJson } from '../contract/inventory.ts';
import type { StockVersion } from '../stores/stock-store.ts';
import type { Reply } from './operation-handler.ts';
import { headerValues, type RequestHeaders } from './request.ts';
import { REVALIDATED } from './response-headers.ts';

/** `"…"` or `W/"…"` (RFC 9110 §8.8.3), anywhere in a text. */
const TAGS = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g;

/** A comma-separated list of them, with empty elements, which recipients accept (RFC 9110 §5.6.1). */
const TAG_LIST =
  /^[ \t,]*(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"(?:[ \t]*,[ \t,]*(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")*[ \t,]*$/;

/** Whether the value of a header is a valid list of entity tags. */
export const isTagList = (header: string): boolean => TAG_LIST.test(header);

/** The entity tags in the value of a header. */
export const tagsIn = (header: string): string[] => header.match(TAGS) ?? [];

/** A stock entry, with its `ETag` for an update. */
export const entryReply = ({ entry, version }: StockVersion): Reply => ({
  status: 200,
  headers: { ETag: entityTag(version) },
  body: inventoryItemToJson(entry),
});

/**
 * The reply with an `ETag` of what it says; 304 where the request knows it. The tag is weak: it is the same for a
 * compressed response, and is not a version for updates.
 */
export function withEntityTag(requestHeaders: RequestHeaders, { status, headers, body }: Reply): Reply {
  const digest = createHash('sha256')
    .update(`${headers?.Link ?? ''}\n${body}`)
    .digest('base64url');
  return notModifiedOr(requestHeaders, { status, headers: { ...headers, ETag: `W/"${digest.slice(0, 16)}"` }, body });
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
