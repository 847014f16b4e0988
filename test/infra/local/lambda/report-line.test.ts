import { describe, expect, test } from '@jest/globals';
import { FunctionError } from '../../../../infra/local/lambda/invocation.ts';
import { type InvocationReport, reportLine } from '../../../../infra/local/lambda/report-line.ts';
import { answering, deployLogging, testFunctions } from '../../../support/test-functions.ts';
import { parseReportLine } from '../../../support/parsed-report-line.ts';

const report: InvocationReport = {
  requestId: '9268b414-8984-4f0b-9f04-13dadc62b51d',
  endedAt: Date.parse('2026-11-21T12:00:00.250Z'),
  durationMs: 12.345,
  initMs: undefined,
  memoryMegabytes: 1_024,
  usedMegabytes: 37,
  errorType: undefined,
};

describe('the line at the end of an invocation', () => {
  test('reads as that of Lambda', () => {
    expect(reportLine(report)).toBe(
      '2026-11-21T12:00:00.250Z\tREPORT RequestId: 9268b414-8984-4f0b-9f04-13dadc62b51d\tDuration: 12.35 ms\t' +
        'Billed Duration: 13 ms\tMemory Size: 1024 MB\tMax Memory Used: 37 MB\n',
    );
  });

  test.each([
    ['Sandbox.Timedout', '\tStatus: timeout\n'],
    ['Runtime.ExitError', '\tStatus: error\tError Type: Runtime.ExitError\n'],
  ])('tells of %s', (errorType, end) => {
    expect(reportLine({ ...report, errorType })).toMatch(new RegExp(`${end}$`));
  });
});

describe('a function logs', () => {
  const deploy = testFunctions();

  async function reportsOf(source: string, invocations: number, timeoutSeconds = 20) {
    const { lambda, log } = deployLogging(deploy, source, { timeoutSeconds });
    for (let count = 0; count < invocations; count++) {
      await lambda.invoke('{}').catch((error: unknown) => {
        if (!(error instanceof FunctionError)) throw error;
      });
    }
    return log()
      .split('\n')
      .flatMap((line) => parseReportLine(line) ?? []);
  }

  test('each invocation, the first with the time it took to load', async () => {
    const [first, second, ...more] = await reportsOf(answering(1), 2);

    expect(first).toMatchObject({ initMs: expect.any(Number), memoryMegabytes: 128, errorType: undefined });
    expect(second).toMatchObject({ initMs: undefined, errorType: undefined });
    expect(second?.usedMegabytes).toBeGreaterThan(0);
    expect(more).toEqual([]);
  });

  test.each([
    ['throws', `exports.handler = async () => { throw new TypeError('no'); };`, 'TypeError'],
    ['exits', 'exports.handler = async () => process.exit(3);', 'Runtime.ExitError'],
    ['cannot be loaded', `throw new RangeError('no');`, 'RangeError'],
  ])('why it fails where it %s', async (_, source, errorType) => {
    expect(await reportsOf(source, 1)).toMatchObject([{ errorType }]);
  });
});
