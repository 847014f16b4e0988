import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import * as v from 'valibot';
import { stageNames } from '../../infra/stages.ts';
import { atMost, cellsOf, partNames, report, worstOf } from './figure.ts';
import { propertiesOf, readableStage } from '../support/service-template.ts';
import { derivedPages, MEMORY_GB, pages, priceOf, tableOf, TRACED_SHARE } from './cost-page.ts';

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

test('the pages of costs and attacks match the measured usage and the prices', async () => {
  expect(await derivedPages(pages.numbers.text)).toEqual({ costs: pages.costs.text, security: pages.security.text });
});

test('each part of the bench measures numbers and detects a deliberate slowdown', async () => {
  const rounds = [0, 1].map((half) => partNames.filter((_, index) => index % 2 === half));
  const main = path.join(import.meta.dirname, 'main.ts');
  const run = rounds.map((parts) => promisify(execFile)(process.execPath, [main, '--small', ...parts]));
  // Each runs to its end, that no process outlives a failure.
  const failed = (await Promise.allSettled(run)).filter(({ status }) => status === 'rejected');

  expect(failed).toEqual([]);
}, 120_000);

test.each([...tableOf(pages.costs.text, 'stage')])(
  'the page of costs adds up the fixed monthly costs of %s',
  (_, numbers) => {
    const [alarms = NaN, dashboards = NaN, webAcls = NaN, rules = NaN, atRest] = numbers;
    const ofGuards = webAcls * priceOf('a web ACL per month') + rules * priceOf('a rule per month');
    const watched = alarms * priceOf('an alarm metric per month') + dashboards * priceOf('a dashboard per month');

    expect(watched + ofGuards + priceOf('the key sync per month')).toBeCloseTo(atRest ?? NaN);
    expect(atRest).toBeLessThan(16);
  },
);

describe.each(stageNames)('the stage %s has', (name) => {
  const stage = readableStage(name);
  const all = (type: string) => propertiesOf(stage, type, v.looseObject({})).map(([, properties]) => properties);
  const listed = v.array(v.looseObject({}));

  test('the alarm metrics, dashboards, web ACLs and rules on the page, and no KMS key', () => {
    const watched = all('AWS::CloudWatch::Alarm').map(
      ({ Metrics }) => v.parse(v.optional(listed, []), Metrics).filter((one) => 'MetricStat' in one).length || 1,
    );
    const rules = all('AWS::WAFv2::WebACL').map(({ Rules }) => v.parse(listed, Rules).length);

    expect(tableOf(pages.costs.text, 'stage').get(name)?.slice(0, -1)).toEqual([
      sum(watched),
      all('AWS::CloudWatch::Dashboard').length,
      rules.length,
      sum(rules),
    ]);
    expect(all('AWS::KMS::Key')).toEqual([]);
  });

  test('the memory sizes and the share of traced requests on the page', () => {
    const sizes = all('AWS::Lambda::Function').map(({ MemorySize }) => MemorySize);

    expect(new Set(sizes)).toEqual(new Set([1_024 * MEMORY_GB, 512]));
    expect(all('AWS::XRay::SamplingRule')).toMatchObject([{ SamplingRule: { FixedRate: TRACED_SHARE } }]);
  });
});

test('the page of numbers has the worst case per measure, and why it misses its target', () => {
  const figures = [atMost('a: time', 1, 2), { ...atMost('b: time', 3, 2), ifMissed: 'slow' }, report('a: kind', 7)];

  expect(worstOf(figures).map(cellsOf)).toEqual([['time, worst of 2', '3', '≤ 2', 'missed: slow']]);
});
