import { createHash, randomInt } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const PREFIX = 'psk_';
const RANDOM_LENGTH = 40;
const CHECKSUM_LENGTH = 6;

const OUR_LENGTH = PREFIX.length + RANDOM_LENGTH + CHECKSUM_LENGTH;
/** API Gateway's bounds for the value of a key, in the characters a bearer token can carry (RFC 6750 §2.1). */
const FOREIGN_FORMAT = /^(?=.{20,128}$)[A-Za-z0-9._~+/-]+={0,2}$/;
const HASH_FORMAT = /^[0-9a-f]{64}$/i;

/** A new API key: `psk_`, 40 random base62 characters, 6 characters of checksum. Some 238 bits of randomness. */
export function generateApiKey(): string {
  return apiKeyFrom(Array.from({ length: RANDOM_LENGTH }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join(''));
}

/** The API key with these 40 base62 characters. */
export function apiKeyFrom(random: string): string {
  return PREFIX + random + checksum(random);
}

/** What the service stores instead of a key: its SHA-256 as 64 hex digits. */
export function hashApiKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

/** Whether a text is a hash as {@link hashApiKey} makes it. */
export function isKeyHash(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}

/**
 * Whether a bearer token could be a key at all, decided without the database. Ours must carry the right checksum; a
 * key made in the AWS console can be any 20 to 128 characters, except 64 hex digits: those are always a stored hash,
 * so that whoever can read API Gateway's key values holds nothing that opens the door.
 */
export function isPlausibleApiKey(token: string): boolean {
  if (!token.startsWith(PREFIX)) return FOREIGN_FORMAT.test(token) && !HASH_FORMAT.test(token);
  const random = token.slice(PREFIX.length, -CHECKSUM_LENGTH);
  return token.length === OUR_LENGTH && /^[0-9A-Za-z]+$/.test(random) && token === apiKeyFrom(random);
}

/** Six base62 digits of the first 32 bits of the SHA-256. It catches typos; it is no secret. */
function checksum(random: string): string {
  let rest = createHash('sha256').update(random).digest().readUInt32BE();
  let digits = '';
  while (digits.length < CHECKSUM_LENGTH) {
    digits = ALPHABET.charAt(rest % ALPHABET.length) + digits;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return digits;
}
