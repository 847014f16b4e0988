import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { scheduleSync, type SyncSchedule } from '../../../infra/local/sync-schedule.ts';

const INTERVAL_MS = 300_000;
const WAIT_MS = 1_000;

const pass = (milliseconds: number) => jest.advanceTimersByTimeAsync(milliseconds);

describe('the sync of keys', () => {
  const log = jest.fn();
  const sync = jest.fn<() => Promise<string>>();
  let schedule: SyncSchedule;

  beforeEach(() => {
    jest.useFakeTimers();
    jest.resetAllMocks();
    sync.mockResolvedValue('null');
    schedule = scheduleSync(sync, { intervalMs: INTERVAL_MS, waitMs: WAIT_MS }, log);
  });

  afterEach(() => {
    schedule.close();
    jest.useRealTimers();
  });

  test('runs once per interval', async () => {
    await pass(INTERVAL_MS);
    expect(sync).not.toHaveBeenCalled();
    await pass(WAIT_MS + 3 * INTERVAL_MS);

    expect(sync).toHaveBeenCalledTimes(4);
  });

  test('runs one at a time, and once more after changes during a run', async () => {
    const first = Promise.withResolvers<string>();
    sync.mockReturnValueOnce(first.promise);
    schedule.runSoon();
    await pass(WAIT_MS);
    schedule.runSoon();
    schedule.runSoon();
    await pass(10 * WAIT_MS);
    expect(sync).toHaveBeenCalledTimes(1);
    first.resolve('null');
    await pass(0);

    expect(sync).toHaveBeenCalledTimes(2);
  });

  test('logs a failure and runs again', async () => {
    sync.mockRejectedValue(new Error('no'));
    for (let count = 0; count < 2; count++) {
      schedule.runSoon();
      await pass(WAIT_MS);
    }

    expect(log.mock.calls).toEqual(Array.from({ length: 2 }, () => ['The sync of keys failed: Error: no\n']));
  });
});
