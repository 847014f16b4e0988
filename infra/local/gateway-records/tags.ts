import * as v from 'valibot';

/** Tags of a resource. */
export type Tags = Readonly<Record<string, string>>;

/**
 * A map of texts, with every name that JSON can hold: `v.record` would leave out names such as `constructor` without a
 * word.
 */
export const tagsSchema = v.pipe(
  v.custom<Tags>(
    (value) =>
      typeof value === 'object' &&
      value !== null &&
      !Array.isArray(value) &&
      Object.values(value).every((text) => typeof text === 'string'),
    'Expected a map of strings',
  ),
  v.transform((tags): Tags => ({ ...tags })),
);

/** CloudFormation's way of writing tags. */
export const templateTagsSchema = v.pipe(
  v.array(v.strictObject({ Key: v.string(), Value: v.string() })),
  v.transform((tags): Tags => Object.fromEntries(tags.map(({ Key, Value }) => [Key, Value]))),
);
