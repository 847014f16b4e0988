import type { Int64 } from '../../../shared/contract/int64.ts';
import { writeItems } from '../../write-items.ts';
import { AdminError, reasonOf } from '../admin-error.ts';
import { number } from '../output.ts';
import { progressBar } from '../progress-bar.ts';
import type { Target } from '../target.ts';
import { readRecords } from './read-records.ts';
import type { RecordKind } from './record-kind.ts';

/** Faults that are listed one by one; a file with more is likely of another format altogether. */
const MAX_LISTED_FAULTS = 20;

/** The ids of all rows are held in memory: these take a gigabyte. */
const MAX_ROWS = 10_000_000;

/** Entries that went from one place to another. */
export interface Transfer {
  readonly count: number;
  /** For messages: the store. */
  readonly place: string;
}

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
): Promise<Transfer> {
  const count = await checkFile(file, kind);
  const store = await target();
  await write(file, kind, count, store);
  return { count, place: store.place };
}

/** Reads the whole file once before anything is written. @returns the number of rows @throws AdminError listing faults */
async function checkFile<Entry>(file: string, kind: RecordKind<Entry>): Promise<number> {
  const ids = new SeenIds();
  const faults = new Faults(file);
  for await (const row of readRecords(file, kind)) {
    if ('fault' in row) {
      faults.add(row.line, row.fault);
      continue;
    }
    const id = kind.idOf(row.entry);
    const earlier = ids.see(id, row.line);
    if (earlier !== undefined) faults.add(row.line, `${kind.idField} ${id} is on line ${earlier} too`);
    if (ids.count > MAX_ROWS) {
      throw new AdminError(`${file} has more than ${number(MAX_ROWS)} rows: split it. Nothing was written.`);
    }
  }
  faults.throwIfAny();
  if (ids.count === 0) throw new AdminError(`${file} has no rows. Nothing was written.`);
  return ids.count;
}

class SeenIds {
  /** By value: the digits as text would keep the whole line in memory that they were cut from. */
  readonly #lines = new Map<bigint, number>();

  get count(): number {
    return this.#lines.size;
  }

  /** Notes an id. @returns the line that it was on before */
  see(id: Int64, line: number): number | undefined {
    const value = BigInt(id);
    const earlier = this.#lines.get(value);
    if (earlier === undefined) this.#lines.set(value, line);
    return earlier;
  }
}

class Faults {
  readonly #file: string;
  readonly #listed: string[] = [];
  #count = 0;

  constructor(file: string) {
    this.#file = file;
  }

  add(line: number, fault: string): void {
    this.#count += 1;
    if (this.#listed.length < MAX_LISTED_FAULTS) this.#listed.push(`${this.#file}:${line}: ${fault}`);
  }

  throwIfAny(): void {
    if (this.#count === 0) return;
    const more = this.#count - this.#listed.length;
    const rest = more > 0 ? [`… and ${number(more)} more`] : [];
    const rows = this.#count === 1 ? '1 row is wrong' : `${number(this.#count)} rows are wrong`;
    throw new AdminError([...this.#listed, ...rest, `${rows}. Nothing was written.`].join('\n'));
  }
}

async function write<Entry>(file: string, kind: RecordKind<Entry>, count: number, target: Target): Promise<void> {
  const bar = progressBar('Writing');
  let written = 0;
  bar.start(count, 0);
  try {
    await writeItems(target.documents, kind.tableOf(target), entriesOf(file, kind), kind.toItem, (added) => {
      written += added;
      bar.update(written);
    });
  } catch (error) {
    throw new AdminError(
      `The import stopped after ${number(written)} of ${number(count)} ${kind.names[1]}: ${reasonOf(error)}. ` +
        'Run the same command again: it writes all of them once more.',
    );
  } finally {
    bar.stop();
  }
}

async function* entriesOf<Entry>(file: string, kind: RecordKind<Entry>): AsyncGenerator<Entry> {
  for await (const row of readRecords(file, kind)) {
    if ('fault' in row) throw new AdminError(`${file} was changed while it was read (line ${row.line})`);
    yield row.entry;
  }
}
