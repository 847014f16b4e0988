import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { warmUp, withHealthCheck } from '../../shared/health-check.ts';

const refused = Object.assign(new Error('not authorized'), { name: 'AccessDeniedException' });

beforeEach(() => {
  jest.useFakeTimers();
});

afterEach(() => {
  jest.useRealTimers();
});

describe('a handler with a health check', () => {
  const check = jest.fn<() => Promise<void>>();
  const serve = jest.fn<(event: object, context?: object) => Promise<string>>();
  const handler = withHealthCheck(check, serve);

  beforeEach(() => {
    check.mockReset().mockResolvedValue();
    serve.mockReset().mockResolvedValue('served');
  });

  test('serves whatever has a request context, and checks nothing', async () => {
    await expect(handler({ requestContext: undefined })).resolves.toBe('served');
    expect(check).not.toHaveBeenCalled();
  });

  test('checks for an event without one, and fails as the check does', async () => {
    check.mockRejectedValue(new Error('no table'));

    await expect(handler({})).rejects.toThrow('no table');
    expect(serve).not.toHaveBeenCalled();
  });

  test('waits for what IAM has just granted', async () => {
    check.mockRejectedValueOnce(refused).mockRejectedValueOnce(refused);
    const answer = handler({}, { getRemainingTimeInMillis: () => 10_000 });
    await jest.advanceTimersByTimeAsync(1_000);

    await expect(answer).resolves.toBeUndefined();
    expect(check).toHaveBeenCalledTimes(3);
  });

  test('but not until the function is stopped, which would not say why', async () => {
    check.mockRejectedValue(refused);

    await expect(handler({}, { getRemainingTimeInMillis: () => 2_999 })).rejects.toThrow('not authorized');
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
