import { createHash } from 'node:crypto';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { ServiceError } from '../contract/errors.ts';
import type { IdempotentRequest } from '../stores/idempotent-updates.ts';
import { parseLineage } from './authorizer-context.ts';
import { headerValues } from './request.ts';

/** Entity tags that one request may name, and their length with commas and quotes. */
const MAX_TAGS = 20;
const MAX_TAGS_LENGTH = 2_000;

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
  const values = headerValues(event, 'If-Match');
  const header = values.join(', ');
  if (values.length === 0 || header.trim() === '*') return undefined;
  const tags = header.match(new RegExp(TAG, 'g')) ?? [];
  if (header.length > MAX_TAGS_LENGTH || tags.length > MAX_TAGS || !TAGS.test(header)) {
    const message = `If-Match must be * or at most ${MAX_TAGS} entity tags such as "mX0aVbq3Zk1T", as an ETag header has them.`;
    throw new ServiceError('INVALID_HEADER', { message });
  }
  return tags.map((tag) => OURS.exec(tag)?.[1] ?? tag);
}

const MAX_KEY_LENGTH = 255;

/** A structured field string (RFC 9651 §3.3.3): printable ASCII in quotes, with `"` and `\` escaped. */
const QUOTED = /^"((?:[ !#-[\]-~]|\\["\\])*)"$/;
/** As many clients send it: without the quotes. */
const BARE = /^[!#-[\]-~]+$/;

/**
 * The request by its `Idempotency-Key` (IETF draft-ietf-httpapi-idempotency-key-header); undefined where none is sent.
 * It belongs to the lineage of the API key, so that it is the same request after a rotation.
 *
 * @param asked all that the request asks for
 * @throws ServiceError INVALID_HEADER
 */
export function idempotentRequest(event: APIGatewayProxyEvent, asked: unknown): IdempotentRequest | undefined {
  const values = headerValues(event, 'Idempotency-Key');
  if (values.length === 0) return undefined;
  const lineage = parseLineage(event.requestContext.authorizer);
  return { requestId: digest([lineage, parseIdempotencyKey(values)]), fingerprint: digest(asked) };
}

function parseIdempotencyKey([text = '', ...others]: readonly string[]): string {
  const key = QUOTED.exec(text.trim())?.[1]?.replaceAll(/\\(["\\])/g, '$1') ?? BARE.exec(text.trim())?.[0] ?? '';
  if (others.length > 0 || key === '' || key.length > MAX_KEY_LENGTH) {
    const message = `Idempotency-Key must be one text of 1 to ${MAX_KEY_LENGTH} visible characters in quotes, such as "8e03978e-40d5-43dd-bc93-6894a57f9324".`;
    throw new ServiceError('INVALID_HEADER', { message });
  }
  return key;
}

const digest = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('hex');
