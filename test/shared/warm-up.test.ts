import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { requiredEnv } from '../../shared/environment.ts';
import { warmUp } from '../../shared/health-check.ts';

describe('A call that warms up', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  test('is waited for, and leaves no timer', async () => {
    let isDone = false;
    await warmUp(async () => {
      await Promise.resolve();
      isDone = true;
    });

    expect(isDone).toBe(true);
    expect(jest.getTimerCount()).toBe(0);
  });

  test('may fail', async () => {
    await expect(warmUp(() => Promise.reject(new Error('out of reach')))).resolves.toBeUndefined();
    expect(jest.getTimerCount()).toBe(0);
  });

  test('is not waited for longer than a second, and may fail after it', async () => {
    const { promise, reject } = Promise.withResolvers<void>();
    const warm = warmUp(() => promise);
    await jest.advanceTimersByTimeAsync(1_000);

    await expect(warm).resolves.toBeUndefined();
    reject(new Error('out of reach'));
  });
});

const NAME = 'A_VARIABLE_OF_THIS_TEST';

afterEach(() => {
  delete process.env[NAME];
});

test('An environment variable that the deployment sets is read', () => {
  process.env[NAME] = 'keys-table';

  expect(requiredEnv(NAME)).toBe('keys-table');
});

test('One that is missing or empty stops the start, by its name', () => {
  expect(() => requiredEnv(NAME)).toThrow(`The environment variable ${NAME} is not set`);

  process.env[NAME] = '';
  expect(() => requiredEnv(NAME)).toThrow(NAME);
});
