import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { HostError } from '../../../../infra/local/host-error.ts';
import { loadFunctions } from '../../../../infra/local/lambda/load-functions.ts';
import { LogGroups } from '../../../../infra/local/log-sink.ts';
import { LocalStack } from '../../../../infra/local/template/stack.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const folder = temporaryFolder();
const codeFolder = path.join(folder, 'code');
mkdirSync(codeFolder);
// As a bundle has it: Node would look for one in the folders above.
writeFileSync(path.join(codeFolder, 'package.json'), '{"type":"commonjs"}');
writeFileSync(path.join(codeFolder, 'index.js'), 'exports.handler = async (name) => process.env[name];');
const logGroups = new LogGroups(folder);
afterAll(() => logGroups.close());

const template = {
  Resources: {
    Sync: {
      Type: 'AWS::Lambda::Function',
      Properties: {
        Code: { S3Bucket: 'assets', S3Key: 'code.zip' },
        Handler: 'index.handler',
        Runtime: 'nodejs24.x',
        Environment: { Variables: { TABLE: 'keys', AWS_ENDPOINT_URL_API_GATEWAY: 'of the template' } },
        LoggingConfig: { LogGroup: 'sync-logs' },
        MemorySize: 128,
        Timeout: 5,
      },
    },
  },
};

const endpoints = { AWS_ENDPOINT_URL_API_GATEWAY: 'http://127.0.0.1:3000' };

function load(assetFolders: ReadonlyMap<string, string>) {
  const stack = new LocalStack('test', template);
  return loadFunctions(stack, { name: 'test', template, assetFolders }, endpoints, logGroups);
}

describe('a function of the template', () => {
  test('finds the services of the host, and what the template tells it', async () => {
    const sync = load(new Map([['code.zip', codeFolder]])).get(
      'arn:aws:lambda:us-east-1:000000000000:function:test-Sync',
    );
    const variables = ['AWS_ENDPOINT_URL_API_GATEWAY', 'TABLE', 'AWS_REGION'];
    const values: unknown[] = [];
    for (const name of variables) values.push(await sync?.invoke(JSON.stringify(name)));
    await sync?.close();

    expect(values).toEqual(['"http://127.0.0.1:3000"', '"keys"', '"us-east-1"']);
  });

  test('stops the host where its code is not there', () => {
    expect(() => load(new Map())).toThrow(new HostError('Resource Sync: its code was not bundled'));
  });
});
