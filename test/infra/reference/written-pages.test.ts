import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { generatedDocs } from '../../../infra/reference/write-docs.ts';

const docs = join(import.meta.dirname, '../../../docs');

/** Without what formatting changes: padding in tables, and white space. */
const words = (text: string): string => text.replaceAll(/-{3,}/g, '---').replaceAll(/\s+/g, '');

test.each(generatedDocs())('docs/%s is as npm run docs writes it', (name, text) => {
  expect(words(readFileSync(join(docs, name), 'utf8'))).toBe(words(text));
});
