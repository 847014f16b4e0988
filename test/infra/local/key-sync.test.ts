import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { KeySync } from '../../../infra/local/key-sync.ts';
import { RecordingFunction } from '../../support/recording-function.ts';

const PERIOD_MS = 300_000;
const WAIT_MS = 1_000;

const pass = (milliseconds: number) => jest.advanceTimersByTimeAsync(milliseconds);

describe('the sync of keys', () => {
  let log: string[];
  let keySync: KeySync;

  beforeEach(() => {
    jest.useFakeTimers();
    log = [];
  });

  afterEach(() => {
    keySync.close();
    jest.useRealTimers();
  });

  function syncing(sync: RecordingFunction): RecordingFunction {
    const settings = { periodMs: PERIOD_MS, waitMs: WAIT_MS, log: (line: string) => void log.push(line) };
    keySync = new KeySync({ sync, ...settings });
    return sync;
  }

  test('runs once a period', async () => {
    const { events } = syncing(new RecordingFunction('succeeds'));
    keySync.startSchedule();
    await pass(PERIOD_MS);
    expect(events).toHaveLength(0);
    await pass(WAIT_MS);
    expect(events).toEqual([{ Records: [] }]);
    await pass(3 * PERIOD_MS);

    expect(events).toHaveLength(4);
  });

  test('runs once for changes that come together', async () => {
    const { events } = syncing(new RecordingFunction('succeeds'));
    for (let change = 0; change < 50; change++) {
      keySync.runSoon();
      await pass(10);
    }
    await pass(WAIT_MS);

    expect(events).toHaveLength(1);
  });

  test('runs one at a time, and once more for what changes meanwhile', async () => {
    const sync = syncing(new RecordingFunction());
    keySync.runSoon();
    await pass(WAIT_MS);
    keySync.runSoon();
    keySync.runSoon();
    await pass(10 * WAIT_MS);
    expect(sync.events).toHaveLength(1);
    sync.succeed();
    await pass(WAIT_MS);
    expect(sync.events).toHaveLength(2);
    sync.succeed();
    await pass(10 * WAIT_MS);

    expect(sync.events).toHaveLength(2);
  });

  test('that fails is told of, and the next one runs', async () => {
    const { events } = syncing(new RecordingFunction('fails'));
    keySync.runSoon();
    await pass(WAIT_MS);
    keySync.runSoon();
    await pass(WAIT_MS);

    expect(events).toHaveLength(2);
    expect(log).toEqual(['The sync of keys failed: Error: no', 'The sync of keys failed: Error: no']);
  });

  test('runs no more once it is closed', async () => {
    const { events } = syncing(new RecordingFunction('succeeds'));
    keySync.startSchedule();
    keySync.runSoon();
    keySync.close();
    keySync.runSoon();

    expect(jest.getTimerCount()).toBe(0);
    expect(events).toEqual([]);
  });
});
