import openapiTS, { astToString } from 'openapi-typescript';
import { format, resolveConfig } from 'prettier';
import ts from 'typescript';
import { int64Fields } from './int64-fields.ts';

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
