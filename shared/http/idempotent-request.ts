import { createHash } from 'node:crypto';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { ServiceError } from '../contract/errors.ts';
import type { IdempotentRequest } from '../stores/idempotent-updates.ts';
import { parseLineage } from './authorizer-context.ts';
import { requestHeader } from './request-header.ts';

const MAX_LENGTH = 255;

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
  const values = requestHeader(event, 'Idempotency-Key');
  if (values.length === 0) return undefined;
  const lineage = parseLineage(event.requestContext.authorizer);
  return { requestId: digest([lineage, parseKey(values)]), fingerprint: digest(asked) };
}

function parseKey(values: readonly string[]): string {
  const [text = ''] = values;
  const key = QUOTED.exec(text.trim())?.[1]?.replaceAll(/\\(["\\])/g, '$1') ?? BARE.exec(text.trim())?.[0] ?? '';
  if (values.length > 1 || key === '' || key.length > MAX_LENGTH) {
    const message = `Idempotency-Key must be one text of 1 to ${MAX_LENGTH} visible characters in quotes, such as "${EXAMPLE}".`;
    throw new ServiceError('INVALID_HEADER', { message });
  }
  return key;
}

const EXAMPLE = '8e03978e-40d5-43dd-bc93-6894a57f9324';

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}
