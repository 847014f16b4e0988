import type * as v from 'valibot';
import type { Int64 } from '../../../shared/contract/int64.ts';
import type { Item } from '../../write-items.ts';
import type { Target } from '../target.ts';

/** Formats of a file, by the ending of its name. */
export type Format = '.csv' | '.jsonl';

/** What an import needs to know about the records that it loads. */
export interface RecordKind<Entry> {
  /** For messages: one of them, and several. */
  readonly names: readonly [one: string, several: string];
  /** Rules of a row. In a file an int64 may be a number or text; it reaches the schema as its digits. */
  readonly schema: v.GenericSchema<unknown, Entry> & { readonly entries: v.ObjectEntries };
  readonly formats: readonly [Format, ...Format[]];
  /** Why a file of another format does not do, where that is not plain to see. */
  readonly formatReason?: string;
  /** The field that tells records apart. */
  readonly idField: string;
  readonly idOf: (entry: Entry) => Int64;
  /** Fields that such a record has elsewhere, but not in a file, with the reason. */
  readonly foreignFields?: ReadonlyMap<string, string>;
  readonly tableOf: (target: Target) => string;
  readonly toItem: (entry: Entry) => Item;
}

/** `.csv or .jsonl`. */
export const formatsOf = ({ formats }: Pick<RecordKind<never>, 'formats'>): string => formats.join(' or ');
