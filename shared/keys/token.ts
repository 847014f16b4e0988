import { createHash, randomInt } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const PREFIX = 'psk_';
const HANDLE_LENGTH = 16;
const SECRET_LENGTH = 24;
const CHECKSUM_LENGTH = 6;
const LENGTH = PREFIX.length + HANDLE_LENGTH + SECRET_LENGTH + CHECKSUM_LENGTH;
/** Before the handle in a record id: it makes a value that API Gateway takes for a key (20 characters or more). */
const RECORD_PREFIX = 'petstoreinventory';

const BASE62 = /^[0-9A-Za-z]+$/;
/** API Gateway's bounds for the value of a key, in the characters a bearer token can carry (RFC 6750 §2.1). */
const FOREIGN_FORMAT = /^[A-Za-z0-9._~+/-]+={0,2}$/;
const HEX_HASH = /^[0-9a-f]{64}$/i;

/**
 * What a client sends to prove who it is, taken apart: `psk_`, 16 characters that find the key (its handle: no secret),
 * 24 that prove it (142 bits), 6 of checksum. Or the value of a key that an admin has made in the AWS console.
 */
export interface Token {
  /** Partition key of the key's item: `petstoreinventory` and the handle; the SHA-256 of a value from the console. */
  readonly recordId: string;
  /** What the item has in place of the token: its SHA-256 in base64url. */
  readonly hash: string;
  /** What API Gateway knows the key by: the record id; the value itself of a key from the console. */
  readonly usageIdentifier: string;
}

/** A new token: of a new key, or of the one with this record id, which must be of an issued key. */
export function generateToken(recordId = RECORD_PREFIX + randomText(HANDLE_LENGTH)): string {
  return tokenFrom(recordId.slice(RECORD_PREFIX.length) + randomText(SECRET_LENGTH));
}

/** The token with these 40 base62 characters: handle and secret. */
export const tokenFrom = (handleAndSecret: string): string => PREFIX + handleAndSecret + checksum(handleAndSecret);

/**
 * Takes a bearer token apart, without the database; undefined for one that can be of no key. Ours must carry the right
 * checksum. A record id opens nothing, nor does a text of 64 hex digits: those are keys of internal usage plans.
 */
export function parseToken(text: string): Token | undefined {
  if (text.startsWith(PREFIX)) {
    const handleAndSecret = text.slice(PREFIX.length, -CHECKSUM_LENGTH);
    if (text.length !== LENGTH || !BASE62.test(handleAndSecret) || text !== tokenFrom(handleAndSecret))
      return undefined;
    const recordId = RECORD_PREFIX + handleAndSecret.slice(0, HANDLE_LENGTH);
    return { recordId, hash: hashToken(text), usageIdentifier: recordId };
  }
  const canBeKey = text.length >= 20 && text.length <= 128 && FOREIGN_FORMAT.test(text);
  if (!canBeKey || HEX_HASH.test(text) || isIssued(text)) return undefined;
  return { recordId: sha256(text).toString('hex'), hash: hashToken(text), usageIdentifier: text };
}

/** Whether the record, or the value that API Gateway has, is that of a key which the admin command made. */
export const isIssued = (recordIdOrValue: string): boolean =>
  recordIdOrValue.length === RECORD_PREFIX.length + HANDLE_LENGTH &&
  recordIdOrValue.startsWith(RECORD_PREFIX) &&
  BASE62.test(recordIdOrValue);

const OWN_TOKEN = /psk_[0-9A-Za-z]{8,}/g;

/** Text with what may be a token of ours in it left out. */
export const withoutTokens = (text: string): string => text.replaceAll(OWN_TOKEN, '…');

/** Whether text may have a token in it, or a key that AWS made: 20 letters and digits or more. */
export const mayHaveToken = (text: string): boolean =>
  withoutTokens(text) !== text || /(?<![0-9A-Za-z])(?=[A-Za-z]{0,200}[0-9])[0-9A-Za-z]{20}/.test(text);

export const hashToken = (token: string): string => sha256(token).toString('base64url');

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

const randomText = (length: number): string =>
  Array.from({ length }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join('');

/** Six base62 digits of the first 32 bits of the SHA-256. It catches typos; it is no secret. */
function checksum(handleAndSecret: string): string {
  let rest = sha256(handleAndSecret).readUInt32BE();
  let digits = '';
  while (digits.length < CHECKSUM_LENGTH) {
    digits = ALPHABET.charAt(rest % ALPHABET.length) + digits;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return digits;
}
