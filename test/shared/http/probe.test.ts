import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { isRequest, runProbe, warmUp } from '../../../shared/http/probe.ts';

const refused = Object.assign(new Error('not authorized'), { name: 'AccessDeniedException' });

beforeEach(() => {
  jest.useFakeTimers();
});

afterEach(() => {
  jest.useRealTimers();
});

describe('the probe of a release', () => {
  const probe = jest.fn<() => Promise<void>>();

  beforeEach(() => {
    probe.mockReset().mockResolvedValue();
  });

  test('is asked for by every event that API Gateway does not send', () => {
    expect([undefined, null, 'x', {}, { requestContext: undefined }].map(isRequest)).toEqual([
      false,
      false,
      false,
      false,
      true,
    ]);
  });

  test('waits for what IAM has just granted', async () => {
    probe.mockRejectedValueOnce(refused).mockRejectedValueOnce(refused);
    const response = runProbe(probe, [{ getRemainingTimeInMillis: () => 10_000 }]);
    await jest.advanceTimersByTimeAsync(1_000);

    await expect(response).resolves.toBeUndefined();
    expect(probe).toHaveBeenCalledTimes(3);
  });

  test('but not until the function is stopped, which would not say why', async () => {
    probe.mockRejectedValue(refused);

    await expect(runProbe(probe, [{ getRemainingTimeInMillis: () => 2_999 }])).rejects.toThrow('not authorized');
  });
});

describe('the probe of a cold start', () => {
  test('is waited for, may fail, and leaves no timer', async () => {
    const call = jest.fn(() => Promise.reject(new Error('unavailable')));

    await expect(warmUp(call)).resolves.toBeUndefined();
    expect(call).toHaveBeenCalledTimes(1);
    expect(jest.getTimerCount()).toBe(0);
  });

  test('is waited for no longer than a second, and may fail after it', async () => {
    const { promise, reject } = Promise.withResolvers<void>();
    let isReady = false;
    const warm = warmUp(() => promise).then(() => (isReady = true));
    await jest.advanceTimersByTimeAsync(999);
    expect(isReady).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    await warm;
    reject(new Error('unavailable'));
  });
});
