/** What there is to know about a schema of the document here. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
}

/** Schemas by their names in the document. */
export type Schemas = Readonly<Record<string, Schema>>;

/** What `typeof` says of a value of a schema. */
type Kind = 'bigint' | 'number' | 'string' | 'boolean' | 'object';

/** The fields that objects must have, by the name of their schema. */
export function requiredFields(schemas: Schemas): Record<string, Record<string, Kind>> {
  const objects = Object.entries(schemas).filter(([, { required = [] }]) => required.length > 0);
  return Object.fromEntries(
    objects.map(([name, { properties = {}, required = [] }]) => [
      name,
      Object.fromEntries(required.map((field) => [field, kindOf(properties[field], schemas)])),
    ]),
  );
}

/** @throws Error where a field is an int64 in one place and something else in another: a parser goes by the name */
export function int64Fields(schemas: Schemas): string[] {
  const fields = Object.values(schemas).flatMap((schema) => fieldsOf(schema, schemas));
  const names = new Set(fields.filter(([, kind]) => kind === 'bigint').map(([name]) => name));
  const other = fields.find(([name, kind]) => kind !== 'bigint' && names.has(name));
  if (other) throw new Error(`The field ${other[0]} is an int64 in one place and a ${other[1]} in another`);
  return Array.from(names).toSorted();
}

/** All fields of a schema and of the schemas in it. */
function fieldsOf({ properties = {}, items }: Schema, schemas: Schemas): [string, Kind][] {
  const fields = Object.entries(properties);
  const own = fields.map(([name, field]): [string, Kind] => [name, kindOf(field, schemas)]);
  const inner = [...fields.map(([, field]) => field), ...(items ? [items] : [])];
  return own.concat(inner.flatMap((schema) => fieldsOf(schema, schemas)));
}

function kindOf(schema: Schema | undefined, schemas: Schemas): Kind {
  const { $ref, type, format } = schema ?? {};
  if ($ref !== undefined) return kindOf(schemas[$ref.split('/').at(-1) ?? ''], schemas);
  if (type === 'integer' || type === 'number') return format === 'int64' ? 'bigint' : 'number';
  if (type === 'array' || type === 'object') return 'object';
  if (type === 'string' || type === 'boolean') return type;
  throw new Error(`The client cannot check a field of type ${type}`);
}
