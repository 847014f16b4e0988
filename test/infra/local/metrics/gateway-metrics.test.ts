import { describe, expect, test } from '@jest/globals';
import { gatewayMetrics } from '../../../../infra/local/metrics/gateway-metrics.ts';

const format = JSON.stringify({
  requestId: '$context.requestId',
  method: '$context.httpMethod',
  resource: '$context.resourcePath',
  code: '$context.status',
  took: '$context.responseLatency',
  integration: '$context.integrationLatency',
});

const line = {
  requestId: '1',
  method: 'PATCH',
  resource: '/inventory/{petId}',
  code: '200',
  took: '20',
  integration: '12',
};

function metricsOf(fields: Readonly<Record<string, string>>) {
  const event = { logGroup: 'access', at: 5, message: '', fields };
  return gatewayMetrics(event, { apiName: 'Test', stage: 'v1', format });
}

const valuesOf = (fields: Readonly<Record<string, string>>, dimensionCount: number) =>
  Object.fromEntries(
    metricsOf(fields)
      .filter(({ dimensions }) => Object.keys(dimensions).length === dimensionCount)
      .map(({ name, value }) => [name, value]),
  );

describe('the metrics of a line of the access log', () => {
  test('are those of the stage, and of the method', () => {
    const values = { Count: 1, '4XXError': 0, '5XXError': 0, Latency: 20, IntegrationLatency: 12 };

    expect(valuesOf(line, 2)).toEqual(values);
    expect(valuesOf(line, 4)).toEqual(values);
    expect(metricsOf(line).at(-1)).toMatchObject({
      namespace: 'AWS/ApiGateway',
      dimensions: { ApiName: 'Test', Stage: 'v1', Method: 'PATCH', Resource: '/inventory/{petId}' },
      at: 5,
    });
  });

  test.each([
    ['404', { '4XXError': 1, '5XXError': 0 }],
    ['503', { '4XXError': 0, '5XXError': 1 }],
  ])('tell of the status %s', (code, counts) => {
    expect(valuesOf({ ...line, code }, 2)).toMatchObject(counts);
  });

  test('know no integration and no method of what the gateway refuses by itself', () => {
    const refused = { ...line, resource: '-', integration: '-', code: '413' };

    expect(valuesOf(refused, 2)).toEqual({ Count: 1, '4XXError': 1, '5XXError': 0, Latency: 20 });
    expect(valuesOf(refused, 4)).toEqual({});
  });

  test('there are none of another line', () => {
    expect(metricsOf({ level: 'ERROR' })).toEqual([]);
  });
});
