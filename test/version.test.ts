import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import * as v from 'valibot';
import { API_VERSION } from '../shared/contract/operations.ts';

const read = (file: string): string => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
const versioned = v.object({ version: v.string() });

test('package.json, client, document and change log are of one version', () => {
  const { version } = v.parse(versioned, JSON.parse(read('package.json')));
  expect(v.parse(versioned, JSON.parse(read('shared/client/package.json'))).version).toBe(version);
  expect(API_VERSION).toBe(version);
  expect(v.parse(v.object({ info: versioned }), JSON.parse(read('docs/openapi.json'))).info.version).toBe(version);
  expect(read('CHANGELOG.md').match(/^## \[(\d[^\]]*)\]/m)?.[1]).toBe(version);
});
