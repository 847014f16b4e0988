import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { SqsQueue, type SqsQueueSettings } from '../../../../infra/local/events/sqs-queue.ts';

let log: string[];

beforeEach(() => {
  jest.useFakeTimers();
  log = [];
});

afterEach(() => {
  jest.useRealTimers();
});

function aQueue(differences: Partial<SqsQueueSettings> = {}): SqsQueue {
  const settings = {
    name: 'queue',
    arn: 'arn:queue',
    visibilityTimeoutMs: 30_000,
    retentionMs: 60_000,
    redrive: undefined,
    ...differences,
  };
  return new SqsQueue(settings, (line) => log.push(line));
}

const bodies = (messages: ReturnType<SqsQueue['receive']>) => messages.map(({ body }) => body);

describe('a queue', () => {
  test('gives its messages in their order, so many at most', () => {
    const queue = aQueue();
    for (const body of ['a', 'b', 'c']) queue.send(body);

    expect(bodies(queue.receive(2))).toEqual(['a', 'b']);
    expect(bodies(queue.receive(2))).toEqual(['c']);
    expect(bodies(queue.receive(2))).toEqual([]);
  });

  test('says of a message what SQS does', () => {
    const queue = aQueue();
    queue.send('hello');
    jest.advanceTimersByTime(1_000);
    const sentAt = Date.now() - 1_000;

    expect(queue.receive(1)).toEqual([
      {
        messageId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        receiptHandle: expect.any(String),
        body: 'hello',
        md5OfBody: '5d41402abc4b2a76b9719d911017c592',
        sentAt,
        firstReceivedAt: sentAt + 1_000,
        receiveCount: 1,
      },
    ]);
  });

  test('hides a message that was received until its visibility timeout is over', () => {
    const queue = aQueue();
    queue.send('a');
    const [first] = queue.receive(1);
    jest.advanceTimersByTime(29_999);
    expect(queue.visibleCount).toBe(0);
    jest.advanceTimersByTime(1);
    const [second] = queue.receive(1);

    expect(second).toMatchObject({
      messageId: first?.messageId,
      receiveCount: 2,
      firstReceivedAt: first?.firstReceivedAt,
    });
    expect(second?.receiptHandle).not.toBe(first?.receiptHandle);
  });

  test('forgets what is deleted, and not what somebody else has received since', () => {
    const queue = aQueue();
    queue.send('a');
    queue.send('b');
    const late = queue.receive(1);
    jest.advanceTimersByTime(30_000);
    queue.delete(queue.receive(2).filter(({ body }) => body === 'b'));
    queue.delete(late);
    jest.advanceTimersByTime(29_999);
    jest.advanceTimersByTime(1);

    expect(bodies(queue.receive(10))).toEqual(['a']);
  });

  test('drops what is older than its retention', () => {
    const queue = aQueue();
    queue.send('a');
    jest.advanceTimersByTime(60_000);
    expect(queue.visibleCount).toBe(1);
    jest.advanceTimersByTime(1);

    expect(queue.visibleCount).toBe(0);
  });
});

describe('a queue with a dead-letter queue', () => {
  test('hands over a message that was received too often, with a line in the log', () => {
    const deadLetterQueue = aQueue({ name: 'failed' });
    const queue = aQueue({ redrive: { deadLetterQueue, maxReceiveCount: 2 } });
    queue.send('a');
    queue.receive(1);
    jest.advanceTimersByTime(30_000);
    queue.receive(1);
    jest.advanceTimersByTime(30_000);

    expect(queue.visibleCount).toBe(0);
    expect(bodies(deadLetterQueue.receive(1))).toEqual(['a']);
    expect(log).toEqual([
      expect.stringMatching(
        /^Queue queue: message \S+ was received 2 times and goes to the dead-letter queue failed: a$/,
      ),
    ]);
  });

  test('keeps a message that may be received once more', () => {
    const deadLetterQueue = aQueue();
    const queue = aQueue({ redrive: { deadLetterQueue, maxReceiveCount: 2 } });
    queue.send('a');
    queue.receive(1);
    jest.advanceTimersByTime(30_000);

    expect(queue.visibleCount).toBe(1);
    expect(deadLetterQueue.visibleCount).toBe(0);
  });
});
