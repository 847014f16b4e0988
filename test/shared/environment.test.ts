import { afterEach, expect, test } from '@jest/globals';
import { requiredEnv } from '../../shared/environment.ts';

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
