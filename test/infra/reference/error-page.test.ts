import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { errorPage } from '../../../infra/reference/error-page.ts';

/** Without what formatting changes: padding in tables, and line breaks. */
const words = (text: string): string => text.replaceAll(/-{3,}/g, '---').replaceAll(/\s+/g, ' ');

test('docs/errors.md is as npm run docs writes it', () => {
  const page = readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8');
  expect(words(page)).toBe(words(errorPage()));
});
