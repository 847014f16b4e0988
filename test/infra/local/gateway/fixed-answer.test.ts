import { describe, expect, test } from '@jest/globals';
import { fixedAnswer } from '../../../../infra/local/gateway/fixed-answer.ts';
import { HostError } from '../../../../infra/local/host-error.ts';

type MockIntegration = Parameters<typeof fixedAnswer>[0];

const integration = (differences: Partial<MockIntegration> = {}): MockIntegration => ({
  Type: 'MOCK',
  RequestTemplates: { 'application/json': '{"statusCode":204}' },
  IntegrationResponses: [{ StatusCode: '204', ResponseParameters: {} }],
  ...differences,
});

const withHeaders = (ResponseParameters: Record<string, string>): MockIntegration =>
  integration({ IntegrationResponses: [{ StatusCode: '204', ResponseParameters }] });

describe('a fixed answer', () => {
  test('has its status and no body', () => {
    expect(fixedAnswer(integration(), 'Preflight')).toEqual({ status: 204, headers: [], body: Buffer.alloc(0) });
  });

  test('has the headers that are written out, without the quotes around them', () => {
    const { headers } = fixedAnswer(
      withHeaders({
        'method.response.header.X-Limit': "'0'",
        'method.response.header.RateLimit': `'"minute";r=0;t=0, "day";r=0;t=0'`,
        'method.response.header.x-empty': "''",
      }),
      'Preflight',
    );

    expect(headers).toEqual([
      ['X-Limit', '0'],
      ['RateLimit', '"minute";r=0;t=0, "day";r=0;t=0'],
      ['x-empty', ''],
    ]);
  });
});

describe('a fixed answer that the local host does not know', () => {
  test.each([
    ['none for the status', '{"statusCode":200}'],
    ['no status', '{}'],
    ['a status that is text', '{"statusCode":"204"}'],
    ['more than a status', '{"statusCode":204,"context":{}}'],
    ['a template of VTL', '#set($a = 1){"statusCode":204}'],
    ['no JSON', ''],
  ])('stops it, and is named: %s', (_, template) => {
    const load = () => fixedAnswer(integration({ RequestTemplates: { 'application/json': template } }), 'Preflight');

    expect(load).toThrow(HostError);
    expect(load).toThrow('Resource Preflight: the local host knows no answer of its MOCK integration');
  });

  test.each([
    ['a literal without quotes', 'method.response.header.X-Limit', '0'],
    ['half a literal', 'method.response.header.X-Limit', "'0"],
    ['two literals', 'method.response.header.X-Limit', "'0''1'"],
    ['a value of the context', 'method.response.header.X-Limit', 'context.authorizer.limit'],
    ['a value of the integration', 'method.response.header.X-Limit', 'integration.response.header.X-Limit'],
    ['another target', 'method.response.body', "'0'"],
  ])('stops it, and is named: %s', (_, target, source) => {
    const load = () => fixedAnswer(withHeaders({ [target]: source }), 'Preflight');

    expect(load).toThrow(HostError);
    expect(load).toThrow(`Resource Preflight: the local host does not support ${target} (got ${source})`);
  });
});
