import { afterEach, expect, test } from '@jest/globals';
import { createControlPlane } from '../../../infra/local/account/control-plane.ts';
import { createHttpServer, type Service, type Timings } from '../../../infra/local/http-server.ts';
import { admitting, LocalApis } from '../../support/local-api.ts';
import { close, listen } from '../../support/listening.ts';
import { exchange, parseAnswer } from '../../support/raw-http.ts';
import { streaming } from '../../support/test-functions.ts';

const apis = new LocalApis();
const servers: ReturnType<typeof createHttpServer>[] = [];

afterEach(() => Promise.all(servers.splice(0).map((server) => close(server))));

async function serve(service: Promise<Service>, timings?: Timings): Promise<string> {
  const server = createHttpServer(service, { host: '127.0.0.1', isOpen: false }, timings);
  servers.push(server);
  return `http://127.0.0.1:${await listen(server)}`;
}

const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;

test('A request that comes before the service is ready waits for it; a list that is streamed has no length', async () => {
  const service = Promise.withResolvers<Service>();
  const origin = await serve(service.promise);
  const early = exchange(origin, request('/v1/inventory'));
  const listInventory = streaming(`await write('[1,'); stream.end('2]');`, { statusCode: 200 });
  const { restApi, records, apiStage } = apis.start({ authorizer: admitting, listInventory });
  const controlPlane = createControlPlane({ records, apiStage }, () => undefined);
  service.resolve({ restApi, controlPlane, engineEndpoint: new URL(origin), outputs: {} });
  const { status, headers, text } = parseAnswer(await early);

  expect({ status, text }).toEqual({ status: 200, text: '[1,2]' });
  expect(headers.get('Transfer-Encoding')).toBe('chunked');
  expect(headers.has('Content-Length')).toBe(false);
});

test('A body that is sent in part is 408', async () => {
  const never = new Promise<Service>(() => undefined);
  const origin = await serve(never, { requestTimeout: 50, connectionsCheckingInterval: 20 });
  const part = 'PATCH /v1/inventory/1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{';

  expect(parseAnswer(await exchange(origin, part))).toMatchObject({
    status: 408,
    text: expect.stringContaining('did not arrive in time'),
  });
});
