import { describe, expect, test } from '@jest/globals';
import { fixedPartsOf } from '../../../infra/costs/fixed-parts.ts';
import { errorCatalogue } from '../../../shared/contract/errors.ts';

const stat = { MetricStat: {} };

const template = {
  Resources: {
    plain: { Type: 'AWS::CloudWatch::Alarm', Properties: { MetricName: 'Errors' } },
    formula: { Type: 'AWS::CloudWatch::Alarm', Properties: { Metrics: [{ Expression: 'a / b' }, stat, stat] } },
    dashboard: { Type: 'AWS::CloudWatch::Dashboard', Properties: {} },
    acl: { Type: 'AWS::WAFv2::WebACL', Properties: { Rules: [{}, {}, {}] } },
    key: { Type: 'AWS::KMS::Key', Properties: {} },
    method: { Type: 'AWS::ApiGateway::Method', Properties: {} },
    other: { Type: 'AWS::SQS::Queue' },
  },
};

describe('what a template has that is paid by the month', () => {
  test('is counted; an alarm by a formula looks at each of its metrics', () => {
    expect(fixedPartsOf(template)).toMatchObject({
      alarmMetrics: 3,
      dashboards: 1,
      webAcls: 1,
      webAclRules: 3,
      kmsKeys: 1,
    });
  });

  test('has five metrics of each method, beside those of the requests', () => {
    const { method: _, ...others } = template.Resources;
    expect(fixedPartsOf(template).metrics - fixedPartsOf({ Resources: others }).metrics).toBe(5);
  });

  test('has a metric for all requests, each operation, plan, status and reason, one more, and eight of the sync', () => {
    const statuses = new Set([200, ...Object.values(errorCatalogue).map(({ status }) => status)]).size;
    // 4 operations and none; 4 plans and none; 6 reasons; cold starts.
    expect(fixedPartsOf({ Resources: {} }).metrics).toBe(1 + 5 + 5 + statuses + 6 + 1 + 8);
  });
});
