import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiClient } from '../support/api-client.ts';
import { dynamoDBError, type Fault, FaultyEngine } from '../support/faulty-engine.ts';
import { assemblyForFaults, hurryCalls, plantFaults } from '../support/function-faults.ts';
import { issueKey } from '../support/issue-key.ts';
import { LocalHost } from '../support/local-host.ts';
import { REMEMBERED_MS } from '../../shared/keys/remembered-key.ts';
import { Random } from '../support/random.ts';
import type { Outcome } from './models.ts';
import { Storm } from './storm.ts';

const CLIENTS = 12;
/** It goes on until so many updates were acknowledged, and so many not. */
const ENOUGH = 20;
/** So many that most kinds of faults come. */
const MIN_PHASES = 12;

/** Limits of the keys, and how often each is used. The first has room for all; of the others the day is used up. */
const keyKinds = [
  { perMinute: 60_000, perDay: 1_000_000, weight: 6 },
  { perMinute: 1_000, perDay: 40, weight: 1 },
  { perMinute: 60_000, perDay: 80, weight: 1 },
];

/** A storm of requests, while DynamoDB and functions fail at random. */
export async function faultRound(seed: number): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'pet-store-soak-'));
  const assembly = assemblyForFaults(folder);
  plantFaults(assembly, 'FunctionsUpdateInventory', 'x-fault-update');
  hurryCalls(assembly);
  const engine = await FaultyEngine.start();
  const host = await LocalHost.start({ assembly, dynamodb: engine.endpoint });
  try {
    return await runIn(engine, host, new Random(seed));
  } finally {
    await host.close();
    await engine.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runIn(engine: FaultyEngine, host: LocalHost, random: Random): Promise<Outcome> {
  const keys = await Promise.all(keyKinds.map(({ perMinute, perDay }) => issueKey(host, { perMinute, perDay })));
  const tokens = keys.flatMap(({ token }, index) => Array<string>(keyKinds[index]?.weight ?? 0).fill(token));
  const storm = new Storm(random, CLIENTS, [502, 503]);
  const { counts, violations } = storm;
  const running = storm.run(host.baseUrl, tokens);
  await injectFaults(engine, random, () => Math.min(counts.acknowledged, counts.unacknowledged) >= ENOUGH);
  storm.end();
  await running;
  // A key whose writes were throttled is refused from memory for so long.
  await sleep(REMEMBERED_MS);
  const api = ApiClient.withKey(host.baseUrl, keys[0]?.token ?? '');
  await storm.inspectStock(api);
  for (const key of keys) storm.inspectKey(key.token, await key.read());
  // Then all works, without a restart.
  const answers = [
    await api.setQuantity(101, 5),
    await api.send('GET', '/pets/101'),
    await api.send('GET', '/store/orders'),
  ];
  const failed = answers.filter(({ status }) => status !== 200).map(({ status }) => `${status} after the storm`);
  return { violations: [...violations, ...failed], counts };
}

const throttled = [
  dynamoDBError(400, 'ThrottlingException'),
  dynamoDBError(400, 'ProvisionedThroughputExceededException'),
];
const failed: readonly Fault[] = [dynamoDBError(500, 'InternalServerError'), { kind: 'falseFailure' }];
const silence: Fault = { kind: 'silence' };
const cuts: readonly Fault[] = [
  { kind: 'hangUp' },
  { kind: 'lostAnswer' },
  { kind: 'halfAnswer' },
  { kind: 'late', milliseconds: 20 },
  { kind: 'late', milliseconds: 300 },
];

/** The faults of calls during a while, and the probability that a call has one. */
const phases: readonly (readonly [number, readonly Fault[]])[] = [
  [0, cuts],
  [0, cuts],
  [0.2, throttled],
  [0.9, throttled],
  [0.3, failed],
  [0.3, cuts],
  [0.05, [silence]],
  [0.2, [...throttled, ...failed, ...cuts, silence]],
];

/** Lets calls of the engine fail in one way after the other, until it is enough; in the end none does. */
async function injectFaults(engine: FaultyEngine, random: Random, isEnough: () => boolean): Promise<void> {
  for (let count = 0; count < MIN_PHASES || !isEnough(); count++) {
    const [probability, faults] = random.pick(phases);
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
