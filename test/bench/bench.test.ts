import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { planIds, plans } from '../../shared/keys/plans.ts';
import { stageNames } from '../../infra/stages.ts';
import { partNames } from './figure.ts';
import { propertiesOf, readableStage } from '../support/service-template.ts';
import {
  costOfMix,
  costPerMillion,
  MEMORY_GB,
  pages,
  priceOf,
  requestsInMonth,
  type RequestUsage,
  tableOf,
  totalOf,
  TRACED_SHARE,
  UNKNOWN_KEY,
} from './cost-page.ts';

const taken = tableOf(pages.numbers.text, 'a request');

function usageOf(name: string): RequestUsage {
  const [writeUnits = NaN, readUnits = NaN, invocations = NaN, billedMs = NaN, logBytes = NaN, answerBytes = NaN] =
    taken.get(name) ?? [];
  return { writeUnits, readUnits, invocations, billedMs, logBytes, answerBytes };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

/** What is measured stands on the page rounded. */
const ROUNDING = 0.011;

test('The page of attacks computes with what a million cost on the page of the costs', () => {
  const totals = [...tableOf(pages.costs.text, 'a million').values()].map((numbers) => numbers.at(-1) ?? NaN);
  const ofTypo = totalOf(costPerMillion(usageOf(UNKNOWN_KEY))) - priceOf('a million writes');
  const product = /([\d.]+) an? (?:hour|day)[^:|\n]*: ([\d,]+)( million)? × (\d+\.\d\d)(?: a million|\.)/g;
  const products = [...pages.security.text.matchAll(product)];

  expect(products).toHaveLength(11);
  for (const [, printed, requests = '', unit = '', million] of products) {
    expect([...totals, ofTypo].some((total) => Math.abs(total - Number(million)) < ROUNDING)).toBe(true);
    const computed = (Number(requests.replaceAll(',', '')) * Number(million)) / (unit === '' ? 1_000_000 : 1);
    expect(Math.abs(computed - Number(printed))).toBeLessThan(ROUNDING);
  }
});

test('Every part of the bench measures: each figure is a number, and what is slower is seen to be slower', async () => {
  const rounds = [0, 1].map((half) => partNames.filter((_, index) => index % 2 === half));
  const main = path.join(import.meta.dirname, 'main.ts');
  const run = rounds.map((parts) => promisify(execFile)(process.execPath, [main, '--small', ...parts]));
  // Each runs to its end, that no process outlives a failure.
  const failed = (await Promise.allSettled(run)).filter(({ status }) => status === 'rejected');

  expect(failed).toEqual([]);
}, 120_000);

describe('the page of the costs', () => {
  test.each([...tableOf(pages.costs.text, 'a million')])(
    'computes a million of %s from what one takes',
    (name, printed) => {
      const costs = costPerMillion(usageOf(name));
      const computed = [...Object.values(costs), totalOf(costs)];

      expect(printed).toHaveLength(computed.length);
      for (const [index, cost] of computed.entries()) {
        expect(Math.abs(cost - (printed[index] ?? Number.NaN))).toBeLessThan(ROUNDING);
      }
    },
  );

  test.each(planIds)('computes the plan %s from its mix and its limits', (plan) => {
    const [million = Number.NaN, requests, month = Number.NaN] =
      tableOf(pages.costs.text, 'plan').get(plans[plan].title) ?? [];
    const usages = { update: usageOf('update'), pet: usageOf('one pet'), page: usageOf('page of 100 pets') };
    const total = costOfMix(usages);

    expect(Math.abs(total - million)).toBeLessThan(ROUNDING);
    expect(requests).toBe(requestsInMonth(plan));
    expect((total * requestsInMonth(plan)) / 1_000_000 / month).toBeCloseTo(1, 1);
  });

  test.each([...tableOf(pages.costs.text, 'by the month')])('adds up what %s pays by the month', (_, numbers) => {
    const [alarms = NaN, dashboards = NaN, webAcls = NaN, rules = NaN, atRest] = numbers;
    const ofGuards = webAcls * priceOf('a web ACL a month') + rules * priceOf('a rule a month');
    const watched = alarms * priceOf('a metric of an alarm a month') + dashboards * priceOf('a dashboard a month');

    expect(watched + ofGuards + priceOf('the sync of keys a month')).toBeCloseTo(atRest ?? NaN);
    expect(atRest).toBeLessThan(15);
  });
});

describe.each(stageNames)('%s has, as the page says,', (name) => {
  const stage = readableStage(name);
  const all = (type: string) => propertiesOf(stage, type, v.looseObject({})).map(([, properties]) => properties);
  const listed = v.array(v.looseObject({}));

  test('so many alarm metrics, dashboards, web ACLs and rules, and no KMS key', () => {
    const watched = all('AWS::CloudWatch::Alarm').map(
      ({ Metrics }) => v.parse(v.optional(listed, []), Metrics).filter((one) => 'MetricStat' in one).length || 1,
    );
    const rules = all('AWS::WAFv2::WebACL').map(({ Rules }) => v.parse(listed, Rules).length);

    expect(tableOf(pages.costs.text, 'by the month').get(name)?.slice(0, -1)).toEqual([
      sum(watched),
      all('AWS::CloudWatch::Dashboard').length,
      rules.length,
      sum(rules),
    ]);
    expect(all('AWS::KMS::Key')).toEqual([]);
  });

  test('functions of one size but for the sync, and a share of requests that is traced', () => {
    const sizes = all('AWS::Lambda::Function').map(({ MemorySize }) => MemorySize);

    expect(new Set(sizes)).toEqual(new Set([1_024 * MEMORY_GB, 512]));
    expect(all('AWS::XRay::SamplingRule')).toMatchObject([{ SamplingRule: { FixedRate: TRACED_SHARE } }]);
  });
});
