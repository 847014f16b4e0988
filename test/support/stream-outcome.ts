import type { Readable } from 'node:stream';

export interface StreamOutcome {
  /** What it gave until it ended or failed. */
  readonly given: string;
  /** How it failed; undefined where it ended well. */
  readonly error: unknown;
}

/**
 * Reads a stream to its end, good or bad.
 *
 * @param start when to begin to read
 */
export async function outcomeOf(stream: Readable, start: Promise<unknown> = Promise.resolve()): Promise<StreamOutcome> {
  const chunks: Buffer[] = [];
  const { promise, resolve } = Promise.withResolvers<unknown>();
  stream.once('error', resolve).once('end', () => resolve(undefined));
  await Promise.race([start, promise]);
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  const error = await promise;
  return { given: Buffer.concat(chunks).toString(), error };
}
