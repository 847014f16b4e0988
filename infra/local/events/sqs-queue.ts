import { createHash, randomUUID } from 'node:crypto';

/** A message as a consumer receives it. */
export interface ReceivedMessage {
  readonly messageId: string;
  readonly receiptHandle: string;
  readonly body: string;
  readonly md5OfBody: string;
  /** Unix milliseconds. */
  readonly sentAt: number;
  /** Unix milliseconds. */
  readonly firstReceivedAt: number;
  /** How often it was received, this time included. */
  readonly receiveCount: number;
}

export interface SqsQueueSettings {
  readonly name: string;
  readonly arn: string;
  readonly visibilityTimeoutMs: number;
  readonly retentionMs: number;
  readonly redrive: { readonly deadLetterQueue: SqsQueue; readonly maxReceiveCount: number } | undefined;
}

interface Message {
  readonly messageId: string;
  readonly body: string;
  readonly sentAt: number;
  firstReceivedAt: number | undefined;
  receiveCount: number;
  receiptHandle: string;
  /** By the monotonic clock: a clock that is set must not hold messages back. */
  visibleAt: number;
}

/** A standard SQS queue in memory. What is in it is gone with the host. */
export class SqsQueue {
  readonly name: string;
  readonly arn: string;
  readonly #settings: SqsQueueSettings;
  readonly #log: (line: string) => void;
  readonly #consumers: (() => void)[] = [];
  #messages: Message[] = [];

  /** @param log is told of messages that come to a dead-letter queue */
  constructor(settings: SqsQueueSettings, log: (line: string) => void) {
    this.name = settings.name;
    this.arn = settings.arn;
    this.#settings = settings;
    this.#log = log;
  }

  /** Calls back whenever a message has arrived. */
  onArrival(consumer: () => void): void {
    this.#consumers.push(consumer);
  }

  send(body: string): void {
    const message = { messageId: randomUUID(), body, sentAt: Date.now() };
    this.#add({ ...message, firstReceivedAt: undefined, receiveCount: 0, receiptHandle: '', visibleAt: 0 });
  }

  /** Messages that could be received now. Those that were received too often go to the dead-letter queue. */
  get visibleCount(): number {
    this.#dropExpired();
    this.#redrive();
    return this.#visible().length;
  }

  /** When the next message becomes visible again, by `performance.now()`; undefined: none will. */
  get nextVisibleAt(): number | undefined {
    const hidden = this.#messages
      .map(({ visibleAt }) => visibleAt)
      .filter((visibleAt) => visibleAt > performance.now());
    return hidden.length === 0 ? undefined : Math.min(...hidden);
  }

  /** Takes messages for as long as the visibility timeout. */
  receive(most: number): ReceivedMessage[] {
    this.#redrive();
    return this.#visible()
      .slice(0, most)
      .map((message) => {
        message.receiveCount += 1;
        message.receiptHandle = randomUUID();
        message.visibleAt = performance.now() + this.#settings.visibilityTimeoutMs;
        const firstReceivedAt = (message.firstReceivedAt ??= Date.now());
        const { messageId, receiptHandle, body, sentAt, receiveCount } = message;
        const md5OfBody = createHash('md5').update(body).digest('hex');
        return { messageId, receiptHandle, body, md5OfBody, sentAt, firstReceivedAt, receiveCount };
      });
  }

  /** Removes messages that were received, as long as nobody has received them again. */
  delete(received: readonly ReceivedMessage[]): void {
    const handles = new Set(received.map(({ receiptHandle }) => receiptHandle));
    this.#messages = this.#messages.filter(({ receiptHandle }) => !handles.has(receiptHandle));
  }

  #add(message: Message): void {
    this.#dropExpired();
    this.#messages.push(message);
    for (const consumer of this.#consumers) consumer();
  }

  #visible(): Message[] {
    return this.#messages.filter(({ visibleAt }) => visibleAt <= performance.now());
  }

  #redrive(): void {
    const { redrive } = this.#settings;
    if (!redrive) return;
    const spent = new Set(this.#visible().filter(({ receiveCount }) => receiveCount >= redrive.maxReceiveCount));
    if (spent.size === 0) return;
    this.#messages = this.#messages.filter((message) => !spent.has(message));
    for (const message of spent) {
      this.#log(
        `Queue ${this.name}: message ${message.messageId} was received ${message.receiveCount} times and goes to the ` +
          `dead-letter queue ${redrive.deadLetterQueue.name}: ${message.body}`,
      );
      redrive.deadLetterQueue.#add({ ...message, receiveCount: 0, firstReceivedAt: undefined, visibleAt: 0 });
    }
  }

  #dropExpired(): void {
    const oldest = Date.now() - this.#settings.retentionMs;
    if (this.#messages.some(({ sentAt }) => sentAt < oldest)) {
      this.#messages = this.#messages.filter(({ sentAt }) => sentAt >= oldest);
    }
  }
}
