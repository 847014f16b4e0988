import { once } from 'node:events';
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { GetCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sampleStock } from '../../infra/local/sample-data/shelves.ts';
import { STORE_ID } from '../../shared/stores/sorted-table.ts';
import { ApiClient, checked } from '../support/api-client.ts';
import { issueKey } from '../support/issue-key.ts';
import { documentsAt, LocalHost } from '../support/local-host.ts';
import { exchange, parseAnswer } from '../support/raw-http.ts';

describe('The gateway', () => {
  let host: LocalHost;
  let api: ApiClient;
  let token: string;

  beforeAll(async () => {
    host = await LocalHost.start();
    ({ token } = await issueKey(host));
    api = ApiClient.withKey(host.baseUrl, token);
  });

  afterAll(() => host.close());

  /** Sends a request as it stands, with the key, and reads its answer. */
  const sendRaw = async (requestLine: string, fields = '', body = '') => {
    const head = `${requestLine}\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n${fields}`;
    return checked(parseAnswer(await exchange(host.origin, `${head}\r\n${body}`)));
  };

  describe('takes HTTP as clients send it', () => {
    test('header fields that are repeated', async () => {
      const fields = 'Accept: text/html\r\nAccept: */*\r\nX-Tag: a\r\nx-tag: b\r\nCookie: a=1\r\nCookie: b=2\r\n';

      expect(await sendRaw('GET /v1/inventory HTTP/1.1', fields)).toMatchObject({ status: 200 });
    });

    test('a header field that is named like a property of every object', async () => {
      expect(await sendRaw('GET /v1/inventory HTTP/1.1', '__proto__: a\r\nconstructor: b\r\n')).toMatchObject({
        status: 200,
      });
    });

    test('a query parameter that is repeated', async () => {
      expect(await sendRaw('GET /v1/inventory?limit=1&limit=2&limit= HTTP/1.1')).toMatchObject({
        status: 400,
        error: { code: 'INVALID_QUERY', message: 'The parameter "limit" is given more than once.' },
      });
    });

    test('a body in chunks', async () => {
      const fields = 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n';
      const chunks = '8\r\n{"quanti\r\n7\r\nty":12}\r\n0\r\n\r\n';

      expect(await sendRaw('PATCH /v1/inventory/101 HTTP/1.1', fields, chunks)).toMatchObject({
        status: 200,
        text: '{"petId":101,"quantity":12,"status":"available"}',
      });
    });

    test('a client that asks whether it may send its body', async () => {
      const body = '{"quantity":13}';
      const fields = `Expect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
      const head = `PATCH /v1/inventory/101 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n`;
      const text = await exchange(host.origin, `${head}Connection: close\r\n${fields}\r\n${body}`);
      const [interim = '', ...rest] = text.split('\r\n\r\n');

      expect(interim).toBe('HTTP/1.1 100 Continue');
      expect(checked(parseAnswer(rest.join('\r\n\r\n')))).toMatchObject({ status: 200 });
    });

    test('HTTP/1.0', async () => {
      expect(await sendRaw('GET /v1/inventory HTTP/1.0')).toMatchObject({ status: 200 });
    });

    test('a request line with the whole address, as a client sends it through a proxy (RFC 9112 §3.2.2)', async () => {
      expect(await sendRaw(`GET ${host.baseUrl}/inventory HTTP/1.1`)).toMatchObject({ status: 200 });
    });

    test('a body that no operation wants', async () => {
      expect(await sendRaw('GET /v1/inventory HTTP/1.1', 'Content-Length: 5\r\n', 'hello')).toMatchObject({
        status: 200,
      });
    });

    test('an offer to upgrade the connection', async () => {
      const fields = 'Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n';

      expect(await sendRaw('GET /v1/inventory HTTP/1.1', fields)).toMatchObject({ status: 200 });
    });
  });

  test('a connection is kept for many requests', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const reused: boolean[] = [];
    for (let count = 0; count < 10; count++) {
      const call = request(`${host.baseUrl}/inventory`, { agent, headers: { Authorization: `Bearer ${token}` } }).end();
      reused.push((await statusAndReuse(call)).reused);
    }
    agent.destroy();

    expect(reused).toEqual([false, ...Array.from({ length: 9 }, () => true)]);
  });

  test('requests sent one after the other without waiting are answered in their order', async () => {
    const fields = `Host: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n`;
    const patch = (quantity: number) =>
      `PATCH /v1/inventory/102 HTTP/1.1\r\n${fields}Content-Length: 14\r\n\r\n{"quantity":${quantity}}`;
    const last = `GET /v1/nowhere HTTP/1.1\r\n${fields}Connection: close\r\n\r\n`;
    const text = await exchange(host.origin, `${[1, 2, 3, 4].map(patch).join('')}${last}`);

    expect([...text.matchAll(/"quantity":(\d)|ROUTE_NOT_FOUND/g)].map(([, quantity]) => quantity)).toEqual([
      '1',
      '2',
      '3',
      '4',
      undefined,
    ]);
  });

  describe('400 with an Error body for what is not HTTP', () => {
    const head = 'GET /v1/inventory HTTP/1.1\r\nHost: localhost\r\n';
    test.each([
      ['garbage', 'hello\r\n\r\n'],
      ['a TLS handshake', '\u0016\u0003\u0001\u0000\u0005\u0001\u0000\u0000\u0001\u0000'],
      ['another version of HTTP', 'GET /v1/inventory HTTP/3.1\r\nHost: localhost\r\n\r\n'],
      ['an unknown method', 'FROB /v1/inventory HTTP/1.1\r\nHost: localhost\r\n\r\n'],
      ['20 kB of headers', `${head}X-Long: ${'x'.repeat(20_000)}\r\n\r\n`],
      ['a 20 kB path', `GET /v1/${'x'.repeat(20_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`],
      ['a control character in a header', `${head}X-Tag: a\u0001b\r\n\r\n`],
      ['a header field without a colon', `${head}nonsense\r\n\r\n`],
      ['a length that is no number', `${head}Content-Length: five\r\n\r\nhello`],
      ['two lengths', `${head}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!`],
      ['a length beside chunks', `${head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
      ['a chunk without a size', `${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n`],
      ['a request without Host', 'GET /v1/inventory HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ])('%s', async (_, bytes) => {
      expect(checked(parseAnswer(await exchange(host.origin, bytes)))).toMatchObject({
        status: 400,
        error: { code: 'BAD_REQUEST' },
      });
    });
  });

  test('an expectation that it does not know is answered with the promises of every answer', async () => {
    expect((await sendRaw('GET /v1/inventory HTTP/1.1', 'Expect: a-miracle\r\n')).status).toBeGreaterThanOrEqual(200);
  });

  test('a client that hangs up midway disturbs nobody', async () => {
    const { hostname, port } = new URL(host.origin);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    socket.write('PATCH /v1/inventory/103 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"quan');
    socket.destroy();
    await once(socket, 'close');

    expect(await api.list()).toMatchObject({ status: 200 });
  });

  test('far more requests at once than a function has environments are all answered, each with its own', async () => {
    const petIds = sampleStock.map(({ petId }) => petId);
    const work = Array.from({ length: 150 }, (_, index) => ({
      petId: petIds[index % petIds.length] ?? '',
      quantity: 1_000 + index,
    }));
    const answers = await Promise.all(work.map(({ petId, quantity }) => api.setQuantity(petId, quantity)));
    const own = work.map(({ petId, quantity }) => expect.stringMatching(`^{"petId":${petId},"quantity":${quantity},`));

    expect(answers.map(({ text }) => text)).toEqual(own);
    expect(new Set(answers.map(({ headers }) => headers.get('x-amzn-RequestId')))).toHaveProperty('size', 150);
  });

  describe('DynamoDB’s API at the root of its address', () => {
    test('lists the tables', async () => {
      const client = documentsAt(host.origin);
      const { TableNames } = await client.send(new ListTablesCommand({}));
      client.destroy();

      expect(TableNames).toEqual(expect.arrayContaining([host.stockTable, host.keysTable]));
    });

    test('reads what the API wrote', async () => {
      await api.setQuantity(205, 31);
      const client = documentsAt(host.origin);
      const Key = { storeId: STORE_ID, petId: 205 };
      const { Item } = await client.send(new GetCommand({ TableName: host.stockTable, Key }));
      const { Count } = await client.send(new ScanCommand({ TableName: host.stockTable }));
      client.destroy();

      expect(Item).toMatchObject({ quantity: { value: '31' }, status: 'available' });
      expect(Count).toBe(sampleStock.length);
    });

    test('hands on the errors of the engine', async () => {
      const client = documentsAt(host.origin);

      await expect(client.send(new ScanCommand({ TableName: 'no-such-table' }))).rejects.toThrow(
        expect.objectContaining({ name: 'ResourceNotFoundException' }),
      );
      client.destroy();
    });
  });
});

async function statusAndReuse(call: ClientRequest): Promise<{ status: number | undefined; reused: boolean }> {
  const [answer]: IncomingMessage[] = await once(call, 'response');
  answer?.resume();
  if (answer) await once(answer, 'end');
  return { status: answer?.statusCode, reused: call.reusedSocket };
}
