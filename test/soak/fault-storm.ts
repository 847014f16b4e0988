import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiClient } from '../support/api-client.ts';
import { dynamoDBError, type Fault, FaultyEngine } from '../support/faulty-engine.ts';
import { assemblyForFaults, hurryCalls, plantCrashAfterwards } from '../support/function-faults.ts';
import { type IssuedKey, issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';
import { Random } from '../support/random.ts';
import type { Outcome } from './models.ts';
import { RequestStorm, StockHistory, type StormKey } from './request-storm.ts';

const CLIENTS = 12;
/** It goes on until so many updates were acknowledged, and so many not. */
const ENOUGH = 20;
const PER_MINUTE = 1_000;

/** Limits of the keys, and how often each is used. The first has room for all; the second is counted one by one, the third leased. */
const keyKinds = [
  { perMinute: 60 * PER_MINUTE, perDay: 1_000_000, weight: 6 },
  { perMinute: PER_MINUTE, perDay: 40, weight: 1 },
  { perMinute: 60 * PER_MINUTE, perDay: 80, weight: 1 },
] as const;

interface Key {
  readonly issued: IssuedKey;
  readonly used: StormKey;
  readonly perDay: number;
}

/** A storm of requests, while DynamoDB and functions fail at random. */
export async function faultRound(seed: number): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'pet-store-soak-'));
  const assembly = assemblyForFaults(folder);
  plantCrashAfterwards(assembly, 'FunctionsUpdateInventory', 'x-fault-update');
  hurryCalls(assembly);
  const engine = await FaultyEngine.start();
  const host = await LocalHost.start({ assembly, dynamodb: engine.endpoint });
  try {
    return await storm(engine, host, new Random(seed));
  } finally {
    await host.close();
    await engine.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function storm(engine: FaultyEngine, host: LocalHost, random: Random): Promise<Outcome> {
  const keys: Key[] = [];
  for (const { weight, ...limits } of keyKinds) {
    const issued = await issueKey(host, limits);
    keys.push({ issued, used: { token: issued.token, weight }, perDay: limits.perDay });
  }
  await host.putStock(
    ...RequestStorm.petIds.map((petId) => ({ petId: BigInt(petId), quantity: 1, status: 'available' })),
  );
  const history = new StockHistory(host.stockTable);
  engine.onCarriedOut = (call) => history.note(call);
  const requests = new RequestStorm(
    host.baseUrl,
    keys.map(({ used }) => used),
    random,
  );
  const raging = requests.rage(CLIENTS);
  await changeWeather(engine, random, () => requests.known('done') >= ENOUGH && requests.known('unknown') >= ENOUGH);
  requests.end();
  await raging;
  return {
    violations: [
      ...requests.faults,
      ...history.faults(requests.updates),
      ...(await stockFaults(host, history)),
      ...(await limitFaults(host, requests, keys)),
      ...(await aftermathFaults(host, keys[0]?.used.token ?? '')),
    ],
    counts: { acknowledged: requests.known('done'), unacknowledged: requests.known('unknown') },
  };
}

/** The stock is what one of the updates made it. */
async function stockFaults(host: LocalHost, history: StockHistory): Promise<string[]> {
  const faults: string[] = [];
  for (const petId of RequestStorm.petIds) {
    const { quantity, version } = await host.readStock(BigInt(petId));
    const made = history.quantityOf(petId, version ?? '') ?? 1;
    if (quantity !== made) faults.push(`pet ${petId} has ${quantity}, and its version was made with ${made}`);
  }
  return faults;
}

/** No key is admitted more often than its limit says, and each request that is counts. */
async function limitFaults(host: LocalHost, requests: RequestStorm, keys: readonly Key[]): Promise<string[]> {
  const faults: string[] = [];
  for (const { issued, used, perDay } of keys.slice(1)) {
    // Until nothing is left: what the storm left of the limit, if anything.
    const api = ApiClient.withKey(host.baseUrl, used.token);
    let left = perDay;
    while ((await api.list()).status !== 429 && left >= 0) left -= 1;
    if (left < 0) faults.push(`a key with ${perDay} requests a day is still admitted after the storm`);
    const { dayUsed } = await issued.read();
    if (dayUsed > perDay) faults.push(`a key has used ${dayUsed} of ${perDay} requests a day`);
  }
  for (const { issued, used, perDay } of keys) {
    const admitted = requests.admitted(used);
    const { dayUsed } = await issued.read();
    if (admitted > Math.min(dayUsed, perDay)) faults.push(`${admitted} requests were admitted, ${dayUsed} counted`);
  }
  return faults;
}

/** Once it is over, all works at once, without a restart. */
async function aftermathFaults(host: LocalHost, token: string): Promise<string[]> {
  const api = ApiClient.withKey(host.baseUrl, token);
  const answers = [
    await api.list(),
    await api.setQuantity(101, 5),
    await api.send('GET', '/pets/101'),
    await api.send('GET', '/store/orders'),
  ];
  return answers.filter(({ status }) => status !== 200).map(({ status }) => `${status} after the storm`);
}

const THROTTLED = dynamoDBError(400, 'ThrottlingException');
const OVERLOADED = dynamoDBError(400, 'ProvisionedThroughputExceededException');
const FAILED = dynamoDBError(500, 'InternalServerError');

/** So many that most kinds of weather come. */
const MIN_CHANGES = 12;

/** What goes wrong with calls for a while, and how often. */
interface Weather {
  readonly probability: number;
  readonly faults: readonly Fault[];
}

const cuts: readonly Fault[] = [
  { kind: 'hangUp' },
  { kind: 'lostAnswer' },
  { kind: 'halfAnswer' },
  { kind: 'late', milliseconds: 20 },
  { kind: 'late', milliseconds: 300 },
];

const weathers: readonly Weather[] = [
  { probability: 0, faults: cuts },
  { probability: 0, faults: cuts },
  { probability: 0.2, faults: [THROTTLED, OVERLOADED] },
  { probability: 0.9, faults: [THROTTLED] },
  { probability: 0.3, faults: [FAILED, { kind: 'falseFailure' }] },
  { probability: 0.3, faults: cuts },
  { probability: 0.05, faults: [{ kind: 'silence' }] },
  { probability: 0.2, faults: [THROTTLED, FAILED, { kind: 'falseFailure' }, ...cuts, { kind: 'silence' }] },
];

/** Lets many things go wrong in the engine, each for a while, until it is enough; in the end nothing does. */
export async function changeWeather(engine: FaultyEngine, random: Random, isEnough: () => boolean): Promise<void> {
  for (let changes = 0; changes < MIN_CHANGES || !isEnough(); changes++) {
    const { probability, faults } = random.pick(weathers);
    engine.faults = () => (random.isLikely(probability) ? random.pick(faults) : undefined);
    await sleep(50 + random.below(300));
    if (!random.isLikely(0.2)) continue;
    await engine.disconnect();
    await sleep(random.below(200));
    await engine.reconnect();
  }
  engine.faults = () => undefined;
  await engine.settled();
}
