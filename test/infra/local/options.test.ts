import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { HostError } from '../../../infra/local/host-error.ts';
import { parseStartOptions } from '../../../infra/local/options.ts';

const defaults = { port: 3000, host: '127.0.0.1', openDatabase: false, data: '.local', sampleData: true, json: false };

afterEach(() => {
  jest.restoreAllMocks();
});

describe('npm start', () => {
  test.each<[readonly string[], object]>([
    [[], {}],
    [['--port', '8080'], { port: 8080 }],
    [['--port', '65535'], { port: 65_535 }],
    [['--host', '0.0.0.0'], { host: '0.0.0.0' }],
    [['--host', '0.0.0.0', '--open-database'], { host: '0.0.0.0', openDatabase: true }],
    [['--data', 'memory'], { data: 'memory' }],
    [['--dynamodb', 'http://localhost:8000'], { dynamodb: new URL('http://localhost:8000') }],
    [['--no-sample-data'], { sampleData: false }],
    [['--assembly', 'cdk.out'], { assembly: 'cdk.out' }],
    [['--json'], { json: true }],
  ])('%j is understood', (args, differences) => {
    expect(parseStartOptions(args)).toEqual({ ...defaults, ...differences });
  });

  test.each<[readonly string[], string]>([
    [['--port', 'http'], '--port'],
    [['--port', '65536'], '--port'],
    [['--host', ''], '--host'],
    [['--data', ''], '--data'],
    [['--assembly', ''], '--assembly'],
    [['--dynamodb', 'localhost:8000'], '--dynamodb'],
    [['--dynamodb', 'ftp://localhost'], '--dynamodb'],
    [['--prot', '80'], '--prot'],
    [['3000'], '3000'],
  ])('%j is refused in one line that names it and says where help is', (args, named) => {
    const parse = () => parseStartOptions(args);

    expect(parse).toThrow(HostError);
    expect(parse).toThrow(/^[^\n]*\(see npm start -- --help\)$/);
    expect(parse).toThrow(named);
  });

  test.each(['--help', '-h'])('%s tells of every option, and runs nothing', (flag) => {
    const output = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
    const options = parseStartOptions([flag]);
    const help = output.mock.calls.map(([text]) => String(text)).join('');

    expect(options).toBeUndefined();
    for (const option of [
      '--port',
      '--host',
      '--open-database',
      '--data',
      '--dynamodb',
      '--no-sample-data',
      '--json',
    ]) {
      expect(help).toContain(option);
    }
  });

  test('prints nothing of its own where an option is refused', () => {
    const output = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
    const errors = jest.spyOn(process.stderr, 'write').mockReturnValue(true);

    expect(() => parseStartOptions(['--nope'])).toThrow(HostError);
    expect([...output.mock.calls, ...errors.mock.calls]).toEqual([]);
  });
});
