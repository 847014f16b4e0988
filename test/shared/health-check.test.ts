import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { withHealthCheck } from '../../shared/health-check.ts';

const refused = Object.assign(new Error('not authorized'), { name: 'AccessDeniedException' });

describe('a handler with a health check', () => {
  const check = jest.fn<() => Promise<void>>();
  const serve = jest.fn<(event: object, context?: object) => Promise<string>>();
  const handler = withHealthCheck(check, serve);

  beforeEach(() => {
    jest.useFakeTimers();
    check.mockReset().mockResolvedValue();
    serve.mockReset().mockResolvedValue('served');
  });

  afterEach(() => {
    jest.useRealTimers();
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
