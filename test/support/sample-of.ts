import * as v from 'valibot';
import { MAX_INT64 } from './int64.ts';

/** The first texts contain all that a format could lose. */
const texts = [' thrée; fo\\ur\t', 'https://example.com/?a=1&b=2', '2026-12-01T10:00:00Z', MAX_INT64];
const scalars = [...texts, 7, true, 8, false];

/** A value of a schema, with all of its optional fields: the first or the last known. @throws Error where none is */
export function sampleOf(schema: v.GenericSchema, which: 'find' | 'findLast' = 'find'): unknown {
  const { wrapped, entries, item, options }: Parts = Object(schema);
  if (wrapped) return sampleOf(wrapped, which);
  if (entries)
    return Object.fromEntries(Object.entries(entries).map(([name, field]) => [name, sampleOf(field, which)]));
  if (item) return [sampleOf(item, which)];
  const value = [...(options ?? []), ...scalars][which]((one) => v.is(schema, one));
  if (value === undefined) throw new Error(`There is no sample of ${schema.expects}`);
  return value;
}

interface Parts {
  readonly wrapped?: v.GenericSchema;
  readonly entries?: v.ObjectEntries;
  readonly item?: v.GenericSchema;
  readonly options?: readonly unknown[];
}
