import { AsyncLocalStorage } from 'node:async_hooks';
import {
  DynamoDBServiceException,
  InternalServerError,
  ProvisionedThroughputExceededException,
  ThrottlingException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb';
import type { Random } from '../support/random.ts';
import { canceled, clientOver, type Input, type Tamper, TRANSACTION, VirtualTables } from './virtual-tables.ts';
import type { VirtualTime } from './virtual-time.ts';

/**
 * What becomes of a call: it is executed; it is throttled; it never arrives; it is executed, and the answer is lost; it
 * is executed long after the client gave up; its connection was idle for so long that it is closed.
 */
type Fate = 'done' | 'throttled' | 'unreached' | 'lost' | 'late' | 'reset';

/** The connection to DynamoDB. */
export interface Network {
  /** The probability of each fault, for one call. */
  readonly faults: Readonly<Partial<Record<Exclude<Fate, 'done'>, number>>>;
  /** One way, in milliseconds: at least, and at most beyond that. */
  readonly latency: readonly [number, number];
}

export const GOOD_NETWORK: Network = { faults: {}, latency: [1, 3] };

const networks: readonly Network[] = [
  GOOD_NETWORK,
  { ...GOOD_NETWORK, latency: [1, 40] },
  { faults: { throttled: 0.1 }, latency: [1, 3] },
  { faults: { lost: 0.08, unreached: 0.08, reset: 0.5 }, latency: [1, 3] },
  { faults: { late: 0.1, lost: 0.1, reset: 0.5 }, latency: [1, 500] },
  { faults: { throttled: 0.08, unreached: 0.05, lost: 0.05, late: 0.05, reset: 0.5 }, latency: [1, 20] },
  { faults: { throttled: 0.2, unreached: 0.1, lost: 0.15, late: 0.15, reset: 0.5 }, latency: [1, 60] },
];

export const randomNetwork = (random: Random): Network => random.pick(networks);

/** An execution environment, as DynamoDB knows it. */
export interface Caller {
  lastCallAt: number;
  /** Its calls that failed so far, for other reasons than their own condition. */
  faults: number;
}

interface Command {
  readonly name: string;
  readonly input: Input;
  /** The writer of its commits. */
  readonly writer: string;
}

type Outcome = { readonly output: Input } | { readonly error: unknown; readonly isFault: boolean };

interface Settings {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly network: Network;
  /** Writes of one item a second; beyond them it is throttled. */
  readonly writesPerSecond?: number;
  /** Whether all items are on one partition, which takes no more writes than one item does. */
  readonly isOnePartition?: boolean;
  readonly tamper?: Tamper | undefined;
  /** Called for each command that is executed, and not throttled. */
  readonly onExecuted?: () => void;
}

/** Longest wait of a client, in milliseconds. */
const REQUEST_TIMEOUT_MS = 1_000;
/** A late call is executed after this time at most, in milliseconds. */
const LATEST_MS = 20_000;
/** A connection that was not used for this long may be closed. */
const IDLE_MS = 2_000;

/** DynamoDB in virtual time, with the network before it. */
export class VirtualDynamoDB {
  readonly tables = new VirtualTables();
  /** The client of all functions. */
  readonly client = clientOver((name, input) => this.#call(name, input));
  readonly #settings: Settings;
  readonly #callers = new AsyncLocalStorage<{ readonly caller: Caller; readonly writer: string }>();
  /** The write units of each item: a bucket that fills as time goes by, and holds a tenth of a second's writes. */
  readonly #buckets = new Map<string, { left: number; at: number }>();
  /** Items of the transactions under way. */
  readonly #locked = new Set<string>();

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** Runs what an execution environment does for one request: the calls in it are its own. */
  as<Result>(caller: Caller, writer: string, work: () => Result): Result {
    return this.#callers.run({ caller, writer }, work);
  }

  #call(name: string, sent: Input): Promise<Input> {
    const from = this.#callers.getStore();
    if (!from) throw new Error('A call belongs to no execution environment');
    const { caller, writer } = from;
    const { time, random, network, tamper } = this.#settings;
    const { promise, resolve, reject } = Promise.withResolvers<Input>();
    const command = { name, writer, input: tamper?.(name, sent) ?? sent };
    const arrives = time.now + this.#latency();
    const givesUp = time.now + REQUEST_TIMEOUT_MS;
    const fail = (at: number, error: Error): void => {
      caller.faults += 1;
      time.at(at, () => reject(error));
    };
    const lose = (): void => {
      const error = randomLoss(random);
      fail(error.name === 'TimeoutError' ? givesUp : Math.max(arrives, time.now) + this.#latency(), error);
    };
    const answer = (outcome: Outcome): void => {
      const at = time.now + this.#latency();
      if ('error' in outcome && outcome.isFault) caller.faults += 1;
      if (at > givesUp) fail(givesUp, timedOut());
      else time.at(at, () => ('error' in outcome ? reject(outcome.error) : resolve(outcome.output)));
    };
    const arrive = (at: number, then: (outcome: Outcome) => void): void =>
      time.at(at, () => this.#begin(command, then));
    const isIdle = time.now - caller.lastCallAt > IDLE_MS;
    caller.lastCallAt = time.now;
    const fate = randomFate(network, random, isIdle);
    if (fate === 'reset') fail(time.now, connectionReset());
    else if (fate === 'throttled') fail(arrives + this.#latency(), randomThrottle(random));
    else if (fate === 'done') arrive(arrives, answer);
    else if (fate === 'lost') arrive(arrives, lose);
    else {
      lose();
      if (fate === 'late') arrive(arrives + random.below(LATEST_MS), () => undefined);
    }
    return promise;
  }

  /** Executes a command. A transaction takes a while, in which its items are locked. */
  #begin(command: Command, then: (outcome: Outcome) => void): void {
    const { time, random, isOnePartition } = this.#settings;
    const { name, input } = command;
    if (name === 'GetItemCommand') return then(this.#execute(command));
    const isTransaction = name === TRANSACTION;
    const items = this.tables.itemsOf(name, input);
    if (!items.every((item) => this.#takeUnits(isOnePartition ? 'the only one' : item, isTransaction ? 2 : 1)))
      return then({ error: randomThrottle(random), isFault: true });
    const reasons = items.map((item) => ({ Code: this.#locked.has(item) ? 'TransactionConflict' : 'None' }));
    if (reasons.some(({ Code }) => Code !== 'None'))
      return then({ error: isTransaction ? canceled(reasons) : conflict(), isFault: true });
    if (!isTransaction) return then(this.#execute(command));
    for (const item of items) this.#locked.add(item);
    time.at(time.now + this.#latency(), () => {
      for (const item of items) this.#locked.delete(item);
      then(this.#execute(command));
    });
  }

  #execute({ name, input, writer }: Command): Outcome {
    this.#settings.onExecuted?.();
    try {
      return { output: this.tables.execute(name, input, { at: this.#settings.time.now, writer }) };
    } catch (error) {
      // An expression that DynamoDB refuses is a fault of the round, not an answer.
      if (!(error instanceof DynamoDBServiceException)) throw error;
      return { error, isFault: false };
    }
  }

  /** Takes write units of an item, if there are so many. */
  #takeUnits(item: string, units: number): boolean {
    const { time, writesPerSecond = Infinity } = this.#settings;
    if (writesPerSecond === Infinity) return true;
    const most = writesPerSecond / 10;
    const bucket = this.#buckets.get(item) ?? { left: most, at: time.now };
    const left = Math.min(most, bucket.left + ((time.now - bucket.at) * writesPerSecond) / 1_000);
    const isAllowed = left >= units;
    this.#buckets.set(item, { left: isAllowed ? left - units : left, at: time.now });
    return isAllowed;
  }

  #latency(): number {
    const { random, network } = this.#settings;
    const [least, beyond] = network.latency;
    return least + random.next() * beyond;
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

const timedOut = (): Error => failure({ name: 'TimeoutError' });

const answered = { message: 'The call has failed', $metadata: { attempts: 1, totalRetryDelay: 0 } };

/** The client's error where an answer is lost: at once, or, where it times out, when its time is over. */
const randomLoss = (random: Random): Error =>
  random.pick([connectionReset(), failure({ code: 'EPIPE' }), timedOut(), new InternalServerError(answered)]);

const randomThrottle = (random: Random): Error =>
  random.pick([new ThrottlingException(answered), new ProvisionedThroughputExceededException(answered)]);

const conflict = (): Error => new TransactionConflictException({ ...answered, message: 'Transaction is ongoing' });
