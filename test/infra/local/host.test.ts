import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { type HostOptions, startHost } from '../../../infra/local/host.ts';
import { freePort } from '../../support/listening.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const folder = temporaryFolder();
const file = path.join(folder, 'a-file');
writeFileSync(file, '');

const inMemory: HostOptions = {
  host: '127.0.0.1',
  port: 0,
  dataFolder: undefined,
  dynamodb: undefined,
  sampleData: false,
};

describe('a host that cannot start says why in one line', () => {
  test.each([
    ['with the embedded engine', undefined],
    ['with another engine', new URL('http://127.0.0.1:1')],
  ])('where its data folder is a file, %s', async (_, dynamodb) => {
    const starting = startHost({ ...inMemory, dataFolder: file, dynamodb });

    await expect(starting).rejects.toMatchObject({
      name: 'HostError',
      message: expect.stringMatching(/^The data folder .*a-file cannot be used: [^\n]+ Choose another with --data\.$/),
    });
  });

  test('where no DynamoDB engine is at the address', async () => {
    const dynamodb = new URL(`http://127.0.0.1:${await freePort()}`);

    await expect(startHost({ ...inMemory, dynamodb })).rejects.toMatchObject({
      name: 'HostError',
      message: expect.stringMatching(
        /^The DynamoDB engine at http:\/\/127\.0\.0\.1:\d+ cannot be used: [^\n]*ECONNREFUSED/,
      ),
    });
  });
});
