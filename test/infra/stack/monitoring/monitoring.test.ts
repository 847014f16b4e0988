import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Template } from 'aws-cdk-lib/assertions';
import { TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import * as v from 'valibot';
import { alarmDefinitions } from '../../../../infra/stack/monitoring/alarm-table.ts';
import { queries } from '../../../../infra/stack/monitoring/queries.ts';
import { monitoredStack } from '../../../support/monitored-stack.ts';

const PAGER = 'arn:aws:sns:us-east-1:111111111111:pager';
const { stack, alarms } = monitoredStack(
  { emails: ['on-call@example.com'], topicArns: [PAGER] },
  { metricName: 'Wall' },
);
const template = Template.fromStack(stack);

const propertiesOf = (type: string, of = template): Record<string, unknown>[] =>
  Object.values(of.findResources(type)).map(({ Properties }) => v.parse(v.record(v.string(), v.unknown()), Properties));

const queryMetric = v.object({
  Id: v.string(),
  Expression: v.optional(v.string()),
  MetricStat: v.optional(v.object({ Metric: v.object({ MetricName: v.string() }), Period: v.number() })),
});
const alarmSchema = v.looseObject({
  AlarmName: v.string(),
  AlarmDescription: v.string(),
  AlarmActions: v.array(v.unknown()),
  OKActions: v.array(v.unknown()),
  TreatMissingData: v.string(),
  EvaluationPeriods: v.number(),
  DatapointsToAlarm: v.number(),
  Metrics: v.optional(v.array(queryMetric), []),
});
const made = propertiesOf('AWS::CloudWatch::Alarm').map((properties) => v.parse(alarmSchema, properties));
const alarmNamed = (id: string) => made.find(({ AlarmName }) => AlarmName === `Test-${id}`);

describe('the alarms', () => {
  test('are those of the catalogue, each named after the stack and itself', () => {
    expect(made.map(({ AlarmName }) => AlarmName).toSorted()).toEqual(
      alarmDefinitions.map(([id]) => `Test-${id}`).toSorted(),
    );
  });

  test('say what is wrong, when they go off and where to look first, and end in the path of their runbook', () => {
    for (const [id, { title, severity, when, firstStep }] of alarmDefinitions) {
      expect(alarmNamed(id)?.AlarmDescription).toBe(
        `${title} (${severity}): ${when}. First: ${firstStep}. Runbook: docs/runbooks/${id}.md`,
      );
    }
  });

  test('tell the topic of the stack, and those that the stage names, when they go off and when it is over', () => {
    const [topic] = Object.keys(template.findResources('AWS::SNS::Topic'));

    for (const { AlarmActions, OKActions } of made) {
      expect(AlarmActions).toEqual([{ Ref: topic }, PAGER]);
      expect(OKActions).toEqual(AlarmActions);
    }
  });

  test('that take a release back watch what a release can break', () => {
    expect(alarms.rollback.map(({ node }) => node.id)).toEqual([
      'ApiErrors',
      'SlowAnswers',
      'AuthorizerErrors',
      'FunctionErrors',
    ]);
    expect(alarms.all).toHaveLength(alarmDefinitions.length);
  });

  test('take a release back within five minutes: no canary is over by then', () => {
    const minutes = alarmDefinitions.flatMap(([, { rollsBack, periodMinutes, periods = 1 }]) =>
      rollsBack ? periodMinutes * periods : [],
    );

    expect(Math.max(...minutes)).toBe(5);
  });

  test('stay quiet where there is nothing to see, but for the one that misses the sync', () => {
    const treated = Object.fromEntries(
      made.map((alarm) => [alarm.AlarmName.slice('Test-'.length), alarm.TreatMissingData]),
    );
    const { 'sync-missing': missing, 'sync-problems': problems, 'many-keys': keys, ...others } = treated;

    expect(missing).toBe('breaching');
    expect([problems, keys]).toEqual(['ignore', 'ignore']);
    expect(new Set(Object.values(others))).toEqual(new Set(['notBreaching']));
  });

  test('take nothing for zero, but for those that keep to what was last told', () => {
    for (const [id, { missingData }] of alarmDefinitions) {
      const [{ Expression: formula } = {}] = alarmNamed(id)?.Metrics ?? [];

      expect([id, formula === 'FILL(found, 0)']).toEqual([id, missingData !== TreatMissingData.IGNORE]);
    }
  });

  test('want some failures before they look at a share', () => {
    for (const id of ['api-errors', 'many-refusals', 'firewall-blocks']) {
      const formulas = (alarmNamed(id)?.Metrics ?? []).map(({ Expression }) => Expression);

      expect(formulas).toContainEqual(expect.stringMatching(/^IF\((\w+) >= \d{1,3}, 100 \* \1 \/ \w+, 0\)$/));
    }
  });

  test('have no more than the ten metrics that CloudWatch takes, all of one period, and no id twice', () => {
    for (const { Metrics: metrics } of made) {
      const stats = metrics.flatMap(({ MetricStat }) => MetricStat ?? []);

      expect(stats.length).toBeLessThanOrEqual(10);
      expect(new Set(stats.map(({ Period }) => Period)).size).toBeLessThanOrEqual(1);
      expect(new Set(metrics.map(({ Id }) => Id)).size).toBe(metrics.length);
    }
  });

  test('do not look at how long a list takes: that is up to its reader', () => {
    expect(JSON.stringify(alarmNamed('slow-answers')?.Metrics)).not.toMatch(/"\/inventory"|orders/);
  });

  test('watch the firewall only where there is one', () => {
    const without = Template.fromStack(monitoredStack().stack);
    const names = propertiesOf('AWS::CloudWatch::Alarm', without).map(({ AlarmName }) => AlarmName);

    expect(names).toHaveLength(alarmDefinitions.length - 1);
    expect(names).not.toContain('Test-firewall-blocks');
    expect(JSON.stringify(without.findResources('AWS::CloudWatch::Dashboard'))).not.toContain('WAFV2');
  });
});

describe('the topic of the alarms', () => {
  const ownAlarms = {
    StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } },
    ArnLike: {
      'aws:SourceArn': { 'Fn::Join': ['', expect.arrayContaining([':cloudwatch:', ':alarm:Test-*'])] },
    },
  };

  test('takes messages over TLS only, from the alarms of the stack only', () => {
    template.hasResourceProperties('AWS::SNS::TopicPolicy', {
      PolicyDocument: {
        Statement: [
          { Effect: 'Deny', Action: 'sns:Publish', Condition: { Bool: { 'aws:SecureTransport': 'false' } } },
          { Effect: 'Allow', Action: 'sns:Publish', Principal: { Service: 'cloudwatch.amazonaws.com' } },
        ],
      },
    });
    const [policy] = propertiesOf('AWS::SNS::TopicPolicy');
    expect(policy).toMatchObject({ PolicyDocument: { Statement: [{}, { Condition: ownAlarms }] } });
  });

  test('is encrypted with a key that CloudWatch may use for these alarms', () => {
    const [key] = Object.keys(template.findResources('AWS::KMS::Key'));

    expect(propertiesOf('AWS::SNS::Topic')).toMatchObject([{ KmsMasterKeyId: { 'Fn::GetAtt': [key, 'Arn'] } }]);
    expect(propertiesOf('AWS::KMS::Key')).toMatchObject([
      {
        EnableKeyRotation: true,
        KeyPolicy: {
          Statement: [
            { Action: 'kms:*', Principal: { AWS: expect.anything() } },
            {
              Action: ['kms:Decrypt', 'kms:GenerateDataKey*'],
              Principal: { Service: 'cloudwatch.amazonaws.com' },
              Condition: ownAlarms,
            },
          ],
        },
      },
    ]);
  });

  test('tells the addresses of the stage', () => {
    expect(propertiesOf('AWS::SNS::Subscription')).toMatchObject([
      { Protocol: 'email', Endpoint: 'on-call@example.com' },
    ]);
  });
});

const widgetSchema = v.object({
  type: v.picklist(['text', 'alarm', 'metric', 'log']),
  x: v.number(),
  y: v.number(),
  width: v.number(),
  height: v.number(),
  properties: v.looseObject({
    title: v.optional(v.string()),
    markdown: v.optional(v.string()),
    metrics: v.optional(v.array(v.array(v.unknown())), []),
  }),
});
const optionsSchema = v.looseObject({ id: v.optional(v.string()), expression: v.optional(v.string()) });

const runbooks = path.join(import.meta.dirname, '../../../../docs/runbooks');

describe('the dashboard', () => {
  const [{ DashboardBody: body, DashboardName: name } = {}] = propertiesOf('AWS::CloudWatch::Dashboard');
  const { 'Fn::Join': joined } = v.parse(v.object({ 'Fn::Join': v.tuple([v.string(), v.array(v.unknown())]) }), body);
  const text = joined[1].map((part) => (typeof part === 'string' ? part : 'token')).join('');
  const { widgets } = v.parse(v.object({ widgets: v.array(widgetSchema) }), JSON.parse(text));

  test('is named after stack and region: an account has one list of dashboards', () => {
    expect(name).toEqual({ 'Fn::Join': ['', ['Test-', { Ref: 'AWS::Region' }]] });
  });

  test('counts costs an hour by the period that the graph has', () => {
    const expressions = widgets.flatMap(({ properties: { metrics } }) =>
      metrics.flatMap((metric) => v.parse(optionsSchema, metric.at(-1)).expression ?? []),
    );
    const costs = expressions.filter((expression) => expression.includes('PERIOD'));

    expect(costs.length).toBeGreaterThan(5);
    for (const cost of costs) expect(cost).toMatch(/^[a-z]+ \* [\d.]+ \/ PERIOD\(requests\)$/);
  });

  test('answers three questions', () => {
    const questions = widgets.flatMap(({ properties: { markdown } }) => markdown?.split('\n')[0] ?? []);

    expect(questions).toEqual(['## Is it healthy?', '## Who is hitting limits?', '## What does it cost?']);
  });

  test('has widgets that do not overlap, within its 24 columns', () => {
    const cells = widgets.flatMap(({ x, y, width, height }) => {
      expect(x + width).toBeLessThanOrEqual(24);
      return Array.from(
        { length: width * height },
        (_, index) => `${x + (index % width)},${y + Math.floor(index / width)}`,
      );
    });

    expect(new Set(cells).size).toBe(cells.length);
  });

  test.each(widgets.map((widget) => [widget.properties.title ?? widget.properties.markdown ?? '', widget] as const))(
    'names its metrics, and searches for none: %s',
    (_, { properties: { metrics } }) => {
      const options = metrics.map((metric) => v.parse(optionsSchema, metric.at(-1)));
      const ids = options.flatMap(({ id }) => id ?? []);

      expect(new Set(ids).size).toBe(ids.length);
      for (const { expression = '' } of options) {
        expect(expression).not.toContain('SEARCH');
        for (const [used] of expression.matchAll(/\b[a-z]\w*/g)) expect(ids).toContain(used);
        // CloudWatch reads no exponents.
        expect(expression).not.toMatch(/\de-?\d/);
      }
    },
  );

  test('has the graphs that the runbooks name', () => {
    const pages = readdirSync(runbooks).map((page) => readFileSync(path.join(runbooks, page), 'utf8'));
    const named = pages.flatMap((page) => [...page.matchAll(/dashboard, \*\*([^*]+)\*\*/g)].map(([, title]) => title));

    expect(named.length).toBeGreaterThanOrEqual(5);
    for (const title of named) expect(text).toContain(`"title":"${title}`);
  });

  test('shows every alarm', () => {
    const shown = widgets.find(({ type }) => type === 'alarm');

    expect(v.parse(v.array(v.string()), shown?.properties['alarms'])).toHaveLength(alarmDefinitions.length);
  });
});

describe('the saved queries', () => {
  const saved = propertiesOf('AWS::Logs::QueryDefinition');

  test('are in a folder of the stack, each over the log groups that have what it asks for', () => {
    const groups = { requests: ['authorizer-logs', 'operation-logs'], sync: ['sync-logs'], access: ['access-logs'] };

    expect(saved).toEqual(
      Object.values(queries).map(({ name, logs, lines }) => ({
        Name: `Test/${name}`,
        LogGroupNames: groups[logs],
        QueryString: lines.join('\n| '),
      })),
    );
  });

  test('use the commands of Logs Insights, one a line', () => {
    for (const { lines } of Object.values(queries)) {
      for (const line of lines) expect(line).toMatch(/^(fields|filter|stats|sort|limit) \S.*$/);
    }
  });
});
