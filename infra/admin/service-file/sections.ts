import { recordToJson } from '../../../shared/contract/exact-json.ts';
import { writeItems } from '../../write-items.ts';
import { check, type Checked } from '../records/read-records.ts';
import { orders, pets, type RecordKind, stockEntries } from '../records/record-kinds.ts';
import type { Target } from '../target.ts';

/** What a service has in the place of a record of the file: nothing, the same, or something else, which it names. */
export type Existing = 'absent' | 'same' | { readonly other: string };

/** A part of the file: records of one kind, in ascending id. Its methods let sections of all kinds stand in one list. */
export interface Section<Entry> {
  readonly name: string;
  /** All that the service has. */
  all(): AsyncIterable<readonly Entry[]>;
  toJson(entry: Entry): string;
  /** What stands in a line, as a record. */
  check(value: unknown): Checked<Entry>;
  idOf(entry: Entry): bigint | string;
  /** @param entries at most 100 */
  existing(entries: readonly Entry[]): Promise<readonly Existing[]>;
  /** Writes records that are absent. */
  add(entries: readonly Entry[]): Promise<void>;
}

/** Stock, pets and orders. */
export const recordSections = (target: Target): readonly Section<unknown>[] => [
  recordSection('stock', stockEntries, target),
  recordSection('pets', pets, target),
  recordSection('orders', orders, target),
];

function recordSection<Entry>(name: string, kind: RecordKind<Entry>, target: Target): Section<Entry> {
  const { names, idField, idOf, toItem } = kind;
  const list = kind.listOf(target);
  return {
    name,
    all: () => list.all(),
    toJson: recordToJson,
    check: (value) => check(value, kind),
    idOf: (entry) => BigInt(idOf(entry)),
    async existing(entries) {
      const found = await list.byIds(entries.map(idOf));
      const lines = new Map(found.map((entry) => [idOf(entry), recordToJson(entry)]));
      return entries.map((entry) => {
        const line = lines.get(idOf(entry));
        if (line === undefined) return 'absent';
        return line === recordToJson(entry) ? 'same' : { other: `the ${names[0]} with ${idField} ${idOf(entry)}` };
      });
    },
    add: (entries) => writeItems(target.documents, kind.tableOf(target), entries, toItem),
  };
}
