import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { probed } from '../../../shared/http/probe.ts';

const serve = () => Promise.resolve('served');
const probe = jest.fn<() => Promise<void>>();
const other = jest.fn<() => Promise<void>>();
const refused = Object.assign(new Error('not authorized'), { name: 'AccessDeniedException' });

beforeEach(() => {
  jest.useFakeTimers();
  for (const one of [probe, other]) one.mockReset().mockResolvedValue();
});

afterEach(() => {
  jest.useRealTimers();
});

const check = (millisecondsLeft: number) =>
  probed<undefined, [object], string>(serve, [probe]).handler(undefined, {
    getRemainingTimeInMillis: () => millisecondsLeft,
  });

describe('The probe of a release', () => {
  test('runs for every event that neither API Gateway nor a stream sends', async () => {
    const { handler } = probed<unknown, [], string>(serve, [probe, other]);
    const events = [undefined, null, 'x', {}, { requestContext: undefined }, { Records: [] }];
    const responses = await Promise.all(events.map((event) => handler(event)));

    expect(responses).toEqual([undefined, undefined, undefined, undefined, 'served', 'served']);
    expect([probe, other].map(({ mock }) => mock.calls.length)).toEqual([4, 4]);
  });

  test('is repeated until IAM grants its calls', async () => {
    probe.mockRejectedValueOnce(refused).mockRejectedValueOnce(refused);
    const response = check(10_000);
    await jest.advanceTimersByTimeAsync(1_000);

    await expect(response).resolves.toBeUndefined();
    expect(probe).toHaveBeenCalledTimes(3);
  });

  test('fails with its reason less than three seconds before the function times out', async () => {
    probe.mockRejectedValue(refused);

    await expect(check(2_999)).rejects.toThrow('not authorized');
  });
});

describe('A cold start', () => {
  test('completes if its probe fails, and leaves no timer', async () => {
    probe.mockRejectedValue(new Error('unavailable'));

    await expect(probed(serve, [probe, other]).initialize()).resolves.toBeUndefined();
    expect([probe, other].map(({ mock }) => mock.calls.length)).toEqual([1, 0]);
    expect(jest.getTimerCount()).toBe(0);
  });

  test('waits one second for its probe, which may fail later', async () => {
    const { promise, reject } = Promise.withResolvers<void>();
    let isReady = false;
    const warm = probed(serve, [() => promise])
      .initialize()
      .then(() => (isReady = true));
    await jest.advanceTimersByTimeAsync(999);
    expect(isReady).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    await warm;
    reject(new Error('unavailable'));
  });
});
