import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { documentClient } from '../../shared/dynamodb.ts';

/**
 * What becomes of a write on its way to DynamoDB: it is done; it is refused, and surely not done; it is done, and its
 * answer gets lost; it gets lost itself; it arrives at some later time.
 */
export type WriteFate = 'done' | 'throttled' | 'answerLost' | 'lost' | 'late';

/** Ways in which an answer can get lost. */
export const losses: readonly (readonly [string, () => Error])[] = [
  ['the connection is cut off', () => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })],
  ['the connection is closed', () => Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })],
  ['the time is over', () => Object.assign(new Error('no answer'), { name: 'TimeoutError' })],
  [
    'DynamoDB has a fault',
    () => Object.assign(new Error('a fault'), { $response: { statusCode: 500 }, $metadata: { httpStatusCode: 500 } }),
  ],
];

const throttled = (): Error =>
  Object.assign(new Error('slow down'), { name: 'ThrottlingException', code: 'ECONNREFUSED' });

/** A function's client, on whose way to DynamoDB writes can get lost: beneath the SDK, which tries three times. */
export class UnreliableWrites {
  readonly client: DynamoDBDocumentClient = documentClient({ maxAttempts: 3, requestTimeout: 3_000 });
  /** What becomes of the next write, and what others do before it arrives. */
  fate: () => Promise<WriteFate> = () => Promise.resolve('done');
  /** What others do before the next read. */
  beforeRead: () => Promise<void> = () => Promise.resolve();
  /** Called after every write that arrived in time. */
  afterWrite: () => Promise<void> = () => Promise.resolve();
  loss: () => Error = losses[0]?.[1] ?? throttled;
  /** Writes that the function sent. */
  sent = 0;
  readonly #late: (() => Promise<unknown>)[] = [];

  constructor() {
    this.client.middlewareStack.add(
      (next, { commandName }) =>
        async (args) => {
          if (commandName === 'UpdateItemCommand') return this.#write(() => next(args));
          await this.beforeRead();
          return next(args);
        },
      { step: 'finalizeRequest', priority: 'low' },
    );
  }

  /** Lets the oldest write that is late arrive, if there is one. */
  async deliver(): Promise<void> {
    // It may be refused, and nobody is there to hear of it.
    await this.#late
      .shift()?.()
      .catch(() => undefined);
  }

  get hasLate(): boolean {
    return this.#late.length > 0;
  }

  async #write<Answer>(send: () => Promise<Answer>): Promise<Answer> {
    const fate = await this.fate();
    this.sent += 1;
    if (fate === 'throttled') throw throttled();
    if (fate === 'late') this.#late.push(send);
    if (fate === 'late' || fate === 'lost') throw this.loss();
    try {
      const answer = await send();
      if (fate === 'answerLost') throw this.loss();
      return answer;
    } finally {
      await this.afterWrite();
    }
  }
}
