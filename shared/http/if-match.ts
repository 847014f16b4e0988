import type { APIGatewayProxyEvent } from 'aws-lambda';
import { ServiceError } from '../contract/errors.ts';
import { requestHeader } from './request-header.ts';

/** Entity tags that one request may name. */
const MAX_TAGS = 20;
const MAX_LENGTH = 2_000;

/** `"…"` or `W/"…"` (RFC 9110 §8.8.3). */
const TAG = String.raw`(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"`;
const TAGS = new RegExp(String.raw`^[ \t,]*${TAG}(?:[ \t]*,[ \t,]*${TAG})*[ \t,]*$`);

/** A tag that a stock entry can have. */
const OURS = /^"([\w-]+)"$/;

/**
 * The versions that `If-Match` names; undefined where it is not sent, or is `*`. A tag that is weak or not ours stays in
 * its quotes, and matches no version (RFC 9110 §13.1.1).
 *
 * @throws ServiceError INVALID_HEADER
 */
export function ifMatchVersions(event: APIGatewayProxyEvent): readonly string[] | undefined {
  const values = requestHeader(event, 'If-Match');
  const header = values.join(', ');
  if (values.length === 0 || header.trim() === '*') return undefined;
  if (header.length > MAX_LENGTH || !TAGS.test(header)) throw malformed();
  const tags = header.match(new RegExp(TAG, 'g')) ?? [];
  if (tags.length > MAX_TAGS) throw malformed();
  return tags.map((tag) => OURS.exec(tag)?.[1] ?? tag);
}

function malformed(): ServiceError {
  const message = `If-Match must be * or at most ${MAX_TAGS} entity tags such as "mX0aVbq3Zk1T", as an ETag header has them.`;
  return new ServiceError('INVALID_HEADER', { message });
}
