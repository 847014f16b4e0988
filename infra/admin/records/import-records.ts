import { hash } from 'node:crypto';
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

/**
 * Compares a file of records with the store.
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
  /** Of the records that differ: a digest, as a file may have millions of rows. */
  const shown = new Map<bigint, string>();
  let largest: Difference[] = [];
  let compared = 0;
  onProgress(compared, total);
  for await (const row of comparisons(source, kind, store)) {
    counts[row.effect] += 1;
    if (row.effect !== 'same') shown.set(row.id, row.digest);
    if (row.effect === 'changed') {
      const difference = differenceOf(row, kind);
      if (largest.length < MAX_SHOWN || difference.size > (largest.at(-1)?.size ?? 0))
        largest = [...largest, difference].toSorted((a, b) => b.size - a.size).slice(0, MAX_SHOWN);
    }
    onProgress((compared += 1), total);
  }
  const write: ImportPreview['write'] = (onWritten) => writeShown(source, kind, store, shown, onWritten);
  return { counts, largest: largest.map(({ text }) => text), write };
}

/** @param shown digests of the records that may be written, by id */
async function writeShown<Entry>(
  source: Source,
  kind: RecordKind<Entry>,
  store: Target,
  shown: ReadonlyMap<bigint, string>,
  onProgress: OnProgress = () => undefined,
): Promise<ImportResult> {
  const done = { added: 0, changed: 0 };
  const changedMeanwhile: string[] = [];
  const write = async ({ id, effect, digest, before, item, key }: Comparison<Entry>): Promise<void> => {
    if (effect === 'same') return;
    const isAsShown = shown.get(id) === digest;
    if (isAsShown && (await writeIfUnchanged(store.documents, kind.tableOf(store), key, before, item))) {
      done[effect] += 1;
      onProgress(done.added + done.changed, shown.size);
    } else changedMeanwhile.push(String(id));
  };
  try {
    await Readable.from(comparisons(source, kind, store)).forEach(write, { concurrency: CONCURRENT_WRITES });
  } catch (error) {
    throw new AdminError(
      `The import stopped after ${formatNumber(done.added + done.changed)} of ${formatNumber(shown.size)} ` +
        `${kind.names[1]}: ${reasonOf(error)}. Run the same command again: it writes what is left.`,
    );
  }
  const written = counted(done.added + done.changed, ...kind.names);
  const effects = `${formatNumber(done.added)} new, ${formatNumber(done.changed)} changed`;
  const message = `Imported ${written} from ${visible(source.name)} into ${store.place}: ${effects}.`;
  return { ...done, changedMeanwhile, message };
}

/** A record of a file beside the one that is stored. */
interface Comparison<Entry> {
  readonly id: bigint;
  readonly effect: keyof ImportPreview['counts'];
  readonly entry: Entry;
  /** Undefined where there is none, or none that this release can read. */
  readonly stored: Entry | undefined;
  /** The item as it is, and as it is to be. */
  readonly before: Item | undefined;
  readonly item: Item;
  readonly key: Item;
  /** Of both records. */
  readonly digest: string;
}

async function* comparisons<Entry>(
  source: Source,
  kind: RecordKind<Entry>,
  store: Target,
): AsyncGenerator<Comparison<Entry>> {
  const { keyNames, itemSchema, schema } = kind;
  const storedId = (item: Item): bigint => BigInt(v.parse(int64AttributeSchema, item[keyNames.at(-1) ?? '']));
  for await (const entries of inBatches(entriesOf(source, kind), READ_SIZE)) {
    const rows = entries.map((entry) => {
      const item = kind.toItem(entry);
      return { entry, item, id: BigInt(kind.idOf(entry)), key: Object.fromEntries(keyNames.map((k) => [k, item[k]])) };
    });
    const keys = rows.map(({ key }) => key);
    const found = await itemsOf(store.documents, kind.tableOf(store), keys);
    const byId = new Map(found.map((item) => [storedId(item), item]));
    for (const row of rows) {
      const before = byId.get(row.id);
      // By the schema of files, so that the fields of both are in one order.
      const parsed = v.safeParse(schema, v.safeParse(itemSchema, before).output);
      const stored = parsed.success ? parsed.output : undefined;
      const texts = [
        stored === undefined ? String(before && 'unreadable') : recordToJson(stored),
        recordToJson(row.entry),
      ];
      const effect = before === undefined ? 'added' : texts[0] === texts[1] ? 'same' : 'changed';
      yield { ...row, before, stored, effect, digest: hash('sha256', texts.join('\n'), 'base64url') };
    }
  }
}

interface Difference {
  /** Of its numbers, together. */
  readonly size: number;
  readonly text: string;
}

/** `petId 7: quantity 3 → 10, status sold → available`. */
function differenceOf<Entry>({ id, stored, entry }: Comparison<Entry>, { idField }: RecordKind<Entry>): Difference {
  if (stored === undefined) return { size: Infinity, text: `${idField} ${id}: what is stored cannot be read` };
  const [before, after]: Record<string, unknown>[] = [Object(stored), Object(entry)];
  const fields = Object.keys({ ...before, ...after }).map((name) => ({ name, was: before?.[name], is: after?.[name] }));
  const changed = fields.filter(({ was, is }) => valueText(was) !== valueText(is));
  const sizes = changed.map(({ was, is }) =>
    typeof was === 'number' && typeof is === 'number' ? Math.abs(is - was) : 0,
  );
  const texts = changed.map(({ name, was, is }) => `${name} ${short(valueText(was))} → ${short(valueText(is))}`);
  return { size: sizes.reduce((sum, size) => sum + size, 0), text: `${idField} ${id}: ${texts.join(', ')}` };
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
