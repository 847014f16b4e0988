import type { KeyRecord, TokenRecord } from './key-record.ts';

// Apart from the schema of records, which brings the client of DynamoDB into every bundle that has it.

/** A time that never comes: the last moment that JavaScript has, in Unix milliseconds. */
export const NEVER = 8_640_000_000_000_000;

/** A token of a key that works at a time; undefined where it is none, or has ended. @param now Unix milliseconds */
export function workingToken({ tokens }: KeyRecord, hash: string, now: number): TokenRecord | undefined {
  const token = Object.hasOwn(tokens, hash) ? tokens[hash] : undefined;
  return token && token.until > now ? token : undefined;
}
