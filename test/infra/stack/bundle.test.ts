import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { Script } from 'node:vm';
import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { resourcesOf, synthesizedStages, withoutHash } from '../../support/synthesized.ts';

const MAX_BUNDLE_BYTES = 250_000;
/** Nobody waits for the sync to start, and it has the client of API Gateway too. */
const MAX_SYNC_BUNDLE_BYTES = 350_000;

const { staging } = synthesizedStages();

const bundles = resourcesOf(
  staging,
  'AWS::Lambda::Function',
  v.object({ Code: v.object({ S3Key: v.string() }), Description: v.string() }),
).map(({ id, properties }) => {
  const { S3Key: key } = properties.Code;
  const folder = staging.assetFolders.get(key) ?? `no asset ${key}`;
  return { name: withoutHash(id), key, folder, file: path.join(folder, 'function.cjs') };
});

describe.each(bundles)('the bundle of $name', ({ name, key, folder, file }) => {
  const code = existsSync(file) ? readFileSync(file, 'utf8') : '';

  test('is function.cjs, beside the index.mjs that Lambda loads', () => {
    expect(key).toMatch(/^[0-9a-f]{64}\.zip$/);
    expect(readdirSync(folder).toSorted()).toEqual(['function.cjs', 'index.mjs']);
  });

  test('is small, so that a cold start parses little', () => {
    expect(statSync(file).size).toBeGreaterThan(1_000);
    expect(statSync(file).size).toBeLessThan(name === 'KeySyncFunction' ? MAX_SYNC_BUNDLE_BYTES : MAX_BUNDLE_BYTES);
  });

  test('is CommonJS, which starts faster: it exports a handler and imports nothing', () => {
    expect(() => new Script(`(function (exports, require, module) {${code}\n})`)).not.toThrow();
    expect(code).toMatch(/module\.exports=/);
    expect(code).toMatch(/\{handler:\(\)=>/);
    expect(code).not.toMatch(/\bimport\(/);
  });

  test('has all of its code inside: it requires nothing but Node', () => {
    const required = [...code.matchAll(/\brequire\("([^"]+)"\)/g)].map(([, specifier]) => specifier);
    const ofNode = required.filter((specifier) => specifier?.startsWith('node:'));

    expect(required).toEqual(ofNode);
  });

  test(`${name === 'FunctionsFallback' ? 'has no' : 'has the'} DynamoDB client`, () => {
    expect(code.includes('DynamoDB_20120810')).toBe(name !== 'FunctionsFallback');
  });

  test(`${name === 'KeySyncFunction' ? 'has the' : 'has no'} API Gateway client`, () => {
    expect(code.includes('BackplaneControlService')).toBe(name === 'KeySyncFunction');
  });
});
