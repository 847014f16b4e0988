import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { ApiClient } from '../support/api-client.ts';
import { FaultyEngine } from '../support/faulty-engine.ts';
import { assemblyForFaults, hurryCalls, plantFaultsAfterwards } from '../support/function-faults.ts';
import { type IssuedKey, issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';
import { Random } from '../support/random.ts';
import { RequestStorm, type StormKey } from '../support/request-storm.ts';
import { StockHistory } from '../support/stock-history.ts';
import { changeWeather } from '../support/weather.ts';

jest.setTimeout(120_000);

const seed = Number(process.env['STORM_SEED'] ?? Date.now() % 1_000_000);
const CLIENTS = 12;
/** It goes on until so many updates were acknowledged, and so many not. */
const ENOUGH = 60;
/** Requests a day of the keys that reach their limit: one is counted request by request, the other is leased. */
const LIMIT = 40;
const LEASED_LIMIT = 80;

describe(`A storm of requests, while DynamoDB and functions fail at random (STORM_SEED=${seed})`, () => {
  const assembly = assemblyForFaults();
  let engine: FaultyEngine;
  let host: LocalHost;
  let storm: RequestStorm;
  let history: StockHistory;
  const keys: { readonly issued: IssuedKey; readonly used: StormKey; readonly limit: number }[] = [];

  beforeAll(async () => {
    plantFaultsAfterwards(assembly, 'FunctionsUpdateInventory', 'x-fault-update');
    hurryCalls(assembly);
    engine = await FaultyEngine.start();
    host = await LocalHost.start({ assembly, dynamodb: engine.endpoint });
    const perMinute = 1_000;
    for (const [limits, weight] of [
      [{ perMinute: perMinute * 60, perDay: 1_000_000 }, 6],
      [{ perMinute, perDay: LIMIT }, 1],
      [{ perMinute: perMinute * 60, perDay: LEASED_LIMIT }, 1],
    ] as const) {
      const issued = await issueKey(host, limits);
      keys.push({ issued, used: { token: issued.token, weight }, limit: limits.perDay });
    }
    await host.putStock(
      ...RequestStorm.petIds.map((petId) => ({ petId: BigInt(petId), quantity: 1, status: 'available' })),
    );
    history = new StockHistory(host.stockTable);
    engine.onCarriedOut = (call) => history.note(call);
    const random = new Random(seed);
    const used = keys.map((key) => key.used);
    storm = new RequestStorm(host.baseUrl, used, random);
    const raging = storm.rage(CLIENTS);
    await changeWeather(engine, random, () => storm.known('done') >= ENOUGH && storm.known('unknown') >= ENOUGH);
    storm.end();
    await raging;
  });

  afterAll(async () => {
    await host.close();
    await engine.stop();
  });

  test('every answer is one that its operation declares, and comes in time', () => {
    expect(storm.faults).toEqual([]);
  });

  test('no acknowledged update is lost or undone, none is done twice, none that was refused is done', () => {
    expect(history.faults(storm.updates)).toEqual([]);
  });

  test('the stock is what one of the updates made it', async () => {
    for (const petId of RequestStorm.petIds) {
      const { quantity, version } = await host.readStock(BigInt(petId));

      expect([petId, quantity]).toEqual([petId, history.quantityOf(petId, version ?? '') ?? 1]);
    }
  });

  test('no key is admitted more often than its limit says, and each request that is counts', async () => {
    const [, ...limited] = keys;
    for (const { used } of limited) {
      // Until nothing is left: what the storm left of the limit, if anything.
      const api = ApiClient.withKey(host.baseUrl, used.token);
      const statuses = [];
      while (statuses.at(-1) !== 429 && statuses.length <= LEASED_LIMIT) statuses.push((await api.list()).status);
      expect(statuses.at(-1)).toBe(429);
    }
    for (const { issued, used, limit } of keys) {
      const { dayUsed } = await issued.read();

      expect(storm.admitted(used)).toBeLessThanOrEqual(limit);
      expect(storm.admitted(used)).toBeLessThanOrEqual(dayUsed);
      expect(dayUsed).toBeLessThanOrEqual(limit);
    }
  });

  test('once it is over, all works at once, without a restart', async () => {
    const api = ApiClient.withKey(host.baseUrl, keys[0]?.used.token ?? '');
    const answers = [
      await api.list(),
      await api.send('GET', '/inventory?status=sold'),
      await api.setQuantity(101, 5),
      await api.send('GET', '/pets/101'),
      await api.send('GET', '/store/orders'),
    ];

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  });
});
