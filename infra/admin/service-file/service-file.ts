import { isDeepStrictEqual } from 'node:util';
import { AdminError, reasonOf } from '../admin-error.ts';
import { jsonlRows, type Source } from '../records/read-records.ts';
import type { Section } from './sections.ts';

// JSON Lines: a header, a line for each record (`{"stock":{…}}`), section by section, and an end with their numbers. There
// is no time in it, so that the same service gives the same bytes.

const header = { format: 'pet-store-inventory', version: 1 };

/** Numbers of records, by section. */
export type Counts = Record<string, number>;

export const noCounts = (sections: readonly Section<unknown>[]): Counts =>
  Object.fromEntries(sections.map(({ name }) => [name, 0]));

/** @param counts is kept up to date @param onCounted called each time */
export async function* serviceText(
  sections: readonly Section<unknown>[],
  counts: Counts,
  onCounted: () => void,
): AsyncGenerator<string> {
  yield `${JSON.stringify(header)}\n`;
  for (const section of sections) {
    for await (const entries of section.all()) {
      yield entries.map((entry) => `{"${section.name}":${section.toJson(entry)}}\n`).join('');
      counts[section.name] = (counts[section.name] ?? 0) + entries.length;
      onCounted();
    }
  }
  yield `${JSON.stringify({ end: counts })}\n`;
}

/** Some records of one section. */
export interface Batch {
  readonly section: Section<unknown>;
  readonly entries: unknown[];
}

/** What one BatchGetItem call takes. */
const BATCH_SIZE = 100;

/** Reads a file, some records at a time. @throws AdminError with the first fault: a program wrote it, and likely another */
export async function* readServiceFile(source: Source, sections: readonly Section<unknown>[]): AsyncGenerator<Batch> {
  let batch: Batch | undefined;
  for await (const { section, entry } of rowsOf(source, sections)) {
    if (batch && (batch.section !== section || batch.entries.length === BATCH_SIZE)) {
      yield batch;
      batch = undefined;
    }
    batch ??= { section, entries: [] };
    batch.entries.push(entry);
  }
  if (batch) yield batch;
}

async function* rowsOf(source: Source, sections: readonly Section<unknown>[]) {
  const counts = noCounts(sections);
  let last: { readonly at: number; readonly id: bigint | string } | undefined;
  let end: unknown;
  for await (const row of linesOf(source)) {
    const refusal = (fault: string) => new AdminError(`${source.name} cannot be imported: line ${row.line} ${fault}.`);
    if ('fault' in row) throw refusal(row.fault);
    if (row.line === 1) {
      if (isDeepStrictEqual(row.value, header)) continue;
      throw refusal(`must be ${JSON.stringify(header)}; for another version, take the release that has written it`);
    }
    if (end !== undefined) throw refusal('stands after the end');
    const [name = '', value] = Object.entries(row.value ?? {})[0] ?? [];
    if (name === 'end') {
      end = value;
      continue;
    }
    const at = sections.findIndex((each) => each.name === name);
    const section = sections[at];
    if (!section) throw refusal(`must be of ${sections.map((each) => each.name).join(', ')} or the end`);
    const checked = section.check(value);
    if ('fault' in checked) throw refusal(`is wrong: ${checked.fault}`);
    const id = section.idOf(checked.entry);
    if (last && (at < last.at || (at === last.at && id <= last.id))) throw refusal('is out of order, or here twice');
    last = { at, id };
    counts[name] = (counts[name] ?? 0) + 1;
    yield { section, entry: checked.entry };
  }
  if (isDeepStrictEqual(end, counts)) return;
  throw new AdminError(`${source.name} cannot be imported: its end is missing, or has other numbers. It was cut off.`);
}

async function* linesOf(source: Source) {
  try {
    yield* jsonlRows(source);
  } catch (error) {
    throw new AdminError(`Cannot read ${source.name}: ${reasonOf(error)}.`);
  }
}
