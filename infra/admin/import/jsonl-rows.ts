import { createReadStream } from 'node:fs';
import { reasonOf } from '../admin-error.ts';
import { type FileRow, MAX_ROW_BYTES } from './file-row.ts';

const LINE_FEED = 0x0a;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Fields, at any depth, that are int64: as JavaScript numbers they would lose digits. */
const int64Fields = new Set(['id', 'petId']);

/**
 * The rows of a JSON Lines file: a JSON value a line. An int64 comes as its digits, whether it is a number or text.
 *
 * @throws what reading the file throws
 */
export async function* jsonlRows(file: string): AsyncGenerator<FileRow> {
  let line = 0;
  for await (const bytes of linesOf(file)) {
    line += 1;
    if (bytes.length > MAX_ROW_BYTES) {
      yield { line, fault: `is longer than ${MAX_ROW_BYTES} bytes: it must be one record a line` };
      return;
    }
    const row = parse(bytes);
    if (row) yield { line, ...row };
  }
}

/** The lines of a file, as bytes; of one that is too long the beginning, as the last. */
async function* linesOf(file: string): AsyncGenerator<Uint8Array> {
  let rest: Uint8Array = new Uint8Array();
  for await (const chunk of createReadStream(file)) {
    const bytes: Buffer = Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED, start)) {
      yield bytes.subarray(start, end);
      start = end + 1;
    }
    rest = bytes.subarray(start);
    if (rest.length > MAX_ROW_BYTES) break;
  }
  if (rest.length > 0) yield rest;
}

function parse(bytes: Uint8Array): { value: unknown } | { fault: string } | undefined {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return { fault: 'is not UTF-8 text' };
  }
  if (text.trim() === '') return undefined;
  try {
    return { value: parseExactly(text) };
  } catch (error) {
    return { fault: `is not valid JSON (${reasonOf(error)})` };
  }
}

function parseExactly(text: string): unknown {
  return JSON.parse(text, (key, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' && int64Fields.has(key) ? context?.source : value,
  );
}
