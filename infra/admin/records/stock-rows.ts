import * as v from 'valibot';
import { int64AttributeSchema, type Item, parseItem, safeNumberSchema } from '../../../shared/item-attributes.ts';
import { idOf, type KeyRecord } from '../../../shared/keys/key-record.ts';
import { NO_ENTRY, type WriteKind } from '../../../shared/stores/stock-history.ts';
import type { StockVersion } from '../../../shared/stores/stock-store.ts';

const recordSchema = v.object({
  petId: int64AttributeSchema,
  change: v.string(),
  who: v.string(),
  how: v.string(),
  ...v.entriesFromList(['quantity', 'was', 'added'], v.optional(safeNumberSchema)),
  ...v.entriesFromList(['status', 'replaced', 'token', 'reference', 'reason'], v.optional(v.string())),
});

/** A record of the history, which names its time and the version that it wrote in its sort key. */
export type StockRecord = ReturnType<typeof parseRecord>;

const TIME_LENGTH = new Date(0).toISOString().length;

export function parseRecord(item: Item) {
  const { change, ...fields } = parseItem(recordSchema, item, 'change');
  return { ...fields, at: change.slice(0, TIME_LENGTH), version: change.slice(TIME_LENGTH) };
}

/** A change for display, or a place where changes are missing, which has only a note. What is not known is null. */
export type StockRow = Readonly<{ [Name in keyof Change]: Change[Name] | null }>;
type Change = ReturnType<typeof rowOf>;

/** Keys by record id. Rows keep the id of a deleted one. */
export type Keys = ReadonlyMap<string, KeyRecord | undefined>;

/** The kinds of writes that keys make. */
const operations: ReadonlySet<string> = new Set(['update', 'adjustment', 'batch'] satisfies WriteKind[]);

/** The record ids of the keys that made changes. */
export const authorsOf = (records: readonly StockRecord[]): Set<string> =>
  new Set(records.filter(({ how }) => operations.has(how)).map(({ who }) => who));

/**
 * The rows of a pet, newest first, with the gaps between them.
 *
 * @param records by time, newest first @param current its entry, if it has one that can be read
 * @param hasOlder whether there are records before them, which are not shown
 */
export function rowsOfPet(
  records: readonly StockRecord[],
  current: StockVersion | 'unreadable' | undefined,
  hasOlder = false,
  keys: Keys = new Map(),
): StockRow[] {
  const rows: StockRow[] = [];
  const { entry, version } = current === 'unreadable' ? {} : { version: NO_ENTRY, ...current };
  const ordered = inOrderOfWrites(records, version);
  const isOutdated = version !== NO_ENTRY && ordered.some(({ replaced }) => replaced === version);
  /** The version that the record before it must have written; undefined: not known. */
  let expected = isOutdated ? undefined : version;
  /** What is known of that record from the one after it. */
  let known: Partial<StockRecord> = isOutdated ? {} : { ...entry };
  for (const [index, record] of ordered.entries()) {
    const written = isRemoval(record) ? NO_ENTRY : record.version;
    const isGap = expected === undefined ? written === NO_ENTRY : expected !== written;
    if (isGap && !(isOutdated && index === 0)) rows.push(gap('not recorded'));
    const row = rowOf(expected === record.version ? { ...known, ...record } : record, keys);
    rows.push(row);
    expected = record.replaced;
    known = { quantity: row.was ?? undefined };
  }
  if (!hasOlder && expected !== NO_ENTRY) rows.push(gap('older changes are not kept'));
  return rows;
}

/** It leaves no quantity, and adds to none. */
const isRemoval = ({ quantity, added }: StockRecord): boolean => (quantity ?? added) === undefined;

/** Newest first: each record comes directly after the one that replaced it, even if clocks differ. */
function inOrderOfWrites(records: readonly StockRecord[], current: string | undefined): StockRecord[] {
  const left = new Map(records.map((record) => [record.version, record]));
  const replaced = new Set(records.map((record) => record.replaced));
  const newest = records.filter(({ version }) => !replaced.has(version));
  const ordered: StockRecord[] = [];
  // Those that are left are of circles, which no write makes.
  for (const first of [...newest.filter(({ version }) => version === current), ...newest, ...records]) {
    let next: StockRecord | undefined = first;
    while (next && left.delete(next.version)) {
      ordered.push(next);
      next = left.get(next.replaced ?? '');
    }
  }
  return ordered;
}

/** Its note is `new`, `removed`, or `not known`: what it replaced. */
export function rowOf(record: StockRecord, keys: Keys) {
  const { petId, at, quantity, added, replaced, status = null, token = null, how } = record;
  const { reference = null, reason = null } = record;
  const isNew = replaced === NO_ENTRY;
  const sum = quantity === undefined || added === undefined ? undefined : quantity - added;
  const was = isNew ? null : (record.was ?? sum ?? null);
  const left = isRemoval(record) ? 0 : (quantity ?? null);
  const before = isNew ? 0 : was;
  const difference = added ?? (left === null || before === null ? null : left - before);
  const note: string | null = isRemoval(record) ? 'removed' : isNew ? 'new' : difference === null ? 'not known' : null;
  const key = operations.has(how) ? keys.get(record.who) : undefined;
  const author = { who: key ? idOf(key) : record.who, name: key?.name ?? null, token, how, reference, reason };
  return { petId, at, note, quantity: quantity ?? null, was, difference, status, ...author };
}

const who = { who: null, name: null, token: null, how: null, reference: null, reason: null };
const empty = { petId: null, at: null, quantity: null, was: null, difference: null, status: null, ...who };

const gap = (note: string): StockRow => ({ ...empty, note });
