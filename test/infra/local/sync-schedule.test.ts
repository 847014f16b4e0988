import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { scheduleSync, type SyncSchedule } from '../../../infra/local/sync-schedule.ts';

const INTERVAL_MS = 300_000;
const WAIT_MS = 1_000;

const pass = (milliseconds: number) => jest.advanceTimersByTimeAsync(milliseconds);

describe('the sync of keys', () => {
  const log = jest.fn();
  const sync = jest.fn<() => Promise<unknown>>();
  let schedule: SyncSchedule;

  beforeEach(() => {
    jest.useFakeTimers();
    jest.resetAllMocks();
    sync.mockResolvedValue(undefined);
    schedule = scheduleSync(sync, { intervalMs: INTERVAL_MS, waitMs: WAIT_MS }, log);
  });

  afterEach(() => {
    schedule.close();
    jest.useRealTimers();
  });

  test('runs once per interval, also after a failure, which is logged', async () => {
    sync.mockRejectedValueOnce(new Error('no'));
    await pass(INTERVAL_MS);
    expect(sync).not.toHaveBeenCalled();
    await pass(WAIT_MS + 3 * INTERVAL_MS);

    expect(sync).toHaveBeenCalledTimes(4);
    expect(log.mock.calls).toEqual([['The sync of keys failed: Error: no\n']]);
  });

  test('runs one at a time, and once more after changes during a run', async () => {
    const first = Promise.withResolvers<unknown>();
    sync.mockReturnValueOnce(first.promise);
    for (const waitMs of [WAIT_MS, 0, 10 * WAIT_MS]) {
      schedule.runSoon();
      await pass(waitMs);
    }
    expect(sync).toHaveBeenCalledTimes(1);
    first.resolve(undefined);
    await pass(0);

    expect(sync).toHaveBeenCalledTimes(2);
  });
});
