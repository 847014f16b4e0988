import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { type HostOptions, startHost } from '../../../infra/local/host.ts';
import { close, freePort, listen } from '../../support/listening.ts';
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

/** What a host answers at a path; undefined where none listens. */
async function statusOf(port: number, at: string): Promise<number | undefined> {
  try {
    return (await fetch(`http://127.0.0.1:${port}${at}`)).status;
  } catch {
    return undefined;
  }
}

describe('a host that starts', () => {
  test('holds the requests that come too early until it is ready', async () => {
    const port = await freePort();
    const starting = startHost({ ...inMemory, port });
    const early: (number | undefined)[] = [];
    while (early.at(-1) === undefined) early.push(await statusOf(port, '/outputs.json'));
    const host = await starting;
    await host.close();

    expect(early.at(-1)).toBe(200);
    expect(await statusOf(port, '/outputs.json')).toBeUndefined();
  });

  test('says that its port is taken before it does anything else', async () => {
    const server = createServer();
    const port = await listen(server);
    const starting = startHost({ ...inMemory, port, dataFolder: file });

    await expect(starting).rejects.toThrow(`Port ${port} is taken. Choose another with --port, or --port 0 for any.`);
    await close(server);
  });
});

describe('a host that cannot start says why in one line', () => {
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
