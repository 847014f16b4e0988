import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { errorPages } from '../../../infra/reference/error-pages.ts';

const folder = join(import.meta.dirname, '../../../docs/errors');
const pages = errorPages();

/** Without what formatting changes: padding in tables, and line breaks. */
const words = (text: string): string => text.replaceAll(/-{3,}/g, '---').replaceAll(/\s+/g, ' ');

describe('docs/errors', () => {
  test('has a page for each error code, an index, and nothing else', () => {
    expect(readdirSync(folder).toSorted()).toEqual(Object.keys(pages).toSorted());
  });

  test.each(Object.entries(pages))('%s is as npm run docs writes it', (name, page) => {
    expect(words(readFileSync(join(folder, name), 'utf8'))).toBe(words(page));
  });
});
