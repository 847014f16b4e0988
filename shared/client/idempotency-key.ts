/**
 * The value of `Idempotency-Key`, a structured field string (IETF draft "The Idempotency-Key HTTP Header Field").
 *
 * @param key made here where the caller has none
 * @throws TypeError where the key cannot be sent
 */
export function idempotencyKeyHeader(key: string = randomKey()): string {
  if (/^[\x21-\x7e]{1,255}$/.test(key)) return `"${key.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
  throw new TypeError('idempotencyKey must be 1 to 255 visible ASCII characters');
}

/** 128 random bits. `crypto.randomUUID` is missing on pages without HTTPS. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
