import { readFileSync, writeFileSync } from 'node:fs';
import { schemaSource } from './schema-source.ts';

/** `npm run client`: writes the types of the client from the OpenAPI document. */
const document = new URL('../../../docs/openapi.json', import.meta.url);
const schema = new URL('../schema.ts', import.meta.url);

writeFileSync(schema, await schemaSource(readFileSync(document, 'utf8')));
process.stdout.write('Wrote shared/client/schema.ts, from docs/openapi.json.\n');
