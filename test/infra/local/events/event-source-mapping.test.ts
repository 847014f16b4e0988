import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import * as v from 'valibot';
import {
  EventSourceMapping,
  type EventSourceMappingSettings,
} from '../../../../infra/local/events/event-source-mapping.ts';
import { SqsQueue } from '../../../../infra/local/events/sqs-queue.ts';
import { RecordingFunction } from '../../../support/recording-function.ts';

let log: string[];
let queue: SqsQueue;
let failed: SqsQueue;
let mapping: EventSourceMapping;

beforeEach(() => {
  jest.useFakeTimers();
  log = [];
  const keep = (line: string) => void log.push(line);
  const settings = { arn: 'arn:queue', visibilityTimeoutMs: 30_000, retentionMs: 345_600_000 };
  failed = new SqsQueue({ ...settings, name: 'failed', redrive: undefined }, keep);
  const redrive = { deadLetterQueue: failed, maxReceiveCount: 3 };
  queue = new SqsQueue({ ...settings, name: 'queue', redrive }, keep);
});

afterEach(() => {
  mapping.close();
  jest.useRealTimers();
});

function map(target: RecordingFunction, differences: Partial<EventSourceMappingSettings> = {}): RecordingFunction {
  const settings = { queue, target, functionName: 'sync', batchSize: 10, batchingWindowMs: 0, maxConcurrency: 2 };
  mapping = new EventSourceMapping({ ...settings, ...differences }, (line) => log.push(line));
  return target;
}

function send(...bodies: readonly string[]): void {
  for (const body of bodies) queue.send(body);
}

const eventSchema = v.object({ Records: v.array(v.object({ body: v.string() })) });
const batches = ({ events }: RecordingFunction) =>
  events.map((event) => v.parse(eventSchema, event).Records.map(({ body }) => body));

const pass = (milliseconds: number) => jest.advanceTimersByTimeAsync(milliseconds);

describe('the event of a batch', () => {
  test('is as Lambda makes it', async () => {
    const target = map(new RecordingFunction('succeeds'));
    send('hello');
    await pass(0);

    expect(target.events).toEqual([
      {
        Records: [
          {
            messageId: expect.any(String),
            receiptHandle: expect.any(String),
            body: 'hello',
            attributes: {
              ApproximateReceiveCount: '1',
              SentTimestamp: expect.stringMatching(/^\d{13}$/),
              SenderId: '000000000000',
              ApproximateFirstReceiveTimestamp: expect.stringMatching(/^\d{13}$/),
            },
            messageAttributes: {},
            md5OfBody: '5d41402abc4b2a76b9719d911017c592',
            eventSource: 'aws:sqs',
            eventSourceARN: 'arn:queue',
            awsRegion: 'us-east-1',
          },
        ],
      },
    ]);
  });
});

describe('a batch', () => {
  test('waits for more until the window after its first message is over', async () => {
    const target = map(new RecordingFunction('succeeds'), { batchingWindowMs: 1_000 });
    send('a');
    await pass(600);
    send('b');
    await pass(399);
    expect(batches(target)).toEqual([]);
    await pass(1);

    expect(batches(target)).toEqual([['a', 'b']]);
  });

  test('goes at once when it is full, and the rest waits for a window of its own', async () => {
    const target = map(new RecordingFunction('succeeds'), { batchingWindowMs: 1_000, batchSize: 2 });
    send('a', 'b', 'c');
    await pass(0);
    expect(batches(target)).toEqual([['a', 'b']]);
    await pass(1_000);

    expect(batches(target)).toEqual([['a', 'b'], ['c']]);
  });

  test('that succeeded is gone for good', async () => {
    const target = map(new RecordingFunction('succeeds'));
    send('a');
    await pass(10 * 30_000);

    expect(batches(target)).toEqual([['a']]);
    expect(log).toEqual([]);
  });

  test('that failed is tried again after the visibility timeout, and goes to the dead-letter queue in the end', async () => {
    const target = map(new RecordingFunction('fails'));
    send('a', 'b');
    await pass(0);
    expect(batches(target)).toEqual([['a'], ['b']]);
    await pass(29_999);
    expect(batches(target)).toHaveLength(2);
    await pass(1);
    expect(batches(target).slice(2)).toEqual([['a', 'b']]);
    await pass(30_000);
    expect(failed.visibleCount).toBe(0);
    await pass(10 * 30_000);

    expect(batches(target)).toHaveLength(4);
    expect(failed.receive(10).map(({ body }) => body)).toEqual(['a', 'b']);
    expect(log.filter((line) => line === 'sync failed on 2 messages of queue: Error: no')).toHaveLength(2);
    expect(log.filter((line) => line.includes('dead-letter queue failed'))).toHaveLength(2);
  });
});

describe('batches', () => {
  test('are never more at once than the concurrency allows', async () => {
    const target = map(new RecordingFunction(), { batchSize: 1 });
    send('a', 'b', 'c', 'd');
    await pass(1_000);
    expect(batches(target)).toEqual([['a'], ['b']]);
    target.succeed();
    await pass(0);
    expect(batches(target)).toEqual([['a'], ['b'], ['c']]);
    target.fail();
    await pass(0);

    expect(batches(target)).toEqual([['a'], ['b'], ['c'], ['d']]);
  });

  test('collect what comes while all are under way', async () => {
    const target = map(new RecordingFunction(), { maxConcurrency: 2, batchingWindowMs: 1_000 });
    send('a');
    await pass(1_000);
    send('b');
    await pass(1_000);
    send('c', 'd', 'e');
    await pass(10_000);
    target.succeed();
    await pass(1_000);

    expect(batches(target)).toEqual([['a'], ['b'], ['c', 'd', 'e']]);
  });

  test('are started no more once it is closed, and a failure then is not told', async () => {
    const target = map(new RecordingFunction(), { maxConcurrency: 2, batchSize: 1 });
    send('a');
    await pass(0);
    mapping.close();
    send('b');
    target.fail();
    expect(jest.getTimerCount()).toBe(0);
    await pass(120_000);

    expect(batches(target)).toEqual([['a']]);
    expect(log).toEqual([]);
  });
});
