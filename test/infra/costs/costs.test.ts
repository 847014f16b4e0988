import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import {
  agreedLimits,
  atRestMonthly,
  type Costs,
  costPerMillion,
  costSettings,
  DAYS_A_MONTH,
  fixedMonthly,
  fixedPartsOf,
  meanUsage,
  requestMix,
  type RequestUsage,
  totalOf,
} from '../../../infra/costs/cost-model.ts';
import { priceRegion, pricesTakenOn } from '../../../infra/costs/prices.ts';
import { errorCatalogue } from '../../../shared/contract/errors.ts';
import { planIds, plans } from '../../../shared/keys/plans.ts';
import { readAssembly } from '../../../infra/local/assembly.ts';
import { stages } from '../../../infra/stages.ts';
import { synthesizeStage } from '../../support/synthesize-once.ts';
import { resourcesOf, synthesizedStages } from '../../support/synthesized.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const page = readFileSync(path.join(import.meta.dirname, '../../../docs/operating/costs.md'), 'utf8');

/** The rows of the table whose head begins so: a name each, and the numbers after it. */
function tableOf(head: string): Map<string, number[]> {
  const lines = page.split('\n');
  const from = lines.findIndex((line) => line.startsWith(`| ${head} `)) + 2;
  const length = lines.slice(from).findIndex((line) => !line.startsWith('|'));
  const rows = lines.slice(from, from + length).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.replaceAll(/[*,]/g, '').trim()),
  );
  return new Map(rows.map(([name = '', ...numbers]) => [name, numbers.map(Number)]));
}

const taken = tableOf('a request');

function usageOf(name: string): RequestUsage {
  const [writeUnits = 0, readUnits = 0, invocations = 0, billedMs = 0, logBytes = 0, answerBytes = 0] =
    taken.get(name) ?? [];
  return { writeUnits, readUnits, invocations, billedMs, logBytes, answerBytes };
}

/** In the order of the table. */
function columnsOf(costs: Costs): number[] {
  const { gateway, lambda, dynamodb, logs, tracing, firewall, traffic } = costs;
  return [gateway, lambda, dynamodb, logs, tracing, firewall, traffic, totalOf(costs)];
}

/** What is measured stands on the page rounded. */
const ROUNDING = 0.011;

describe('the page of the costs', () => {
  test('is of the prices that are in use, and of the memory that the functions have', () => {
    expect(page).toContain(`in ${priceRegion} of ${pricesTakenOn}`);
    const functions = resourcesOf(
      synthesizedStages().production,
      'AWS::Lambda::Function',
      v.looseObject({ MemorySize: v.number() }),
    );
    const ofRequests = functions.filter(({ id }) => id.startsWith('Functions'));
    expect(new Set(ofRequests.map(({ properties }) => properties.MemorySize))).toEqual(
      new Set([costSettings.memoryMegabytes]),
    );
  });

  test.each([...tableOf('a million')])('computes a million of %s from what one takes', (name, printed) => {
    const computed = columnsOf(costPerMillion(usageOf(name), costSettings));

    expect(taken.has(name)).toBe(true);
    expect(printed).toHaveLength(computed.length);
    for (const [index, cost] of computed.entries()) {
      expect(Math.abs(cost - (printed[index] ?? Number.NaN))).toBeLessThan(ROUNDING);
    }
  });

  test.each(planIds)('computes the plan %s from its mix and its limits', (plan) => {
    const { title, limits } = plans[plan];
    const [counting = Number.NaN, million, requests, month = Number.NaN] = tableOf('plan').get(title) ?? [];
    const mixed = meanUsage([
      [usageOf('update'), requestMix.update],
      [usageOf('one pet'), requestMix.pet],
      [usageOf('page of 100 pets'), requestMix.page],
    ]);
    const costs = costPerMillion({ ...mixed, writeUnits: mixed.writeUnits - 1 + counting }, costSettings);
    const { perDay } = limits === 'agreed' ? agreedLimits : limits;

    expect(Math.abs(totalOf(costs) - (million ?? Number.NaN))).toBeLessThan(ROUNDING);
    expect(requests).toBe(perDay * DAYS_A_MONTH);
    expect((totalOf(costs) * perDay * DAYS_A_MONTH) / 1_000_000 / month).toBeCloseTo(1, 1);
  });
});

describe('by the month', () => {
  const { staging, production } = synthesizedStages();
  const folder = temporaryFolder();
  const told = { emails: ['oncall@example.com'], topicArns: [] };
  const { firewall: _, ...withoutFirewall } = stages.production;
  // Under the name of staging, so that one synthesis makes both.
  synthesizeStage(folder, [
    { ...withoutFirewall, name: 'staging', dashboard: false, alarmTargets: told },
    { ...stages.production, alarmTargets: { ...told, ownKey: true } },
  ]);
  const templates: [name: string, template: unknown, bound: number][] = [
    ['staging', staging.template, 1],
    ['production', production.template, 15],
    ['production with every guard', readAssembly(folder, 'production').template, 15],
    ["a hobby's production", readAssembly(folder, 'staging').template, 3],
  ];

  test.each(templates)(
    '%s has and costs what the page says, and at rest less than its bound',
    (name, template, bound) => {
      const parts = fixedPartsOf(template);
      const { alarmMetrics, dashboards, metrics, webAcls, webAclRules, kmsKeys } = parts;
      const costs = [fixedMonthly(parts), atRestMonthly(parts)].map((usd) => Number(usd.toFixed(2)));

      expect(tableOf('by the month').get(name)).toEqual(
        [alarmMetrics, dashboards, metrics, webAcls, webAclRules, kmsKeys].concat(costs),
      );
      expect(atRestMonthly(parts)).toBeLessThan(bound);
    },
  );

  test('beside each switch stands what it costs', () => {
    const { alarmMetrics, dashboards, webAcls, webAclRules, kmsKeys } = fixedPartsOf(templates[2]?.[1]);
    const nothing = { alarmMetrics: 0, dashboards: 0, metrics: 0, webAcls: 0, webAclRules: 0, kmsKeys: 0 };
    const priceOf = (parts: Partial<typeof nothing>) => fixedMonthly({ ...nothing, ...parts }).toFixed(2);
    const settings = readFileSync(path.join(import.meta.dirname, '../../../infra/stages.ts'), 'utf8');

    expect(settings).toContain(`that they look at, ${priceOf({ alarmMetrics })} together`);
    expect(settings).toContain(`page of graphs in CloudWatch: ${Number(priceOf({ dashboards }))} USD a month`);
    expect(settings).toContain(`in front of the API: ${Number(priceOf({ webAcls, webAclRules }))} USD a month`);
    expect(settings).toContain(`with a KMS key of the stack: ${Number(priceOf({ kmsKeys }))} USD a month`);
  });
});

test('A request pays for every 10 MB of its answer that is begun', () => {
  const [atTen, above] = [10, 11].map((megabytes) =>
    costPerMillion({ ...usageOf('one pet'), answerBytes: megabytes * 1_024 * 1_024 }, costSettings),
  );

  expect([atTen?.gateway, above?.gateway]).toEqual([3.5, 7]);
});

const stat = { MetricStat: {} };

const template = {
  Resources: {
    plain: { Type: 'AWS::CloudWatch::Alarm', Properties: { MetricName: 'Errors' } },
    formula: { Type: 'AWS::CloudWatch::Alarm', Properties: { Metrics: [{ Expression: 'a / b' }, stat, stat] } },
    dashboard: { Type: 'AWS::CloudWatch::Dashboard', Properties: {} },
    acl: { Type: 'AWS::WAFv2::WebACL', Properties: { Rules: [{}, {}, {}] } },
    key: { Type: 'AWS::KMS::Key', Properties: {} },
    filter: { Type: 'AWS::Logs::MetricFilter', Properties: {} },
    stage: {
      Type: 'AWS::ApiGateway::Stage',
      Properties: { MethodSettings: [{ MetricsEnabled: false }, { MetricsEnabled: true }] },
    },
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

  test('has five metrics of each method that has any, and one of each filter, beside those of the requests', () => {
    expect(fixedPartsOf(template).metrics - fixedPartsOf({ Resources: {} }).metrics).toBe(6);
  });

  test('has a metric for all requests, each operation, plan, status and reason, two more, and six of the sync', () => {
    const statuses = new Set([200, ...Object.values(errorCatalogue).map(({ status }) => status)]).size;
    // 4 operations and none; 4 plans and none; 6 reasons; all refusals, cold starts.
    expect(fixedPartsOf({ Resources: {} }).metrics).toBe(1 + 5 + 5 + statuses + 6 + 2 + 6);
  });
});
