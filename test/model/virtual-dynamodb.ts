import { AsyncLocalStorage } from 'node:async_hooks';
import {
  DynamoDBServiceException,
  InternalServerError,
  ProvisionedThroughputExceededException,
  ThrottlingException,
} from '@aws-sdk/client-dynamodb';
import type { Random } from '../support/random.ts';
import { clientOver, type Input, keyOf, VirtualTable } from './virtual-table.ts';
import type { VirtualTime } from './virtual-time.ts';

/**
 * What becomes of a call: it is executed; it is throttled; it never arrives; it is executed, its response is lost; it
 * is executed long after the client gave up; its connection was idle for so long that it is closed.
 */
type Fate = 'done' | 'throttled' | 'unreached' | 'lost' | 'late' | 'reset';

export interface Network {
  /** The probability of each fault, for one call. */
  readonly faults: Readonly<Partial<Record<Exclude<Fate, 'done'>, number>>>;
  /** One way, in milliseconds: at least, and at most beyond that. */
  readonly latency: readonly [number, number];
}

export const GOOD_NETWORK: Network = { faults: {}, latency: [1, 3] };

const networks: readonly Network[] = [
  { ...GOOD_NETWORK, latency: [1, 40] },
  { faults: { throttled: 0.1 }, latency: [1, 3] },
  { faults: { lost: 0.08, unreached: 0.08, reset: 0.5 }, latency: [1, 3] },
  { faults: { late: 0.1, lost: 0.1, reset: 0.5 }, latency: [1, 500] },
  { faults: { throttled: 0.2, unreached: 0.1, lost: 0.15, late: 0.15, reset: 0.5 }, latency: [1, 60] },
];

export const randomNetwork = (random: Random): Network => random.pick(networks);

/** An execution environment, as DynamoDB knows it. */
export interface Caller {
  lastCallAt: number;
  /** Its calls that failed so far, for other reasons than their own condition. */
  faults: number;
  /** Those of them whose response was lost: the call was executed, or will be. */
  lost: number;
}

interface Settings {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly network: Network;
  /** Writes of one item a second; beyond them it is throttled. */
  readonly writesPerSecond?: number;
  /** Whether all items are on one partition, which takes no more writes than one item does. */
  readonly isOnePartition?: boolean;
  /** Called for each command that is executed, and not throttled. */
  readonly onExecuted?: () => void;
}

/** Longest wait of a client, in milliseconds. */
const REQUEST_TIMEOUT_MS = 1_000;
/** A late call is executed after this time at most, in milliseconds. */
const LATEST_MS = 20_000;
/** A connection that was not used for this long may be closed. */
const IDLE_MS = 2_000;

/** The keys table in virtual time, with the network before it. */
export class VirtualDynamoDB {
  readonly table = new VirtualTable();
  /** The client of all functions. */
  readonly client = clientOver((name, input) => this.#call(name, input));
  readonly #settings: Settings;
  readonly #callers = new AsyncLocalStorage<{ readonly caller: Caller; readonly writer: string }>();
  /** The write units of each item: a bucket that fills as time goes by, and holds a tenth of a second's writes. */
  readonly #buckets = new Map<string, { left: number; at: number }>();

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** Runs what an execution environment does for one request: the calls in it are its own. */
  as<Result>(caller: Caller, writer: string, work: () => Result): Result {
    return this.#callers.run({ caller, writer }, work);
  }

  async #call(name: string, input: Input): Promise<Input> {
    const from = this.#callers.getStore();
    if (!from) throw new Error('A call belongs to no execution environment');
    const { caller, writer } = from;
    const { time, random, network } = this.#settings;
    const isIdle = time.now - caller.lastCallAt > IDLE_MS;
    caller.lastCallAt = time.now;
    const givesUp = time.now + REQUEST_TIMEOUT_MS;
    const execute = (): Input => this.#execute(name, input, writer);
    try {
      const fate = randomFate(network, random, isIdle);
      if (fate === 'reset') throw connectionReset();
      if (fate === 'late') time.at(time.now + random.below(LATEST_MS), () => void ignoreFailure(execute));
      await time.sleep(this.#latency());
      if (fate === 'throttled') throw randomThrottle(random);
      const response = fate === 'done' || fate === 'lost' ? ignoreFailure(execute) : undefined;
      const lost = fate === 'done' ? undefined : randomLoss(random);
      const answersAt = time.now + this.#latency();
      const isTimedOut = lost?.name === 'TimeoutError' || answersAt > givesUp;
      await time.sleep((isTimedOut ? givesUp : answersAt) - time.now);
      if ((isTimedOut || lost) && fate !== 'unreached') caller.lost += 1;
      if (isTimedOut) throw timedOut();
      if (lost) throw lost;
      if (response instanceof Error) throw response;
      return response ?? {};
    } catch (error) {
      if (!(error instanceof DynamoDBServiceException && error.name === 'ConditionalCheckFailedException'))
        caller.faults += 1;
      throw error;
    }
  }

  /** @throws the SDK's errors */
  #execute(name: string, input: Input, writer: string): Input {
    const { time, random, isOnePartition, onExecuted } = this.#settings;
    if (!this.#takeUnit(isOnePartition ? 'all of them' : keyOf(input))) throw randomThrottle(random);
    onExecuted?.();
    return this.table.execute(name, input, { at: time.now, writer });
  }

  #takeUnit(item: string): boolean {
    const { time, writesPerSecond = Infinity } = this.#settings;
    if (writesPerSecond === Infinity) return true;
    const most = writesPerSecond / 10;
    const bucket = this.#buckets.get(item) ?? { left: most, at: time.now };
    const left = Math.min(most, bucket.left + ((time.now - bucket.at) * writesPerSecond) / 1_000);
    const isAllowed = left >= 1;
    this.#buckets.set(item, { left: isAllowed ? left - 1 : left, at: time.now });
    return isAllowed;
  }

  #latency(): number {
    const { random, network } = this.#settings;
    const [least, beyond] = network.latency;
    return least + random.next() * beyond;
  }
}

/** A response, or the failure that DynamoDB answers with. An expression that it refuses is a fault of the round. */
function ignoreFailure(execute: () => Input): Input | Error {
  try {
    return execute();
  } catch (error) {
    if (error instanceof DynamoDBServiceException) return error;
    throw error;
  }
}

function randomFate({ faults }: Network, random: Random, isIdle: boolean): Fate {
  if (isIdle && random.isLikely(faults.reset ?? 0)) return 'reset';
  let chance = random.next();
  for (const fate of ['throttled', 'unreached', 'lost', 'late'] as const) {
    chance -= faults[fate] ?? 0;
    if (chance < 0) return fate;
  }
  return 'done';
}

const failure = (properties: object): Error => Object.assign(new Error('The call has failed'), properties);

const connectionReset = (): Error => failure({ code: 'ECONNRESET' });

const timedOut = (): Error => failure({ name: 'TimeoutError', $metadata: {} });

const answered = { message: 'The call has failed', $metadata: { attempts: 1, totalRetryDelay: 0 } };

/** The client's error where a response is lost: at once, or, where it times out, when its time is over. */
const randomLoss = (random: Random): Error =>
  random.pick([connectionReset(), failure({ code: 'EPIPE' }), timedOut(), new InternalServerError(answered)]);

const randomThrottle = (random: Random): Error =>
  random.pick([new ThrottlingException(answered), new ProvisionedThroughputExceededException(answered)]);
