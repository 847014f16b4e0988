import { createHash } from 'node:crypto';
import type { Reply } from './operation-handler.ts';
import { headerValues, type RequestHeaders } from './request.ts';

/** `"…"` or `W/"…"` (RFC 9110 §8.8.3), wherever one stands in a text. */
const TAGS = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g;

/** Some of them with commas between, and empty elements, which a recipient takes (RFC 9110 §5.6.1). */
const TAG_LIST =
  /^[ \t,]*(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"(?:[ \t]*,[ \t,]*(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")*[ \t,]*$/;

/** Whether the value of a header is a list of entity tags, and nothing else. */
export const isTagList = (header: string): boolean => TAG_LIST.test(header);

/** The entity tags in the value of a header. */
export const tagsIn = (header: string): string[] => header.match(TAGS) ?? [];

/**
 * The reply with an `ETag` of what it says; 304 without a body where `If-None-Match` names that (RFC 9110 §13.1.2). The
 * tag is weak: it is the same for a compressed answer, and stands for no version that an update could name.
 */
export function withEntityTag(requestHeaders: RequestHeaders, { status, headers, body }: Reply): Reply {
  const digest = createHash('sha256')
    .update(`${headers?.Link ?? ''}\n${body}`)
    .digest('base64url');
  const opaque = `"${digest.slice(0, 16)}"`;
  const tagged = { ...headers, ETag: `W/${opaque}` };
  const asked = headerValues(requestHeaders, 'if-none-match').join(', ');
  const tags = tagsIn(asked).map((tag) => tag.replace('W/', ''));
  const isKnown = asked.trim() === '*' || tags.includes(opaque);
  return isKnown ? { status: 304, headers: tagged, body: '' } : { status, headers: tagged, body };
}
