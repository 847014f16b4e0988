import { expect, test } from '@jest/globals';
import { createControlPlane } from '../../../infra/local/account/control-plane.ts';
import { createHttpServer, type Service } from '../../../infra/local/http-server.ts';
import { admitting, LocalApis } from '../../support/local-api.ts';
import { close, listen } from '../../support/listening.ts';
import { exchange, parseAnswer } from '../../support/raw-http.ts';
import { streaming } from '../../support/test-functions.ts';

const apis = new LocalApis();
test('A request that comes before the service is ready waits for it; a list that is streamed has no length', async () => {
  const service = Promise.withResolvers<Service>();
  const server = createHttpServer(service.promise, '127.0.0.1');
  const origin = `http://127.0.0.1:${await listen(server)}`;
  const early = exchange(origin, 'GET /v1/inventory HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  const listInventory = streaming(`await write('[1,'); stream.end('2]');`, { statusCode: 200 });
  const { restApi, records } = apis.start({ authorizer: admitting, listInventory });
  const controlPlane = createControlPlane(records, () => undefined);
  service.resolve({ restApi, controlPlane, engineEndpoint: new URL(origin), outputs: {} });
  const { status, headers, text } = parseAnswer(await early);
  await close(server);

  expect({ status, text }).toEqual({ status: 200, text: '[1,2]' });
  expect(headers.get('Transfer-Encoding')).toBe('chunked');
  expect(headers.has('Content-Length')).toBe(false);
});
