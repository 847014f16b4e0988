import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { LocalServerError } from '../../../infra/local/local-server-error.ts';
import { parseStartOptions } from '../../../infra/local/options.ts';

const defaults = { port: 3000, host: '127.0.0.1', data: '.local', sampleData: true, quiet: false, json: false };

afterEach(() => {
  jest.restoreAllMocks();
});

describe('npm start', () => {
  test.each<[readonly string[], object]>([
    [[], {}],
    [['--quiet', '--json'], { quiet: true, json: true }],
    [['--port', '8080', '--data', 'memory'], { port: 8080, data: 'memory' }],
  ])('accepts %j', (args, differences) => {
    expect(parseStartOptions(args)).toEqual({ ...defaults, ...differences });
  });

  test.each<[readonly string[], string]>([
    [['--port', '65536'], '--port'],
    [['--data', ''], '--data'],
    [['--prot', '80'], '--prot'],
  ])('refuses %j with one line that names it and the help', (args, named) => {
    const printed = [process.stdout, process.stderr].map((stream) => jest.spyOn(stream, 'write').mockReturnValue(true));
    const parse = () => parseStartOptions(args);

    expect(parse).toThrow(LocalServerError);
    expect(parse).toThrow(/^[^\n]*\(see npm start -- --help\)$/);
    expect(parse).toThrow(named);
    for (const write of printed) expect(write).not.toHaveBeenCalled();
  });
});
