import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startHost } from '../../../infra/local/host.ts';
import { freePort } from '../../support/listening.ts';
import { ApiServer } from '../../support/local-api.ts';
import { admitting } from '../../support/local-api.ts';
import { withTimeout } from '../../support/local-api.ts';
import { LocalApis } from '../../support/local-api.ts';
import { exchange, parseAnswer } from '../../support/raw-http.ts';
import { synthesizedOnce } from '../../support/synthesize-once.ts';
import { streaming } from '../../support/test-functions.ts';

const TIMEOUT_MS = 2_000;
const MEGABYTE = 1_000_000;

/** Sends a list, in the way that the query says. What takes too long for the gateway ends some time. */
const listInventory = streaming(
  `const { what, id } = event.queryStringParameters;
   awslambda.HttpResponseStream.from(stream, { statusCode: 200 });
   await write('');
   if (what === 'has nothing to say') await sleep(${TIMEOUT_MS + 500});
   await write('[1,');
   if (what === 'hangs') await sleep(${TIMEOUT_MS + 500});
   if (what === 'throws') throw new Error('no');
   for (let count = 1; what === 'is long' && count <= 40; count++) {
     await write(Buffer.alloc(${MEGABYTE}, ' '));
     console.log(id + ' has written ' + count + '.');
   }
   await write('2]');
   stream.end();
   console.log(id + ' has ended.');`,
);

const apis = new LocalApis();
const api = apis.start({ authorizer: admitting, listInventory });
let server: ApiServer;
let serverWithTimeout: ApiServer;
let requests = 0;

beforeAll(async () => {
  server = await ApiServer.start(api);
  serverWithTimeout = await ApiServer.start(
    apis.start({ authorizer: admitting, listInventory }, withTimeout(TIMEOUT_MS)),
  );
});

afterAll(() => Promise.all([server.close(), serverWithTimeout.close()]));

/** The path of a request for a list that is sent in this way, and how often its function has said something. */
function listThat(what: string) {
  const id = `request-${requests++}`;
  const said = (words: string) => api.functionLog().split(`${id} ${words}`).length - 1;
  return {
    path: `/v1/inventory?what=${encodeURIComponent(what)}&id=${id}`,
    said,
    says: async (words: string) => {
      while (said(words) === 0) await sleep(10);
    },
  };
}

const requestFor = (path: string, connection: 'close' | 'keep-alive') =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: ${connection}\r\n\r\n`;

/** A connection whose request is sent, and whose answer nobody reads yet. */
async function ask(path: string): Promise<Socket> {
  const { hostname, port } = new URL(server.baseUrl);
  const socket = connect(Number(port), hostname).pause();
  await once(socket, 'connect');
  socket.write(requestFor(path, 'close'));
  return socket;
}

async function readToTheEnd(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk)).resume();
  await once(socket, 'close');
  return Buffer.concat(chunks).toString();
}

test('A host that starts holds the requests that come too early until it is ready', async () => {
  const port = await freePort();
  const options = {
    host: '127.0.0.1',
    dataFolder: undefined,
    dynamodb: undefined,
    sampleData: false,
    assembly: synthesizedOnce(),
  };
  const starting = startHost({ ...options, port });
  const statusOf = async (): Promise<number | undefined> => {
    try {
      return (await fetch(`http://127.0.0.1:${port}/outputs.json`)).status;
    } catch {
      return undefined;
    }
  };
  let early = await statusOf();
  while (early === undefined) early = await statusOf();
  const host = await starting;
  await host.close();

  expect(early).toBe(200);
  expect(await statusOf()).toBeUndefined();
});

describe('a list that is streamed', () => {
  test('comes in chunks, without a length', async () => {
    const { headers, text } = parseAnswer(await exchange(server.baseUrl, requestFor(listThat('').path, 'close')));

    expect(headers.get('Transfer-Encoding')).toBe('chunked');
    expect(headers.has('Content-Length')).toBe(false);
    expect(text).toBe('[1,2]');
  });
});

describe('a list whose function breaks off', () => {
  test.each(['throws', 'hangs', 'has nothing to say'])(
    'has its connection cut, without the chunk that ends an answer: the function %s',
    async (what) => {
      const answer = await exchange(serverWithTimeout.baseUrl, requestFor(listThat(what).path, 'keep-alive'));

      expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
      expect(answer).not.toMatch(/\r\n0\r\n\r\n$/);
      expect(answer).not.toContain('2]');
    },
  );
});

describe('a list whose client reads slowly', () => {
  test('holds its function back, and is whole in the end', async () => {
    const list = listThat('is long');
    const socket = await ask(list.path);
    await list.says('has written 1.');
    await sleep(500);
    const writtenUnread = list.said('has written');
    const answer = await readToTheEnd(socket);
    await list.says('has ended.');

    // What the connection holds is up to the system; it is not everything.
    expect(writtenUnread).toBeLessThan(20);
    expect(list.said('has written')).toBe(40);
    expect(parseAnswer(answer).text.replaceAll(' ', '')).toBe('[1,2]');
  });
});
