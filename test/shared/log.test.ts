import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { logError } from '../../shared/log.ts';

describe('A logged failure', () => {
  let lines: unknown[];

  beforeEach(() => {
    lines = [];
    jest.spyOn(console, 'error').mockImplementation((line: unknown) => {
      lines.push(line);
    });
  });

  afterEach(() => {
    jest.restoreAllMocks();
  });

  const logged = (): unknown => JSON.parse(String(lines[0]));

  test('is one line of JSON with its details, its cause and its stack', () => {
    const error = new RangeError('too far', { cause: new TypeError('first fault') });
    logError('It failed', error, { requestId: 'r1' });

    expect(lines).toEqual([expect.not.stringContaining('\n')]);
    expect(logged()).toEqual({
      level: 'ERROR',
      message: 'It failed',
      requestId: 'r1',
      error: {
        name: 'RangeError',
        reason: 'too far',
        rootCause: 'TypeError: first fault',
        stack: expect.stringContaining('log.test.ts'),
      },
    });
  });

  test('may be something else than an Error', () => {
    logError('It failed', 'just text');

    expect(logged()).toMatchObject({ error: { name: 'Error', reason: 'just text' } });
  });
});
