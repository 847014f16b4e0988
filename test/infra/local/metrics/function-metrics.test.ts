import { describe, expect, test } from '@jest/globals';
import { reportLine } from '../../../../infra/local/lambda/report-line.ts';
import { functionMetrics } from '../../../../infra/local/metrics/function-metrics.ts';
import { isMeasured } from '../../../../infra/local/metrics/local-metrics.ts';

const at = Date.parse('2026-11-21T12:00:00Z');
const lambda = { name: 'stock', aliases: ['live'] };

function metricsOf(errorType?: string) {
  const report = {
    requestId: '1',
    endedAt: at,
    durationMs: 12.5,
    initMs: 80,
    memoryMegabytes: 1_024,
    usedMegabytes: 37,
  };
  const message = reportLine({ ...report, errorType }).trimEnd();
  return functionMetrics({ logGroup: 'logs', at, message, fields: undefined }, lambda);
}

describe('the metrics of an invocation', () => {
  test('are those of the function, and of its alias', () => {
    const values = { Invocations: 1, Errors: 0, Throttles: 0, Duration: 12.5 };
    const samplesWith = (dimensions: object) =>
      Object.entries(values).map(([name, value]) => ({ namespace: 'AWS/Lambda', name, dimensions, at, value }));

    expect(metricsOf()).toEqual([
      ...samplesWith({ FunctionName: 'stock' }),
      ...samplesWith({ FunctionName: 'stock', Resource: 'stock:live' }),
    ]);
  });

  test.each(['Sandbox.Timedout', 'Runtime.ExitError', 'TypeError'])('tell that it failed with %s', (errorType) => {
    expect(metricsOf(errorType).filter(({ name }) => name === 'Errors')).toMatchObject([{ value: 1 }, { value: 1 }]);
  });

  test('there are none in another line', () => {
    const message = 'Error: no';
    expect(functionMetrics({ logGroup: 'logs', at, message, fields: undefined }, lambda)).toEqual([]);
  });
});

test.each([
  ['AWS/Lambda', 'Errors', true],
  ['AWS/Lambda', 'ConcurrentExecutions', false],
  ['AWS/ApiGateway', '5XXError', true],
  ['AWS/Logs', 'IncomingBytes', true],
  ['AWS/DynamoDB', 'ConsumedWriteCapacityUnits', false],
  ['PetStoreInventory', 'Requests', true],
])('whether a local run tells of %s %s: %j', (namespace, name, isTold) => {
  expect(isMeasured({ namespace, name })).toBe(isTold);
});
