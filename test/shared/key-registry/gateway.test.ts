import { GetApiKeysCommand } from '@aws-sdk/client-api-gateway';
import { afterEach, describe, expect, test } from '@jest/globals';
import { apiKeyArn } from '../../../shared/key-registry/update-gateway.ts';
import { localClient } from '../../../infra/local-endpoint.ts';
import { type GatewayClients, gatewayClients } from '../../../shared/key-registry/gateway.ts';
import { inVirtualTime, useVirtualTime } from '../client/held-calls.ts';
import { reply, ScriptedServer, type ServerStep } from '../client/scripted-server.ts';

useVirtualTime();

const noKeys = reply(200, { item: [] });
const throttle = reply(429, { message: 'Too Many Requests' }, { 'x-amzn-ErrorType': 'TooManyRequestsException' });
const broken = reply(500, { message: 'Internal server error' }, { 'x-amzn-ErrorType': 'InternalFailure' });

let server: ScriptedServer;
let clients: GatewayClients;
let throttled: number;
/** When each attempt got its turn, by the virtual clock. It stands still then, however long a socket takes. */
let turns: number[];

/** Begins with clients of a server with this script. */
async function start(...steps: ServerStep[]): Promise<void> {
  server = await ScriptedServer.start(...steps);
  throttled = 0;
  const connection = { ...localClient, endpoint: server.baseUrl };
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
}

afterEach(() => {
  for (const client of Object.values(clients)) client.destroy();
});

/** Makes so many calls, as many at once as may be. */
const call = (which: keyof GatewayClients, count: number) =>
  inVirtualTime(Promise.all(Array.from({ length: count }, () => clients[which].send(new GetApiKeysCommand({})))));

describe('the clients of API Gateway', () => {
  test('share one rate, toward which retries count', async () => {
    await start(broken, broken, noKeys);
    await call('gateway', 5);
    await call('gatewayOnce', 4);

    expect(server.requests).toHaveLength(11);
    expect((turns[10] ?? 0) - (turns[0] ?? 0)).toBeGreaterThanOrEqual(2_500);
  });

  test('retry throttled reads, and report each throttle', async () => {
    await start(throttle, throttle, noKeys);
    const [response] = await call('gateway', 1);

    expect(response).toMatchObject({ items: [] });
    expect(server.requests).toHaveLength(3);
    expect(throttled).toBe(2);
  });

  test.each([
    ['throttled', throttle, 'Too Many Requests'],
    ['broken', broken, 'Internal server error'],
  ])('send a change once if API Gateway is %s', async (_, step, message) => {
    await start(step);

    await expect(call('gatewayOnce', 1)).rejects.toThrow(message);
    expect(server.requests).toHaveLength(1);
  });
});

test('the ARN of a key has the partition of its region', () => {
  expect(apiKeyArn('cn-north-1', 'k1')).toBe('arn:aws-cn:apigateway:cn-north-1::/apikeys/k1');
});
