import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { demoKey } from '../demo-keys.ts';
import { openApiDocument } from './document.ts';

/** The text of `docs/openapi.json`. */
export const writtenDocument = (): string =>
  JSON.stringify(
    openApiDocument({ serverUrl: 'http://localhost:3000/v1', environment: 'local', exampleKey: demoKey('free') }),
  );

/** `npm run docs`. */
if (import.meta.main) {
  const file = join(import.meta.dirname, '../../docs/openapi.json');
  writeFileSync(file, await format(writtenDocument(), { ...(await resolveConfig(file)), filepath: file }));
  process.stdout.write('Wrote docs/openapi.json.\n');
}
