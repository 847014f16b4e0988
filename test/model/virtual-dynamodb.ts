import { AsyncLocalStorage } from 'node:async_hooks';
import { DynamoDBServiceException, TransactionConflictException } from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { documentClient, exactNumbers } from '../../shared/dynamodb.ts';
import type { Random } from '../support/random.ts';
import { canceled, type Input, itemOf, TRANSACTION, VirtualTables } from './virtual-tables.ts';
import type { VirtualTime } from './virtual-time.ts';
import { connectionReset, fateOf, someLoss, someThrottle, timedOut, type Weather } from './weather.ts';

/** Changes a command before it is carried out: a fault of the program under test, made on purpose. */
export type Tamper = (command: string, input: Input) => Input;

/** An execution environment, as DynamoDB meets it. */
export interface Caller {
  lastCallAt: number;
  /** Calls of it that went wrong so far, for other reasons than their own condition. */
  troubles: number;
}

export const newCaller = (now: number): Caller => ({ lastCallAt: now, troubles: 0 });

interface Command {
  readonly name: string;
  readonly input: Input;
  /** What its commits are marked with. */
  readonly writer: string;
}

interface Settings {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly weather: Weather;
  /** Writes of one item a second; beyond them it is throttled. */
  readonly writesPerSecond?: number;
  /** Whether all items are on one partition, which takes no more writes than one item does. */
  readonly isOnePartition?: boolean;
  readonly tamper?: Tamper | undefined;
  /** Told of each command that is carried out, and not throttled. */
  readonly onExecuted?: () => void;
}

/** Longest wait of a client, in milliseconds. */
const REQUEST_TIMEOUT_MS = 1_000;
/** How late a call may be done, in milliseconds. */
const LATEST_MS = 20_000;
/** A connection that was not used for this long may be gone. */
const IDLE_MS = 2_000;

/** DynamoDB in virtual time, with the way to it. */
export class VirtualDynamoDB {
  readonly tables = new VirtualTables();
  readonly client = this.#newClient();
  readonly #settings: Settings;
  readonly #callers = new AsyncLocalStorage<{ readonly caller: Caller; readonly writer: string }>();
  readonly #ceiling: WriteCeiling;
  /** Items that a transaction is at work on. */
  readonly #locked = new Set<string>();

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#ceiling = new WriteCeiling(settings.writesPerSecond ?? Infinity);
  }

  /** Runs what an execution environment does for one request: the calls in it are its own. */
  as<Result>(caller: Caller, writer: string, work: () => Result): Result {
    return this.#callers.run({ caller, writer }, work);
  }

  /** The client of all functions. The SDK checks a command and makes attribute values of it; the rest is here. */
  #newClient(): DynamoDBDocumentClient {
    const client = documentClient({ requestTimeout: REQUEST_TIMEOUT_MS });
    client.middlewareStack.addRelativeTo(
      (_: unknown, { commandName: name = '' }) =>
        async ({ input }: { readonly input: object }) => {
          const from = this.#callers.getStore();
          if (!from) throw new Error('A call belongs to no execution environment');
          const output = await this.#call(from.caller, { name, input: { ...input }, writer: from.writer });
          return { output: withPlainItems(output), response: undefined };
        },
      { relation: 'after', toMiddleware: 'DocumentMarshall' },
    );
    return client;
  }

  #call(caller: Caller, command: Command): Promise<Input> {
    const { time, random, weather } = this.#settings;
    const { promise, resolve, reject } = Promise.withResolvers<Input>();
    const arrives = time.now + this.#latency();
    const givesUp = time.now + REQUEST_TIMEOUT_MS;
    const fail = (at: number, error: Error): void => {
      caller.troubles += 1;
      time.at(at, () => reject(error));
    };
    const lose = (): void => {
      const error = someLoss(random);
      fail(error.name === 'TimeoutError' ? givesUp : Math.max(arrives, time.now) + this.#latency(), error);
    };
    const answer = (outcome: Outcome): void => {
      const at = time.now + this.#latency();
      if ('error' in outcome && outcome.isTrouble) caller.troubles += 1;
      if (at > givesUp) fail(givesUp, timedOut());
      else time.at(at, () => ('error' in outcome ? reject(outcome.error) : resolve(outcome.output)));
    };
    const fate = fateOf(weather, random, time.now - caller.lastCallAt > IDLE_MS);
    caller.lastCallAt = time.now;
    if (fate === 'reset') fail(time.now, connectionReset());
    else if (fate === 'throttled') fail(arrives + this.#latency(), someThrottle(random));
    else if (fate === 'done') this.#arrive(command, arrives, answer);
    else if (fate === 'lost') this.#arrive(command, arrives, lose);
    else {
      lose();
      if (fate === 'late') this.#arrive(command, arrives + random.below(LATEST_MS), () => undefined);
    }
    return promise;
  }

  #arrive(command: Command, at: number, then: (outcome: Outcome) => void): void {
    const { time, tamper = (_, same) => same } = this.#settings;
    const input = tamper(command.name, command.input);
    time.at(at, () => this.#begin({ ...command, input }, then));
  }

  /** Carries a command out. One that is a transaction takes a while, in which its items are locked. */
  #begin(command: Command, then: (outcome: Outcome) => void): void {
    const { time, random } = this.#settings;
    const { name, input } = command;
    if (name === 'GetItemCommand') return then(this.#execute(command));
    const isTransaction = name === TRANSACTION;
    const items = this.tables.itemsOf(name, input);
    const partition = this.#settings.isOnePartition && 'the only one';
    if (!items.every((item) => this.#ceiling.allows(partition || item, time.now, isTransaction ? 2 : 1)))
      return then({ error: someThrottle(random), isTrouble: true });
    const reasons = items.map((item) => ({ Code: this.#locked.has(item) ? 'TransactionConflict' : 'None' }));
    if (reasons.some(({ Code }) => Code !== 'None'))
      return then({ error: isTransaction ? canceled(reasons) : conflict(), isTrouble: true });
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
      // An expression that DynamoDB refuses is a fault of the round, and no answer that a program has to live with.
      if (!(error instanceof DynamoDBServiceException)) throw error;
      return { error, isTrouble: false };
    }
  }

  #latency(): number {
    const { random, weather } = this.#settings;
    const [least, beyond] = weather.latency;
    return least + random.next() * beyond;
  }
}

/** An answer as the SDK's document client hands it over. */
export function withPlainItems(output: Input): never {
  const plain = Object.entries(output).map(([name, value]) => {
    if (name === 'Attributes' || name === 'Item') return [name, plainItem(value)];
    return [name, name === 'Items' && Array.isArray(value) ? value.map(plainItem) : value];
  });
  const answer: Input = Object.fromEntries(plain);
  // The type of an answer depends on the command, which is not known here.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return answer as never;
}

const plainItem = (item: unknown) => unmarshall(itemOf(item), { ...exactNumbers });

type Outcome = { readonly output: Input } | { readonly error: unknown; readonly isTrouble: boolean };

const conflict = (): Error =>
  new TransactionConflictException({
    message: 'Transaction is ongoing for the item',
    $metadata: { httpStatusCode: 400, attempts: 1, totalRetryDelay: 0 },
  });

/** What one item can be written in a second, and no more: a bucket that fills as time goes by, and holds a tenth of it. */
class WriteCeiling {
  readonly #perSecond: number;
  readonly #buckets = new Map<string, { left: number; at: number }>();

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  /** Takes write units of an item, if there are so many. */
  allows(item: string, now: number, units: number): boolean {
    if (this.#perSecond === Infinity) return true;
    const most = this.#perSecond / 10;
    const bucket = this.#buckets.get(item) ?? { left: most, at: now };
    const left = Math.min(most, bucket.left + ((now - bucket.at) * this.#perSecond) / 1_000);
    const isAllowed = left >= units;
    this.#buckets.set(item, { left: isAllowed ? left - units : left, at: now });
    return isAllowed;
  }
}
