import { GetApiKeysCommand } from '@aws-sdk/client-api-gateway';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { apiKeyArn } from '../../../shared/key-registry/update-gateway.ts';
import { GatewayRecords } from '../../../infra/local/control-plane/gateway-records.ts';
import { localClient } from '../../../infra/local-endpoint.ts';
import { type GatewayClients, gatewayClients } from '../../../shared/key-registry/gateway.ts';
import { ControlPlaneServer } from '../../infra/local/control-plane-calls.ts';
import { inVirtualTime, useVirtualTime } from '../client/held-calls.ts';

useVirtualTime();

let server: ControlPlaneServer;
let clients: GatewayClients;
let throttled: number;
/** When each attempt got its turn, by the virtual clock. It stands still then, however long a socket takes. */
let turns: number[];

beforeEach(async () => {
  server = await ControlPlaneServer.start(new GatewayRecords());
  throttled = 0;
  const connection = { ...localClient, endpoint: server.endpoint };
  clients = gatewayClients({ ...connection, retryMode: 'standard' }, () => (throttled += 1));
  turns = [];
  for (const client of [clients.gateway, clients.gatewayOnce])
    client.middlewareStack.add(
      (next) => (args) => {
        turns.push(performance.now());
        return next(args);
      },
      // Added after that of the pace, so within it.
      { step: 'finalizeRequest', priority: 'low', name: 'turn' },
    );
});

afterEach(async () => {
  for (const client of Object.values(clients)) client.destroy();
  await server.close();
});

/** Makes so many calls, as many at once as may be. */
const call = (which: keyof GatewayClients, count: number) =>
  inVirtualTime(Promise.all(Array.from({ length: count }, () => clients[which].send(new GetApiKeysCommand({})))));

describe('the clients of API Gateway', () => {
  test('share one rate, toward which retries count', async () => {
    server.faults = (number) => (number <= 2 ? 'broken' : undefined);
    await call('gateway', 5);
    await call('gatewayOnce', 4);

    expect(server.calls).toBe(11);
    expect((turns[10] ?? 0) - (turns[0] ?? 0)).toBeGreaterThanOrEqual(2_500);
  });

  test('retry throttled reads, and report each throttle', async () => {
    server.faults = (number) => (number <= 2 ? 'throttled' : undefined);
    const [response] = await call('gateway', 1);

    expect(response).toMatchObject({ items: [] });
    expect(server.calls).toBe(3);
    expect(throttled).toBe(2);
  });

  test.each([
    ['throttled', 'Too Many Requests'],
    ['broken', 'Internal server error'],
  ] as const)('send a change once if API Gateway is %s', async (fault, message) => {
    server.faults = () => fault;

    await expect(call('gatewayOnce', 1)).rejects.toThrow(message);
    expect(server.calls).toBe(1);
  });
});

test('the ARN of a key has the partition of its region', () => {
  expect(apiKeyArn('cn-north-1', 'k1')).toBe('arn:aws-cn:apigateway:cn-north-1::/apikeys/k1');
});
