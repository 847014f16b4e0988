import { AsyncLocalStorage } from 'node:async_hooks';
import { TransactionConflictException } from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { documentClient, exactNumbers } from '../../shared/dynamodb.ts';
import type { Random } from '../support/random.ts';
import { canceled, type Input, itemOf, VirtualTables } from './virtual-tables.ts';
import type { Process, VirtualTime } from './virtual-time.ts';
import { connectionReset, fateOf, someLoss, someThrottle, timedOut, type Weather } from './weather.ts';

/** Changes a command before it is carried out: a fault of the program under test, made on purpose. */
export type Tamper = (command: string, input: Input) => Input;

/** An execution environment, as DynamoDB meets it. */
export interface Caller extends Process {
  /** Whether it was frozen since its last call, and the connection may be gone. */
  isConnectionIdle: boolean;
  /** Calls of it that went wrong so far, for other reasons than their own condition. */
  troubles: number;
}

export const newCaller = (): Caller => ({ frozenUntil: 0, isConnectionIdle: false, troubles: 0 });

interface Command {
  readonly name: string;
  readonly input: Input;
  /** What its commits are marked with. */
  readonly writer: string;
}

interface Settings {
  readonly time: VirtualTime;
  readonly random: Random;
  weather: Weather;
  /** Writes of one item a second; beyond them it is throttled. */
  readonly writesPerSecond?: number;
  readonly tamper?: Tamper;
  /** Told of each command that is carried out, and not throttled. */
  readonly onExecuted?: () => void;
}

/** Longest wait of a client, in milliseconds. */
const REQUEST_TIMEOUT_MS = 1_000;
const LATEST_MS = 20_000;
/** What belongs to nobody who could be frozen. */
const SERVER: Process = { frozenUntil: 0 };

/** DynamoDB in virtual time, with the way to it. */
export class VirtualDynamoDB {
  readonly tables = new VirtualTables();
  readonly client = this.#newClient();
  readonly settings: Settings;
  readonly #callers = new AsyncLocalStorage<{ readonly caller: Caller; readonly writer: string }>();
  readonly #ceiling: WriteCeiling;
  /** Items that a transaction is at work on. */
  readonly #locked = new Set<string>();

  constructor(settings: Settings) {
    this.settings = settings;
    this.#ceiling = new WriteCeiling(settings.writesPerSecond ?? Infinity);
  }

  /** Runs what an execution environment does for one request: the calls in it are its own. */
  as<Result>(caller: Caller, writer: string, work: () => Result): Result {
    return this.#callers.run({ caller, writer }, work);
  }

  /** The client of all functions. The SDK checks a command and makes attribute values of it; the rest is here. */
  #newClient(): DynamoDBDocumentClient {
    const client = documentClient({ maxAttempts: 1, requestTimeout: REQUEST_TIMEOUT_MS });
    client.middlewareStack.addRelativeTo(
      (_: unknown, { commandName = '' }) =>
        async ({ input }: { readonly input: object }) => {
          const from = this.#callers.getStore();
          if (!from) throw new Error('A call belongs to no execution environment');
          const output = await this.#call(from.caller, { name: commandName, input: { ...input }, writer: from.writer });
          return { output: withPlainItems(output), response: undefined };
        },
      { relation: 'after', toMiddleware: 'DocumentMarshall' },
    );
    return client;
  }

  #call(caller: Caller, command: Command): Promise<Input> {
    const { time, random, weather } = this.settings;
    const { promise, resolve, reject } = Promise.withResolvers<Input>();
    const answer = (at: number, tell: () => void): void => time.at(at, tell, caller);
    const fail = (at: number, error: Error): void => {
      caller.troubles += 1;
      answer(at, () => reject(error));
    };
    const arrives = time.now + this.#latency();
    const givesUp = time.now + REQUEST_TIMEOUT_MS;
    if (caller.isConnectionIdle) {
      caller.isConnectionIdle = false;
      if (random.isLikely(0.5)) {
        fail(time.now, connectionReset());
        return promise;
      }
    }
    const fate = fateOf(weather, random);
    const lose = (): void => {
      const { error, isSlow } = someLoss(random);
      fail(isSlow ? givesUp : Math.max(arrives, time.now) + this.#latency(), error);
    };
    if (fate === 'throttled') fail(arrives + this.#latency(), someThrottle(random));
    else if (fate === 'unreached') lose();
    else if (fate === 'late') {
      lose();
      this.#arrive(command, arrives + random.below(LATEST_MS), () => undefined);
    } else {
      if (fate === 'stalled') caller.troubles += 1;
      const isStuck = fate === 'stalled' && random.isLikely(0.3);
      this.#arrive(command, arrives, (outcome) => {
        const delay = fate === 'stalled' ? random.below(900) : 0;
        const at = time.now + this.#latency() + delay;
        if (fate === 'lost') lose();
        else if (isStuck || at > givesUp) fail(givesUp, timedOut());
        else if ('error' in outcome) answer(at, () => reject(outcome.error));
        else answer(at, () => resolve(outcome.output));
        if ('error' in outcome && outcome.isTrouble) caller.troubles += 1;
      });
    }
    return promise;
  }

  /** Carries a command out once it arrives; one that is a transaction takes a while, in which its items are locked. */
  #arrive(command: Command, at: number, then: (outcome: Outcome) => void): void {
    const { time, tamper = (_, same) => same } = this.settings;
    const input = tamper(command.name, command.input);
    time.at(at, () => this.#begin({ ...command, input }, then), SERVER);
  }

  #begin(command: Command, then: (outcome: Outcome) => void): void {
    const { time, random } = this.settings;
    const items = this.tables.itemsOf(command.name, command.input);
    const isTransaction = command.name === 'TransactWriteItemsCommand';
    const isRead = command.name === 'GetItemCommand';
    if (!isRead && !items.every((item) => this.#ceiling.allows(item, time.now, isTransaction ? 2 : 1))) {
      then({ error: someThrottle(random), isTrouble: true });
      return;
    }
    if (!isTransaction) {
      if (!isRead && items.some((item) => this.#locked.has(item))) {
        then({ error: conflict(), isTrouble: true });
      } else then(this.#execute(command));
      return;
    }
    if (items.some((item) => this.#locked.has(item))) {
      const reasons = items.map((item) => ({ Code: this.#locked.has(item) ? 'TransactionConflict' : 'None' }));
      then({ error: canceled(reasons), isTrouble: true });
      return;
    }
    for (const item of items) this.#locked.add(item);
    const done = (): void => {
      for (const item of items) this.#locked.delete(item);
      then(this.#execute(command));
    };
    time.at(time.now + this.#latency(), done, SERVER);
  }

  #execute({ name, input, writer }: Command): Outcome {
    this.settings.onExecuted?.();
    try {
      return { output: this.tables.execute(name, input, { at: this.settings.time.now, writer }) };
    } catch (error) {
      return { error, isTrouble: false };
    }
  }

  #latency(): number {
    const { random, weather } = this.settings;
    const [least, beyond] = weather.latency;
    return least + random.next() * beyond;
  }
}

/** As the SDK's document client hands items over. */
function withPlainItems(output: Input): never {
  const items = Object.entries(output).filter(([name]) => name === 'Attributes' || name === 'Item');
  const plain = items.map(([name, item]) => [name, unmarshall(itemOf(item), { ...exactNumbers })]);
  const answer: Input = { ...output, ...Object.fromEntries(plain) };
  // The type of an answer depends on the command, which nobody knows here.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return answer as never;
}

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
