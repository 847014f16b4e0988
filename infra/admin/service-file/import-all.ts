import { AdminError, reasonOf } from '../admin-error.ts';
import type { Source } from '../records/read-records.ts';
import type { OnProgress } from '../records/record-kinds.ts';
import type { Target } from '../target.ts';
import { number } from '../text-format.ts';
import { KeySection, type NewId } from './key-section.ts';
import { recordSections, type Section } from './sections.ts';
import { type Counts, noCounts, readServiceFile } from './service-file.ts';

export interface Import {
  readonly imported: Readonly<Counts>;
  /** Records that were there already, as they are in the file. */
  readonly same: number;
  /** Records that were there already, differ from the file, and were left as they are. */
  readonly kept: number;
  readonly keys: readonly NewId[];
}

/** Differences that are listed one by one. */
const MAX_LISTED = 20;

/**
 * Adds what a file of {@link exportAll} has and the service has not. It replaces nothing, so that it may be repeated. The
 * keys come last: none is let in before there is what it asks for.
 *
 * @param keepExisting leave what is there and differs as it is, instead of refusing the file
 * @throws AdminError with what is wrong with the file, what is there already, or how far it got
 */
export async function importAll(
  source: Source,
  target: Target,
  keepExisting: boolean,
  onProgress: OnProgress,
): Promise<Import> {
  const keys = new KeySection(target);
  const sections = [...recordSections(target), keys];
  let total = 0;
  for await (const { entries } of readServiceFile(source, sections)) total += entries.length;
  if (!keepExisting) await refuseOther(source, sections);
  const imported = noCounts(sections);
  const present = { same: 0, kept: 0 };
  let done = 0;
  onProgress(done, total);
  try {
    for await (const { section, entries } of readServiceFile(source, sections)) {
      const existing = await section.existing(entries);
      const absent = entries.filter((_, index) => existing[index] === 'absent');
      await section.add(absent);
      imported[section.name] = (imported[section.name] ?? 0) + absent.length;
      for (const each of existing) if (each !== 'absent') present[each === 'same' ? each : 'kept'] += 1;
      onProgress((done += entries.length), total);
    }
  } catch (error) {
    throw new AdminError(
      `The import stopped after ${number(done)} of ${number(total)} records: ${reasonOf(error)}. ` +
        'Run the same command again: it completes what was cut off.',
    );
  }
  return { imported, ...present, keys: [...keys.newIds.values()] };
}

/** @throws AdminError listing what the service has, and the file has otherwise */
async function refuseOther(source: Source, sections: readonly Section<unknown>[]): Promise<void> {
  const others: string[] = [];
  for await (const { section, entries } of readServiceFile(source, sections)) {
    for (const each of await section.existing(entries)) if (typeof each === 'object') others.push(each.other);
    if (others.length > MAX_LISTED) break;
  }
  if (others.length === 0) return;
  const more = others.length > MAX_LISTED ? ['…'] : [];
  throw new AdminError(
    ...others.slice(0, MAX_LISTED).map((other) => `There already, and different: ${other}`),
    ...more,
    'Nothing was written. To leave these as they are, and import the rest, add --keep-existing.',
  );
}
