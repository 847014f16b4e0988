import { describe, expect, test } from '@jest/globals';
import { checkOptions, type InventoryClientOptions } from '../../../shared/client/client-options.ts';

const good = { baseUrl: 'https://example.com/v1', apiKey: 'psk_secret' };

/** Options as a program without types can have them. */
const options = (differences: object): InventoryClientOptions => ({ ...good, ...differences });

function failureOf(differences: object): Error {
  try {
    checkOptions(options(differences));
  } catch (error) {
    if (error instanceof TypeError) return error;
  }
  throw new Error('The options were taken');
}

describe('options of the client', () => {
  test.each([
    ['https://example.com/v1', 'https://example.com/v1'],
    ['https://example.com/v1/', 'https://example.com/v1'],
    ['HTTP://localhost:3000/v1//', 'http://localhost:3000/v1'],
    [new URL('https://example.com/v1/'), 'https://example.com/v1'],
  ])('take the base address %s', (baseUrl, expected) => {
    expect(checkOptions(options({ baseUrl })).baseUrl).toBe(expected);
  });

  test('have defaults', () => {
    expect(checkOptions({ ...good, timeout: undefined })).toMatchObject({
      timeout: 30_000,
      maxRetries: 5,
      maxWait: 90_000,
      retryDelay: 500,
      maxConcurrent: 8,
    });
  });

  test.each([
    [{ baseUrl: undefined }, 'baseUrl must be an address such as https://example.com/v1'],
    [{ baseUrl: '/v1' }, 'baseUrl must be an address such as https://example.com/v1'],
    [{ baseUrl: 'ftp://example.com/v1' }, 'baseUrl must be an address such as https://example.com/v1'],
    [{ baseUrl: 'https://me:you@example.com/v1' }, 'baseUrl must be without user, password, query and fragment'],
    [{ baseUrl: 'https://example.com/v1?x=1' }, 'baseUrl must be without user, password, query and fragment'],
    [{ apiKey: undefined }, 'apiKey is missing'],
    [{ apiKey: '' }, 'apiKey is missing'],
    [{ apiKey: 'psk_secret\n' }, 'apiKey has a character that no key has, such as a space'],
    [{ apiKey: 'psk_sécret' }, 'apiKey has a character that no key has, such as a space'],
    [{ timeout: 0 }, 'timeout must be a whole number from 1 to 2147483647'],
    [{ timeout: Infinity }, 'timeout must be a whole number from 1 to 2147483647'],
    [{ maxRetries: -1 }, 'maxRetries must be a whole number from 0 to 1000'],
    [{ maxRetries: '3' }, 'maxRetries must be a whole number from 0 to 1000'],
    [{ maxWait: Number.NaN }, 'maxWait must be a whole number from 0 to 2147483647'],
    [{ retryDelay: 0.5 }, 'retryDelay must be a whole number from 0 to 2147483647'],
    [{ maxConcurrent: 0 }, 'maxConcurrent must be a whole number from 1 to 1000'],
    [{ onRetry: 'log' }, 'onRetry must be a function'],
    [{ fetch: {} }, 'fetch must be a function'],
  ])('are refused with %j', (differences, message) => {
    const failure = failureOf(differences);
    expect(failure.message).toBe(message);
    expect(failure.stack).not.toMatch(/psk_|you@/);
  });
});
