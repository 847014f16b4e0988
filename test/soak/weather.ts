import { setTimeout as sleep } from 'node:timers/promises';
import { dynamoDBError, type Fault, type FaultyEngine } from '../support/faulty-engine.ts';
import type { Random } from '../support/random.ts';

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
