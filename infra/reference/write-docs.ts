import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { demoKey } from '../demo-keys.ts';
import { openApiDocument } from './document.ts';
import { errorPage } from './error-page.ts';

/** The files of `docs` that are derived from the code, by their names. */
export const generatedDocs = (): readonly (readonly [name: string, text: string])[] => {
  const local = { serverUrl: 'http://localhost:3000/v1', environment: 'local', exampleKey: demoKey('free') } as const;
  return [
    ['errors.md', errorPage()],
    ['openapi.json', JSON.stringify(openApiDocument(local))],
  ];
};

/** `npm run docs`. */
if (import.meta.main) {
  for (const [name, text] of generatedDocs()) {
    const file = join(import.meta.dirname, '../../docs', name);
    writeFileSync(file, await format(text, { ...(await resolveConfig(file)), filepath: file }));
    process.stdout.write(`Wrote docs/${name}.\n`);
  }
}
