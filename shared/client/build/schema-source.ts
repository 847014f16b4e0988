import { readFileSync, writeFileSync } from 'node:fs';
import openapiTS, { astToString } from 'openapi-typescript';
import { format, resolveConfig } from 'prettier';
import ts from 'typescript';

const HEADER = `/**
 * The types of the interface, and the names of its int64 fields: from docs/openapi.json.
 * Do not edit: \`npm run client\` writes this file.
 */
`;

/** The source of `schema.ts`, with int64 as bigint. @param document an OpenAPI document as JSON */
export async function schemaSource(document: string): Promise<string> {
  const nodes = await openapiTS(document, {
    silent: true,
    immutable: true,
    transform: (schema) =>
      schema.format === 'int64' ? ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword) : undefined,
  });
  const { components }: { components: { schemas: object } } = JSON.parse(document);
  const source = [
    HEADER,
    astToString(nodes),
    '\n/** Names of the fields that are int64, wherever they are. */\n',
    `export const int64Fields = ${JSON.stringify(int64Fields(components.schemas))} as const;\n`,
  ].join('');
  return format(source, { ...(await resolveConfig(import.meta.filename)), parser: 'typescript' });
}

/** @throws Error where a field is an int64 in one place and something else in another: a parser goes by the name */
export function int64Fields(schemas: object): string[] {
  const fields = fieldsIn(schemas);
  const names = new Set(fields.filter(([, field]) => field.format === 'int64').map(([name]) => name));
  const other = fields.find(([name, field]) => field.format !== 'int64' && names.has(name));
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

/** `npm run client`: writes the types of the client from the OpenAPI document. */
if (import.meta.main) {
  const document = new URL('../../../docs/openapi.json', import.meta.url);
  writeFileSync(new URL('../schema.ts', import.meta.url), await schemaSource(readFileSync(document, 'utf8')));
  process.stdout.write('Wrote shared/client/schema.ts, from docs/openapi.json.\n');
}
