import type { SqsQueue } from './sqs-queue.ts';
import { sqsEvent } from './sqs-event.ts';

/** Something that runs an event, such as a Lambda function. */
export interface Invocable {
  /** @param event JSON text */
  invoke(event: string): Promise<string>;
}

export interface EventSourceMappingSettings {
  readonly queue: SqsQueue;
  readonly target: Invocable;
  readonly functionName: string;
  readonly batchSize: number;
  /** How long it waits after the first message for more of them. */
  readonly batchingWindowMs: number;
  /** Batches that it has under way at most. */
  readonly maxConcurrency: number;
}

/** Lets a function work on a queue: collects messages to batches, and deletes those that the function has taken. */
export class EventSourceMapping {
  readonly #settings: EventSourceMappingSettings;
  readonly #log: (line: string) => void;
  #underWay = 0;
  /** By the monotonic clock, which moves on where a test stops the other. */
  #windowEndsAt: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(settings: EventSourceMappingSettings, log: (line: string) => void) {
    this.#settings = settings;
    this.#log = log;
    settings.queue.onArrival(() => this.#advance());
  }

  /** Starts no more batches. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  /** Starts the batches that are due, and sets the alarm for the next. */
  #advance(): void {
    clearTimeout(this.#timer);
    if (this.#closed) return;
    const { queue, batchSize, maxConcurrency } = this.#settings;
    while (this.#underWay < maxConcurrency && this.#isBatchDue()) {
      this.#windowEndsAt = undefined;
      void this.#run(queue.receive(batchSize));
    }
    // With all under way, the end of one is the next alarm.
    if (this.#underWay >= maxConcurrency) return;
    const wakeAt = Math.min(this.#windowEndsAt ?? Infinity, queue.nextVisibleAt ?? Infinity);
    if (wakeAt === Infinity) return;
    this.#timer = setTimeout(() => this.#advance(), Math.max(1, Math.ceil(wakeAt - performance.now())));
  }

  #isBatchDue(): boolean {
    const { queue, batchSize, batchingWindowMs } = this.#settings;
    const count = queue.visibleCount;
    if (count === 0) {
      this.#windowEndsAt = undefined;
      return false;
    }
    this.#windowEndsAt ??= performance.now() + batchingWindowMs;
    return count >= batchSize || performance.now() >= this.#windowEndsAt;
  }

  async #run(messages: ReturnType<SqsQueue['receive']>): Promise<void> {
    const { queue, target, functionName } = this.#settings;
    this.#underWay += 1;
    try {
      await target.invoke(JSON.stringify(sqsEvent(queue.arn, messages)));
      queue.delete(messages);
    } catch (error) {
      // The messages become visible again when their time is over.
      if (!this.#closed)
        this.#log(`${functionName} failed on ${messages.length} messages of ${queue.name}: ${String(error)}`);
    } finally {
      this.#underWay -= 1;
      this.#advance();
    }
  }
}
