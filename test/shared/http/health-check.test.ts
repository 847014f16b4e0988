import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { isRequest, prove } from '../../../shared/http/health-check.ts';
import { warmUp } from '../../../shared/http/rehearsal.ts';

const refused = Object.assign(new Error('not authorized'), { name: 'AccessDeniedException' });

beforeEach(() => {
  jest.useFakeTimers();
});

afterEach(() => {
  jest.useRealTimers();
});

describe('a health check', () => {
  const check = jest.fn<() => Promise<void>>();

  beforeEach(() => {
    check.mockReset().mockResolvedValue();
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
    check.mockRejectedValueOnce(refused).mockRejectedValueOnce(refused);
    const answer = prove(check, [{ getRemainingTimeInMillis: () => 10_000 }]);
    await jest.advanceTimersByTimeAsync(1_000);

    await expect(answer).resolves.toBeUndefined();
    expect(check).toHaveBeenCalledTimes(3);
  });

  test('but not until the function is stopped, which would not say why', async () => {
    check.mockRejectedValue(refused);

    await expect(prove(check, [{ getRemainingTimeInMillis: () => 2_999 }])).rejects.toThrow('not authorized');
  });
});

describe('a call that warms up', () => {
  test('is waited for, may fail, and leaves no timer', async () => {
    const call = jest.fn(() => Promise.reject(new Error('out of reach')));

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
    reject(new Error('out of reach'));
  });
});
