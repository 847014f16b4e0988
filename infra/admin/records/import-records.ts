import { Readable } from 'node:stream';
import * as v from 'valibot';
import { recordToJson } from '../../../shared/contract/exact-json.ts';
import { int64AttributeSchema } from '../../../shared/item-attributes.ts';
import { itemsOf } from '../../../shared/stores/sorted-table.ts';
import { inBatches, type Item } from '../../write-items.ts';
import { AdminError, reasonOf } from '../admin-error.ts';
import type { Target } from '../target.ts';
import { counted, formatNumber, visible } from '../text-format.ts';
import { readRecords, type Source } from './read-records.ts';
import type { OnProgress, RecordKind } from './record-kinds.ts';
import { CONCURRENT_WRITES, writeIfUnchanged } from './write-if-unchanged.ts';

/** Wrong rows after which a file is not read further: it is likely of another format altogether. */
const MAX_FAULTS = 20;
/** Changes that are shown: the largest. */
const MAX_SHOWN = 10;
const MAX_VALUE_LENGTH = 60;
/** What one BatchGetItem call takes. */
const READ_SIZE = 100;

/** What an import would change. */
export interface ImportPreview {
  readonly counts: { readonly added: number; readonly changed: number; readonly same: number };
  /** The largest changes in words that are safe to show, the largest first. */
  readonly largest: readonly string[];
  /** Writes the records that are still as they were shown. @throws AdminError saying how far it got */
  readonly write: (onProgress?: OnProgress) => Promise<ImportResult>;
}

export interface ImportResult {
  readonly added: number;
  readonly changed: number;
  /** The ids of records that others have changed since the preview: they are left. */
  readonly changedMeanwhile: readonly string[];
  /** In a sentence, which is safe to show. */
  readonly message: string;
}

/** `3 new, 37 changed, 10 the same.` */
export const countsText = ({ added, changed, same }: ImportPreview['counts']): string =>
  `${formatNumber(added)} new, ${formatNumber(changed)} changed, ${formatNumber(same)} the same.`;

/** A record of the file that differs from what is stored. */
interface Pending {
  readonly id: string;
  /** The item as it was compared; undefined where there was none. */
  readonly before: Item | undefined;
  readonly item: Item;
}

/**
 * Compares a file of records with the store. What differs stays in memory.
 *
 * @param target found only once the file is known to be good
 * @throws AdminError listing the faults of the file
 */
export async function previewImport<Entry>(
  source: Source,
  kind: RecordKind<Entry>,
  target: () => Promise<Target>,
  onProgress: OnProgress = () => undefined,
): Promise<ImportPreview> {
  const total = await checkedCount(source, kind);
  const store = await target();
  const counts = { added: 0, changed: 0, same: 0 };
  const pending: Pending[] = [];
  let largest: Difference[] = [];
  for await (const entries of inBatches(entriesOf(source, kind), READ_SIZE)) {
    const items = await storedItems(store, kind, entries);
    for (const entry of entries) {
      const [id, item] = [kind.idOf(entry), kind.toItem(entry)];
      const before = items.get(BigInt(id));
      // By the schema of files, so that the fields of both are in one order.
      const stored = v.safeParse(kind.schema, v.safeParse(kind.itemSchema, before).output);
      const isSame = stored.success && recordToJson(stored.output) === recordToJson(entry);
      counts[isSame ? 'same' : before ? 'changed' : 'added'] += 1;
      if (!isSame) pending.push({ id, before, item });
      if (before && !isSame)
        largest.push(differenceOf(`${kind.idField} ${id}`, stored.success ? stored.output : undefined, entry));
    }
    largest = largest.toSorted((a, b) => b.size - a.size).slice(0, MAX_SHOWN);
    onProgress(counts.added + counts.changed + counts.same, total);
  }
  const write: ImportPreview['write'] = (onWritten) => writePending(source, kind, store, pending, onWritten);
  return { counts, largest: largest.map(({ text }) => text), write };
}

async function writePending<Entry>(
  { name }: Source,
  kind: RecordKind<Entry>,
  store: Target,
  pending: readonly Pending[],
  onProgress: OnProgress = () => undefined,
): Promise<ImportResult> {
  const done = { added: 0, changed: 0 };
  const changedMeanwhile: string[] = [];
  const write = async ({ id, before, item }: Pending): Promise<void> => {
    if (!(await writeIfUnchanged(store.documents, kind.tableOf(store), before, item)))
      return void changedMeanwhile.push(id);
    done[before ? 'changed' : 'added'] += 1;
    onProgress(done.added + done.changed, pending.length);
  };
  try {
    await Readable.from(pending).forEach(write, { concurrency: CONCURRENT_WRITES });
  } catch (error) {
    throw new AdminError(
      `The import stopped after ${formatNumber(done.added + done.changed)} of ${formatNumber(pending.length)} ` +
        `${kind.names[1]}: ${reasonOf(error)}. Run the same command again: it writes what is left.`,
    );
  }
  const written = counted(done.added + done.changed, ...kind.names);
  const effects = `${formatNumber(done.added)} new, ${formatNumber(done.changed)} changed`;
  return {
    ...done,
    changedMeanwhile,
    message: `Imported ${written} from ${visible(name)} into ${store.place}: ${effects}.`,
  };
}

/** The items that records would replace, by id. */
async function storedItems<Entry>(store: Target, kind: RecordKind<Entry>, entries: readonly Entry[]) {
  const { keyNames } = kind;
  const idOf = (item: Item): bigint => BigInt(v.parse(int64AttributeSchema, item[keyNames.at(-1) ?? '']));
  const keys = entries.map(kind.toItem).map((item) => Object.fromEntries(keyNames.map((name) => [name, item[name]])));
  return new Map((await itemsOf(store.documents, kind.tableOf(store), keys)).map((item) => [idOf(item), item]));
}

interface Difference {
  /** Of its numbers, together. */
  readonly size: number;
  readonly text: string;
}

/** `petId 7: quantity 3 → 10, status sold → available`. */
function differenceOf(record: string, stored: unknown, entry: unknown): Difference {
  if (stored === undefined) return { size: Infinity, text: `${record}: what is stored cannot be read` };
  const [before, after]: Record<string, unknown>[] = [Object(stored), Object(entry)];
  const fields = Object.keys({ ...before, ...after }).map((name) => ({ name, was: before?.[name], is: after?.[name] }));
  const changed = fields.filter(({ was, is }) => valueText(was) !== valueText(is));
  const sizes = changed.map(({ was, is }) => (typeof is === 'number' ? Math.abs(is - Number(was ?? 0)) : 0));
  const texts = changed.map(({ name, was, is }) => `${name} ${short(valueText(was))} → ${short(valueText(is))}`);
  return { size: sizes.reduce((sum, size) => sum + size, 0), text: `${record}: ${texts.join(', ')}` };
}

function valueText(value: unknown): string {
  if (value === undefined) return 'none';
  return typeof value === 'string' ? value : recordToJson(value);
}

function short(text: string): string {
  const safe = visible(text);
  return safe.length > MAX_VALUE_LENGTH ? `${safe.slice(0, MAX_VALUE_LENGTH)}…` : safe;
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
