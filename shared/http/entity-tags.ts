import { createHash } from 'node:crypto';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { Reply } from './operation-handler.ts';
import { headerValues } from './request.ts';

/** `"…"` or `W/"…"` (RFC 9110 §8.8.3). */
export const TAG = String.raw`(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"`;

/**
 * The reply with an `ETag` of what it says; 304 without a body where `If-None-Match` names that (RFC 9110 §13.1.2). The
 * tag is weak: it is the same for a compressed answer, and stands for no version that an update could name.
 */
export function withEntityTag(event: APIGatewayProxyEvent, { status, headers, body }: Reply): Reply {
  const said = createHash('sha256')
    .update(`${headers?.Link ?? ''}\n${body}`)
    .digest('base64url');
  const opaque = `"${said.slice(0, 16)}"`;
  const tagged = { ...headers, ETag: `W/${opaque}` };
  const asked = headerValues(event, 'If-None-Match').join(', ');
  const tags = (asked.match(new RegExp(TAG, 'g')) ?? []).map((tag) => tag.replace('W/', ''));
  const isKnown = asked.trim() === '*' || tags.includes(opaque);
  return isKnown ? { status: 304, headers: tagged, body: '' } : { status, headers: tagged, body };
}
