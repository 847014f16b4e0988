import { writeItems } from '../../write-items.ts';
import { AdminError, reasonOf } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { readRecords } from './read-records.ts';
import type { OnProgress, RecordKind, Transfer } from './record-kinds.ts';

/** Faults that are listed one by one; a file with more is likely of another format altogether. */
const MAX_LISTED_FAULTS = 20;

/** The ids of all rows are held in memory: these take a gigabyte. */
const MAX_ROWS = 10_000_000;

/**
 * Loads a file of records into the store.
 *
 * @param target found only once the file is known to be good
 * @returns the number of records written, and where they went
 * @throws AdminError listing the faults of the file, or saying how far it got
 */
export async function importRecords<Entry>(
  file: string,
  kind: RecordKind<Entry>,
  target: () => Promise<Target>,
  onProgress: OnProgress,
): Promise<Transfer> {
  const count = await checkFile(file, kind);
  const store = await target();
  await write(file, kind, store, (written) => onProgress(written, count), count);
  return { count, place: store.place };
}

/** Reads the whole file once before anything is written. @returns the number of rows @throws AdminError listing faults */
async function checkFile<Entry>(file: string, kind: RecordKind<Entry>): Promise<number> {
  /** By value: the digits as text would keep the whole line in memory that they were cut from. */
  const lines = new Map<bigint, number>();
  const listed: string[] = [];
  let faults = 0;
  const add = (line: number, fault: string): void => {
    faults += 1;
    if (faults <= MAX_LISTED_FAULTS) listed.push(`${file}:${line}: ${fault}`);
  };
  for await (const row of readRecords(file, kind)) {
    if ('fault' in row) {
      add(row.line, row.fault);
      continue;
    }
    const id = BigInt(kind.idOf(row.entry));
    const earlier = lines.get(id);
    if (earlier === undefined) lines.set(id, row.line);
    else add(row.line, `${kind.idField} ${id} is on line ${earlier} too`);
    if (lines.size > MAX_ROWS) {
      throw new AdminError(`${file} has more than ${number(MAX_ROWS)} rows: split it. Nothing was written.`);
    }
  }
  if (faults > 0) {
    if (faults > listed.length) listed.push(`… and ${number(faults - listed.length)} more`);
    const rows = faults === 1 ? '1 row is wrong' : `${number(faults)} rows are wrong`;
    throw new AdminError([...listed, `${rows}. Nothing was written.`].join('\n'));
  }
  if (lines.size === 0) throw new AdminError(`${file} has no rows. Nothing was written.`);
  return lines.size;
}

async function write<Entry>(
  file: string,
  kind: RecordKind<Entry>,
  store: Target,
  onWritten: (written: number) => void,
  count: number,
): Promise<void> {
  let written = 0;
  onWritten(written);
  try {
    await writeItems(store.documents, kind.tableOf(store), entriesOf(file, kind), kind.toItem, (added) => {
      written += added;
      onWritten(written);
    });
  } catch (error) {
    throw new AdminError(
      `The import stopped after ${number(written)} of ${number(count)} ${kind.names[1]}: ${reasonOf(error)}. ` +
        'Run the same command again: it writes all of them once more.',
    );
  }
}

async function* entriesOf<Entry>(file: string, kind: RecordKind<Entry>): AsyncGenerator<Entry> {
  for await (const row of readRecords(file, kind)) {
    if ('fault' in row) throw new AdminError(`${file} was changed while it was read (line ${row.line})`);
    yield row.entry;
  }
}

const number = (value: number): string => value.toLocaleString('en');
