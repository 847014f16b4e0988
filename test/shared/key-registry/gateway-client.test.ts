import { type APIGatewayClient, GetApiKeysCommand } from '@aws-sdk/client-api-gateway';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { GatewayRecords } from '../../../infra/local/account/gateway-records.ts';
import { account, localCredentials } from '../../../infra/local-endpoint.ts';
import { gatewayClient } from '../../../shared/key-registry/gateway-client.ts';
import { ControlPlaneServer } from '../../support/control-plane-calls.ts';

/** Timers and clocks of a machine differ by so much. */
const TOLERANCE_MS = 20;

let server: ControlPlaneServer;
let client: APIGatewayClient | undefined;
let throttled: number;

beforeEach(async () => {
  server = await ControlPlaneServer.start(GatewayRecords.inMemory());
  throttled = 0;
});

afterEach(async () => {
  client?.destroy();
  await server.close();
});

function newClient(): APIGatewayClient {
  const connection = { endpoint: server.endpoint, region: account.region, credentials: localCredentials };
  client = gatewayClient({ ...connection, retryMode: 'standard' }, () => (throttled += 1));
  return client;
}

/** Makes so many calls, as many at once as may be. */
const call = (gateway: APIGatewayClient, count: number) =>
  Promise.all(Array.from({ length: count }, () => gateway.send(new GetApiKeysCommand({}))));

/** The shortest time in which eleven calls arrived, in milliseconds. */
const shortestOfEleven = (arrivals: readonly number[]) =>
  Math.min(...arrivals.slice(10).map((arrival, index) => arrival - (arrivals[index] ?? 0)));

describe('a client of API Gateway', () => {
  test('counts what it repeats among them', async () => {
    server.faults = (number) => (number <= 2 ? 'broken' : undefined);
    await call(newClient(), 9);

    expect(server.arrivals).toHaveLength(11);
    expect(shortestOfEleven(server.arrivals)).toBeGreaterThan(2_000 - TOLERANCE_MS);
  });

  test('says each time that it was throttled, and goes on until it is let in', async () => {
    server.faults = (number) => (number <= 2 ? 'throttled' : undefined);
    const [answer] = await call(newClient(), 1);

    expect(answer).toMatchObject({ items: [] });
    expect(server.arrivals).toHaveLength(3);
    expect(throttled).toBe(2);
  });
});
