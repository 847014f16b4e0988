import { Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { recordToJson } from '../../../shared/contract/exact-json.ts';
import type { Int64 } from '../../../shared/contract/int64.ts';
import { int64AttributeSchema, type Item } from '../../../shared/item-attributes.ts';
import { itemsOf } from '../../../shared/stores/sorted-table.ts';
import { AdminError, reasonOf } from '../service/failures.ts';
import type { Target } from '../service/target.ts';
import { counted, countsText, formatNumber, truncated, visible } from '../service/text.ts';
import { readRecords, type Source } from './read-records.ts';
import type { OnProgress, RecordKind } from './record-kinds.ts';
import { CONCURRENT_WRITES, type ItemChange, writeIfUnchanged } from './write-if-unchanged.ts';

/** Maximum invalid rows: after them a file is not read further, as it probably has another format. */
const MAX_FAULTS = 20;
/** Maximum items of one BatchGetItem call. */
const READ_SIZE = 100;

export type ImportPreview = Awaited<ReturnType<typeof previewImport>>;

/** `3 new, 37 changed, 10 the same.` */
export const differencesText = ({ added, changed, same }: ImportPreview['counts']): string =>
  `${countsText({ new: added, changed, 'the same': same })}.`;

/** A record of the file that differs from the stored one. */
interface Pending extends ItemChange {
  readonly id: Int64;
}

/**
 * Compares a file of records, which is kept in memory, with the store.
 *
 * @returns the counts; the largest changes and a title; a function that writes all
 * @throws AdminError with the errors of the file
 */
export async function previewImport<Entry>(
  store: Target,
  source: Source,
  kind: RecordKind<Entry>,
  onProgress: OnProgress = () => undefined,
) {
  const all = await checkedEntries(source, kind);
  const counts = { added: 0, changed: 0, same: 0 };
  const pending: Pending[] = [];
  let largest: ReturnType<typeof differenceOf>[] = [];
  for (let at = 0; at < all.length; at += READ_SIZE) {
    const entries = all.slice(at, at + READ_SIZE);
    const items = await storedItems(store, kind, entries);
    for (const entry of entries) {
      const [id, after] = [kind.idOf(entry), kind.toItem(entry)];
      const before = items.get(id);
      // Parsed by the schema of files, so that the fields of both have the same order.
      const stored = v.safeParse(kind.schema, v.safeParse(kind.itemSchema, before).output);
      const isSame = stored.success && recordToJson(stored.output) === recordToJson(entry);
      counts[isSame ? 'same' : before ? 'changed' : 'added'] += 1;
      if (!isSame) pending.push({ id, before, after });
      if (before && !isSame)
        largest.push(differenceOf(`${kind.idField} ${id}`, stored.success ? stored.output : undefined, entry));
    }
    largest = largest.toSorted((a, b) => b.size - a.size).slice(0, 10);
    onProgress(counts.added + counts.changed + counts.same, all.length);
  }
  const write = (onWritten?: OnProgress, reason?: string) =>
    writePending(source, kind, store, pending, onWritten, reason);
  const shown = largest.length < counts.changed ? ` (${largest.length} of ${formatNumber(counts.changed)})` : '';
  return { counts, largest: largest.map(({ text }) => text), largestTitle: `Largest changes${shown}`, write };
}

/** Writes what no other command has changed since the preview. @throws AdminError with the progress */
async function writePending<Entry>(
  { name }: Source,
  kind: RecordKind<Entry>,
  store: Target,
  pending: readonly Pending[],
  onProgress: OnProgress = () => undefined,
  reason?: string,
) {
  const done = { added: 0, changed: 0, changedMeanwhile: [] as Int64[] };
  const write = async ({ id, before, after }: Pending): Promise<void> => {
    if (!(await writeIfUnchanged(store, kind.table, { before, after }, { how: 'import', reason })))
      return void done.changedMeanwhile.push(id);
    done[before ? 'changed' : 'added'] += 1;
    onProgress(done.added + done.changed, pending.length);
  };
  try {
    await Readable.from(pending).forEach(write, { concurrency: CONCURRENT_WRITES });
  } catch (error) {
    throw new AdminError(
      `The import stopped after ${formatNumber(done.added + done.changed)} of ${formatNumber(pending.length)} ` +
        `${kind.names[1]}: ${reasonOf(error)}. Run the same command again: it writes the rest.`,
    );
  }
  const written = counted(done.added + done.changed, ...kind.names);
  const effects = countsText({ new: done.added, changed: done.changed });
  const imported = `Imported ${written} from ${visible(name)} into ${store.place}: ${effects}.`;
  const nothing = `Nothing to import: ${store.place} has all these ${kind.names[1]}.`;
  return { ...done, message: pending.length === 0 ? nothing : imported };
}

async function storedItems<Entry>(
  { documents, tables }: Target,
  { table, keyNames, toItem }: RecordKind<Entry>,
  entries: readonly Entry[],
): Promise<Map<Int64, Item>> {
  const idOf = (item: Item): Int64 => v.parse(int64AttributeSchema, item[keyNames.at(-1) ?? '']);
  const keys = entries.map(toItem).map((item) => Object.fromEntries(keyNames.map((name) => [name, item[name]])));
  return new Map((await itemsOf(documents, tables[table], keys)).map((item) => [idOf(item), item]));
}

/** Such as `petId 7: quantity 3 → 10, status sold → available`; its size is the sum of the numeric changes. */
function differenceOf(record: string, stored: unknown, entry: unknown) {
  if (stored === undefined) return { size: Infinity, text: `${record}: the stored record cannot be read` };
  const [before, after]: Record<string, unknown>[] = [Object(stored), Object(entry)];
  const fields = Object.keys({ ...before, ...after }).map((name) => ({ name, was: before?.[name], is: after?.[name] }));
  const changed = fields.filter(({ was, is }) => !isDeepStrictEqual(was, is));
  const sizes = changed.map(({ was, is }) => (typeof is === 'number' ? Math.abs(is - Number(was ?? 0)) : 0));
  const texts = changed.map(({ name, was, is }) => `${name} ${valueText(was)} → ${valueText(is)}`);
  return { size: sizes.reduce((sum, size) => sum + size, 0), text: `${record}: ${texts.join(', ')}` };
}

function valueText(value: unknown): string {
  if (value === undefined) return 'none';
  return truncated(typeof value === 'string' ? value : recordToJson(value), 60);
}

/** Reads and validates the whole file before any write. @throws AdminError with its errors */
async function checkedEntries<Entry>(source: Source, kind: RecordKind<Entry>): Promise<Entry[]> {
  const entries: Entry[] = [];
  const lines = new Map<Int64, number>();
  const faults: string[] = [];
  for await (const row of readRecords(source, kind)) {
    const id = 'entry' in row ? kind.idOf(row.entry) : undefined;
    const earlier = id && lines.get(id);
    if ('fault' in row) faults.push(`${source.name}:${row.line}: ${row.fault}`);
    else if (earlier !== undefined)
      faults.push(`${source.name}:${row.line}: ${kind.idField} ${id} is also on line ${earlier}`);
    else entries.push(row.entry);
    if (id !== undefined && earlier === undefined) lines.set(id, row.line);
    if (faults.length < MAX_FAULTS) continue;
    throw new AdminError(...faults, `Stopped after ${MAX_FAULTS} invalid rows. Nothing was written.`);
  }
  const rows = faults.length === 1 ? '1 row is invalid' : `${faults.length} rows are invalid`;
  if (faults.length > 0) throw new AdminError(...faults, `${rows}. Nothing was written.`);
  if (entries.length === 0) throw new AdminError(`${source.name} has no rows. Nothing was written.`);
  return entries;
}
