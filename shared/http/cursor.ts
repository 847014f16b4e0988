import { createHmac, timingSafeEqual } from 'node:crypto';
import * as v from 'valibot';
import { ServiceError } from '../contract/errors.ts';
import { type Int64, isInt64 } from '../contract/int64.ts';
import { cursorSchema } from '../contract/list-query.ts';

/** Bytes of the signature: enough that nobody guesses one. */
const SIGNATURE_BYTES = 16;

/** A place in a list: after an id, among the entries with a status. */
export interface Place {
  /** The operation that lists. */
  readonly list: string;
  readonly status: string | undefined;
  readonly after: Int64;
}

/** The cursor for a place: opaque, and signed, so that one that was made up or changed is recognised. */
export function encodeCursor({ list, status, after }: Place, secret: Uint8Array): string {
  const id = Buffer.alloc(8);
  id.writeBigInt64BE(BigInt(after));
  return Buffer.concat([id, signature(id, list, status, secret)]).toString('base64url');
}

/**
 * The id that a cursor stands for.
 *
 * @throws ServiceError INVALID_CURSOR for one that was not given out for this list and status
 */
export function decodeCursor(cursor: string, { list, status }: Omit<Place, 'after'>, secret: Uint8Array): Int64 {
  if (!v.is(cursorSchema, cursor)) throw new ServiceError('INVALID_CURSOR');
  const bytes = Buffer.from(cursor, 'base64url');
  const id = bytes.subarray(0, 8);
  const signed = bytes.subarray(8);
  if (bytes.length !== 8 + SIGNATURE_BYTES || bytes.toString('base64url') !== cursor) {
    throw new ServiceError('INVALID_CURSOR');
  }
  if (!timingSafeEqual(signed, signature(id, list, status, secret))) throw new ServiceError('INVALID_CURSOR');
  const after = id.readBigInt64BE().toString();
  if (!isInt64(after)) throw new ServiceError('INVALID_CURSOR');
  return after;
}

function signature(id: Buffer, list: string, status: string | undefined, secret: Uint8Array): Buffer {
  const place = `${list}\n${status ?? ''}\n`;
  return createHmac('sha256', secret).update(place).update(id).digest().subarray(0, SIGNATURE_BYTES);
}
