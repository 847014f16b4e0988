import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { AsynchronousInvocation } from '../../../../infra/local/events/asynchronous-invocation.ts';
import { RecordingFunction } from '../../../support/recording-function.ts';

let log: string[];

beforeEach(() => {
  jest.useFakeTimers();
  log = [];
});

afterEach(() => {
  jest.useRealTimers();
});

const invoking = (target: RecordingFunction) => new AsynchronousInvocation(target, 'sync', (line) => log.push(line));

describe('an asynchronous invocation', () => {
  test('runs the event once where it succeeds', async () => {
    const target = new RecordingFunction('succeeds');
    invoking(target).deliver('{"a":1}');
    await jest.advanceTimersByTimeAsync(60_000);

    expect(target.events).toEqual([{ a: 1 }]);
    expect(log).toEqual([]);
  });

  test('runs it again twice where it fails, and says so', async () => {
    const target = new RecordingFunction('fails');
    invoking(target).deliver('{"a":1}');
    await jest.advanceTimersByTimeAsync(60_000);

    expect(target.events).toHaveLength(3);
    expect(log).toEqual([
      'sync failed on an event, it is tried again: Error: no',
      'sync failed on an event, it is tried again: Error: no',
      'sync failed on an event, the event is dropped: Error: no',
    ]);
  });

  test('waits between the tries', async () => {
    const target = new RecordingFunction('fails');
    invoking(target).deliver('{}');
    await jest.advanceTimersByTimeAsync(999);
    expect(target.events).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(1);
    expect(target.events).toHaveLength(2);
    await jest.advanceTimersByTimeAsync(2_000);

    expect(target.events).toHaveLength(3);
  });

  test('tries nothing again once it is closed', async () => {
    const target = new RecordingFunction('fails');
    const invocation = invoking(target);
    invocation.deliver('{}');
    await jest.advanceTimersByTimeAsync(0);
    invocation.close();
    await jest.advanceTimersByTimeAsync(60_000);

    expect(target.events).toHaveLength(1);
    expect(jest.getTimerCount()).toBe(0);
  });
});
