import { writeItems } from '../../write-items.ts';
import { AdminError, reasonOf } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { counted, formatNumber, visible } from '../text-format.ts';
import { readRecords, type Source } from './read-records.ts';
import { type OnProgress, type RecordKind, type Transfer } from './record-kinds.ts';

/** Wrong rows after which a file is not read further: it is likely of another format altogether. */
const MAX_FAULTS = 20;

/**
 * Loads a file of records into the store.
 *
 * @param target found only once the file is known to be good
 * @returns what was written
 * @throws AdminError listing the faults of the file, or saying how far it got
 */
export async function importRecords<Entry>(
  source: Source,
  kind: RecordKind<Entry>,
  target: () => Promise<Target>,
  onProgress: OnProgress = () => undefined,
): Promise<Transfer> {
  const count = await checkedCount(source, kind);
  const store = await target();
  let written = 0;
  onProgress(written, count);
  try {
    await writeItems(store.documents, kind.tableOf(store), entriesOf(source, kind), kind.toItem, (added) => {
      written += added;
      onProgress(written, count);
    });
  } catch (error) {
    throw new AdminError(
      `The import stopped after ${formatNumber(written)} of ${formatNumber(count)} ${kind.names[1]}: ${reasonOf(error)}. ` +
        'Run the same command again: it writes all of them once more.',
    );
  }
  return {
    count,
    message: `Imported ${counted(count, ...kind.names)} from ${visible(source.name)} into ${store.place}.`,
  };
}

/** Reads the whole file before anything is written. @returns the number of rows @throws AdminError listing faults */
async function checkedCount<Entry>(source: Source, kind: RecordKind<Entry>): Promise<number> {
  /** By value: the digits as text would keep the whole line in memory that they were cut from. */
  const lines = new Map<bigint, number>();
  const faults: string[] = [];
  const add = (line: number, fault: string): void => void faults.push(`${source.name}:${line}: ${fault}`);
  for await (const row of readRecords(source, kind)) {
    if ('fault' in row) add(row.line, row.fault);
    else {
      const id = BigInt(kind.idOf(row.entry));
      const earlier = lines.get(id);
      if (earlier === undefined) lines.set(id, row.line);
      else add(row.line, `${kind.idField} ${id} is on line ${earlier} too`);
    }
    if (faults.length < MAX_FAULTS) continue;
    throw new AdminError(
      ...faults,
      `After ${MAX_FAULTS} wrong rows the file was not read further. Nothing was written.`,
    );
  }
  if (faults.length > 0) {
    const rows = faults.length === 1 ? '1 row is wrong' : `${faults.length} rows are wrong`;
    throw new AdminError(...faults, `${rows}. Nothing was written.`);
  }
  if (lines.size === 0) throw new AdminError(`${source.name} has no rows. Nothing was written.`);
  return lines.size;
}

async function* entriesOf<Entry>(source: Source, kind: RecordKind<Entry>): AsyncGenerator<Entry> {
  for await (const row of readRecords(source, kind)) {
    if ('fault' in row) throw new AdminError(`${source.name} was changed while it was read (line ${row.line})`);
    yield row.entry;
  }
}
