import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { probed } from '../../../shared/http/probe.ts';

const serve = () => Promise.resolve('served');
const refused = Object.assign(new Error('not authorized'), { name: 'AccessDeniedException' });

beforeEach(() => {
  jest.useFakeTimers();
});

afterEach(() => {
  jest.useRealTimers();
});

describe('the probe of a release', () => {
  const probe = jest.fn<() => Promise<void>>();
  const check = (millisecondsLeft: number) =>
    probed<undefined, [object], string>(serve, probe).handler(undefined, {
      getRemainingTimeInMillis: () => millisecondsLeft,
    });

  beforeEach(() => {
    probe.mockReset().mockResolvedValue();
  });

  test('runs for every event that neither API Gateway nor a stream sends', async () => {
    const { handler } = probed<unknown, [], string>(serve, probe);
    const events = [undefined, null, 'x', {}, { requestContext: undefined }, { Records: [] }];
    const responses = await Promise.all(events.map((event) => handler(event)));

    expect(responses).toEqual([undefined, undefined, undefined, undefined, 'served', 'served']);
    expect(probe).toHaveBeenCalledTimes(4);
  });

  test('waits until new IAM permissions take effect', async () => {
    probe.mockRejectedValueOnce(refused).mockRejectedValueOnce(refused);
    const response = check(10_000);
    await jest.advanceTimersByTimeAsync(1_000);

    await expect(response).resolves.toBeUndefined();
    expect(probe).toHaveBeenCalledTimes(3);
  });

  test('ends before the time-out of the function, to report why', async () => {
    probe.mockRejectedValue(refused);

    await expect(check(2_999)).rejects.toThrow('not authorized');
  });
});

describe('the probe of a cold start', () => {
  test('is awaited, may fail, and leaves no timer', async () => {
    const call = jest.fn(() => Promise.reject(new Error('unavailable')));

    await expect(probed(serve, call).initialize()).resolves.toBeUndefined();
    expect(call).toHaveBeenCalledTimes(1);
    expect(jest.getTimerCount()).toBe(0);
  });

  test('is awaited for at most a second', async () => {
    const { promise, reject } = Promise.withResolvers<void>();
    let isReady = false;
    const { initialize } = probed(serve, () => promise);
    const warm = initialize().then(() => (isReady = true));
    await jest.advanceTimersByTimeAsync(999);
    expect(isReady).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    await warm;
    reject(new Error('unavailable'));
  });
});
