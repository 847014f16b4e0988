import * as v from 'valibot';
import { MAX_INT64 } from '../support/int64.ts';

/** Text with all that a format could lose is tried first. */
const scalars = [' thrée; fo\\ur\t', 'https://example.com/?a=1&b=2', '2026-12-01T10:00:00Z', MAX_INT64, 7, true];

/** A value of a schema, with all of its optional fields. @throws Error where none is known */
export function sampleOf(schema: v.GenericSchema): unknown {
  const { wrapped, entries, item, options }: Parts = Object(schema);
  if (wrapped) return sampleOf(wrapped);
  if (entries) return Object.fromEntries(Object.entries(entries).map(([name, field]) => [name, sampleOf(field)]));
  if (item) return [sampleOf(item)];
  const value = [...(options ?? []), ...scalars].find((one) => v.is(schema, one));
  if (value === undefined) throw new Error(`There is no sample of ${schema.expects}`);
  return value;
}

interface Parts {
  readonly wrapped?: v.GenericSchema;
  readonly entries?: v.ObjectEntries;
  readonly item?: v.GenericSchema;
  readonly options?: readonly unknown[];
}
