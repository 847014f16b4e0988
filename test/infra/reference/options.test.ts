import { describe, expect, test } from '@jest/globals';
import { parseOpenApiOptions } from '../../../infra/reference/options.ts';

describe('The options of npm run openapi', () => {
  test('have defaults: the local host, into docs', () => {
    expect(parseOpenApiOptions([])).toEqual({
      server: 'http://localhost:3000/v1',
      stage: 'local',
      out: 'docs/openapi.json',
    });
  });

  test('take an address with a slash at its end', () => {
    expect(parseOpenApiOptions(['--server', 'https://api.example.com/pets/v1/', '--out', '-'])).toMatchObject({
      server: 'https://api.example.com/pets/v1',
      out: '-',
    });
  });

  test.each([
    ['an address without the version', ['--server', 'https://api.example.com'], /ends in the version/],
    ['an address of another protocol', ['--server', 'ftp://api.example.com/v1'], /ends in the version/],
    ['an address with a query', ['--server', 'https://api.example.com/v1?a=b'], /ends in the version/],
    ['an address with a password', ['--server', 'https://a:b@api.example.com/v1'], /ends in the version/],
    ['a stage that is none', ['--stage', 'moon'], /Allowed choices are local, staging, production/],
    ['an empty file name', ['--out', ' '], /must not be empty/],
    ['an option that is none', ['--verbose'], /unknown option/],
    ['a word too many', ['docs'], /too many arguments/],
  ])('refuse %s', (_, args, message) => {
    expect(() => parseOpenApiOptions(args)).toThrow(message);
  });
});
