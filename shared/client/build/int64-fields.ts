/** @throws Error where a field is an int64 in one place and something else in another: a parser goes by the name */
export function int64Fields(schemas: object): string[] {
  const fields = fieldsIn(schemas);
  const names = new Set(fields.filter(([, { format }]) => format === 'int64').map(([name]) => name));
  const other = fields.find(([name, { format }]) => format !== 'int64' && names.has(name));
  if (other) throw new Error(`The field ${other[0]} is an int64 in one place and something else in another`);
  return Array.from(names).toSorted();
}

/** The names and schemas of all fields, however deep they are. */
function fieldsIn(schema: object): [string, { readonly format?: string }][] {
  const inner = Object.values(schema).filter((value) => typeof value === 'object' && value !== null);
  const own =
    'properties' in schema && typeof schema.properties === 'object' ? Object.entries(schema.properties ?? {}) : [];
  return own.concat(inner.flatMap(fieldsIn));
}
