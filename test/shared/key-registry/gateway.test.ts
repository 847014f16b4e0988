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

beforeEach(async () => {
  server = await ControlPlaneServer.start(new GatewayRecords());
  throttled = 0;
  const connection = { ...localClient, endpoint: server.endpoint };
  clients = gatewayClients({ ...connection, retryMode: 'standard' }, () => (throttled += 1));
});

afterEach(async () => {
  for (const client of Object.values(clients)) client.destroy();
  await server.close();
});

/** Makes so many calls, as many at once as may be. */
const call = (which: keyof GatewayClients, count: number) =>
  inVirtualTime(Promise.all(Array.from({ length: count }, () => clients[which].send(new GetApiKeysCommand({})))));

/** The shortest time in which eleven calls arrived, in milliseconds. */
const shortestOfEleven = (arrivals: readonly number[]) =>
  Math.min(...arrivals.slice(10).map((arrival, index) => arrival - (arrivals[index] ?? 0)));

describe('the clients of API Gateway', () => {
  test('share one rate, toward which retries count', async () => {
    server.faults = (number) => (number <= 2 ? 'broken' : undefined);
    await call('gateway', 5);
    await call('gatewayOnce', 4);

    expect(server.arrivals).toHaveLength(11);
    expect(shortestOfEleven(server.arrivals)).toBeGreaterThan(2_000);
  });

  test('retry throttled reads, and report each throttle', async () => {
    server.faults = (number) => (number <= 2 ? 'throttled' : undefined);
    const [response] = await call('gateway', 1);

    expect(response).toMatchObject({ items: [] });
    expect(server.arrivals).toHaveLength(3);
    expect(throttled).toBe(2);
  });

  test.each([
    ['throttled', 'Too Many Requests'],
    ['broken', 'Internal server error'],
  ] as const)('send a change once if API Gateway is %s', async (fault, message) => {
    server.faults = () => fault;

    await expect(call('gatewayOnce', 1)).rejects.toThrow(message);
    expect(server.arrivals).toHaveLength(1);
  });
});

test('the ARN of a key has the partition of its region', () => {
  expect(apiKeyArn('cn-north-1', 'k1')).toBe('arn:aws-cn:apigateway:cn-north-1::/apikeys/k1');
});
