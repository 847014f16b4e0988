import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { Script } from 'node:vm';
import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { resourcesOf, synthesizedStages, withoutHash } from '../../support/synthesized.ts';

/** Nobody waits for the sync to start, and it has the client of API Gateway too. */
const MAX_BYTES: Readonly<Record<string, number>> = { FunctionsFallback: 20_000, KeySyncFunction: 350_000 };

const { staging } = synthesizedStages();
const functionSchema = v.object({ Code: v.object({ S3Key: v.string() }) });
const bundles = resourcesOf(staging, 'AWS::Lambda::Function', functionSchema).map(({ id, properties }) => ({
  name: withoutHash(id),
  folder: staging.assetFolders.get(properties.Code.S3Key) ?? '',
}));

describe.each(bundles)('the bundle of $name', ({ name, folder }) => {
  const code = readFileSync(path.join(folder, 'function.cjs'), 'utf8');

  test('is function.cjs, beside the index.mjs that Lambda loads, small enough for a cold start', () => {
    expect(readdirSync(folder).toSorted()).toEqual(['function.cjs', 'index.mjs']);
    expect(Buffer.byteLength(code)).toBeLessThan(MAX_BYTES[name] ?? 250_000);
  });

  test('is CommonJS, which starts faster: it exports a handler, and requires nothing but Node', () => {
    const required = [...code.matchAll(/\brequire\("([^"]+)"\)/g)].map(([, specifier = '']) => specifier);

    expect(() => new Script(`(function (exports, require, module) {${code}\n})`)).not.toThrow();
    expect(code).toMatch(/module\.exports=/);
    expect(code).toMatch(/\{handler:\(\)=>/);
    expect(code).not.toMatch(/\bimport\(/);
    expect(required.filter((specifier) => !specifier.startsWith('node:'))).toEqual([]);
  });

  test('has the clients that it uses, and no other', () => {
    expect({
      dynamoDb: code.includes('DynamoDB_20120810'),
      apiGateway: code.includes('BackplaneControlService'),
    }).toEqual({ dynamoDb: name !== 'FunctionsFallback', apiGateway: name === 'KeySyncFunction' });
  });
});
