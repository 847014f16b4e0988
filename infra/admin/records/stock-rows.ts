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

/** A change for display, or a place where changes are missing. What is not known is null. */
export interface StockRow extends Readonly<
  Record<'at' | 'status' | 'who' | 'name' | 'token' | 'how' | 'reference' | 'reason', string | null>
> {
  readonly petId: string | null;
  /** `not known`: what it replaced. Only the last two are no changes. */
  readonly note: 'new' | 'removed' | 'not known' | 'not recorded' | 'older changes are not kept' | null;
  readonly quantity: number | null;
  readonly was: number | null;
  readonly difference: number | null;
}

/** Keys by record id. One whose record is deleted keeps that in the rows. */
export type Keys = ReadonlyMap<string, KeyRecord | undefined>;

/** The kinds of writes that keys make. */
const operations: ReadonlySet<string> = new Set(['update', 'adjustment', 'batch'] satisfies WriteKind[]);

/** The record ids of the keys that made changes. */
export const authorsOf = (records: readonly StockRecord[]): Set<string> =>
  new Set(records.filter(({ how }) => operations.has(how)).map(({ who }) => who));

/**
 * The rows of a pet, newest first, with the gaps between them.
 *
 * @param records by time, newest first @param current its entry, if it has one
 * @param older the record before them, which is not shown
 */
export function rowsOfPet(
  records: readonly StockRecord[],
  current: StockVersion | undefined,
  older?: StockRecord,
  keys: Keys = new Map(),
): StockRow[] {
  const rows: StockRow[] = [];
  const ordered = inOrderOfWrites(older ? [...records, older] : records, current?.version);
  const isOutdated = current !== undefined && ordered.some(({ replaced }) => replaced === current.version);
  /** What the next record must have written; undefined: not known. */
  let expected = isOutdated ? undefined : (current?.version ?? NO_ENTRY);
  let known: Partial<StockRecord> = isOutdated ? {} : { ...current?.entry };
  for (const record of ordered) {
    const written = isRemoval(record) ? NO_ENTRY : record.version;
    if (expected === undefined ? written === NO_ENTRY : expected !== written) rows.push(gap('not recorded'));
    if (record !== older) rows.push(rowOf(expected === record.version ? { ...known, ...record } : record, keys));
    expected = record.replaced;
    known = { quantity: record.was };
  }
  if (!older && expected !== NO_ENTRY) rows.push(gap('older changes are not kept'));
  return rows;
}

/** It leaves no quantity, and adds to none. */
const isRemoval = ({ quantity, added }: StockRecord): boolean => (quantity ?? added) === undefined;

/**
 * A record that another one replaced directly precedes it, although the clocks of their writers may differ. Chains of
 * these are in the order of time, but that of the current version is the newest.
 */
function inOrderOfWrites(records: readonly StockRecord[], current: string | undefined): StockRecord[] {
  const byVersion = new Map(records.map((record) => [record.version, record]));
  const replaced = new Set(records.map((record) => record.replaced));
  const newest = records.filter(({ version }) => !replaced.has(version));
  const left = new Set(records);
  const chains: { readonly time: number; readonly chain: readonly StockRecord[] }[] = [];
  // The others are of circles, which no write makes.
  for (const first of [...newest, ...records]) {
    const chain: StockRecord[] = [];
    let next: StockRecord | undefined = first;
    while (next && left.delete(next)) {
      chain.push(next);
      next = byVersion.get(next.replaced ?? '');
    }
    const middle = Date.parse(first.at) + Date.parse(chain.at(-1)?.at ?? first.at);
    chains.push({ chain, time: first.version === current ? Infinity : middle });
  }
  return chains.toSorted((a, b) => (a.time < b.time ? 1 : a.time > b.time ? -1 : 0)).flatMap(({ chain }) => chain);
}

export function rowOf(record: StockRecord, keys: Keys): StockRow {
  const { petId, at, quantity, added, replaced, status = null, token = null, how } = record;
  const { reference = null, reason = null } = record;
  const isNew = replaced === NO_ENTRY;
  const sum = quantity === undefined || added === undefined ? undefined : quantity - added;
  const was = isNew ? null : (record.was ?? sum ?? null);
  const left = isRemoval(record) ? 0 : (quantity ?? null);
  const before = isNew ? 0 : was;
  const difference = added ?? (left === null || before === null ? null : left - before);
  const note = isRemoval(record) ? 'removed' : isNew ? 'new' : difference === null ? 'not known' : null;
  const key = operations.has(how) ? keys.get(record.who) : undefined;
  const author = { who: key ? idOf(key) : record.who, name: key?.name ?? null, token, how, reference, reason };
  return { petId, at, note, quantity: quantity ?? null, was, difference, status, ...author };
}

const nobody = { who: null, name: null, token: null, how: null, reference: null, reason: null };
const nothing = { petId: null, at: null, quantity: null, was: null, difference: null, status: null };

const gap = (note: StockRow['note']): StockRow => ({ ...nothing, ...nobody, note });
