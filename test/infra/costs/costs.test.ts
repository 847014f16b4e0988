import { readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import {
  atRestMonthly,
  costOfMix,
  costPerMillion,
  DAYS_A_MONTH,
  fixedMonthly,
  fixedPartsOf,
  limitsOf,
  type RequestUsage,
  totalOf,
} from '../../../infra/costs/cost-model.ts';
import { priceRegion, pricesTakenOn } from '../../../infra/costs/prices.ts';
import { readAssembly } from '../../../infra/local/assembly.ts';
import { stages } from '../../../infra/stages.ts';
import { errorCatalogue } from '../../../shared/contract/errors.ts';
import { planIds, plans } from '../../../shared/keys/plans.ts';
import { synthesizeApps } from '../../support/synthesize-once.ts';
import { synthesizedStages } from '../../support/synthesized.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const page = readFileSync(path.join(import.meta.dirname, '../../../docs/operating/costs.md'), 'utf8');

/** The rows of the table whose head begins so: a name each, and the numbers after it. */
function tableOf(head: string): Map<string, number[]> {
  const [, table = ''] = new RegExp(String.raw`^\| ${head} .*\n.*\n((?:\|.*\n)+)`, 'm').exec(page) ?? [];
  const rows = table.trim().split('\n');
  const cells = rows.map((line) => line.split('|').map((cell) => cell.replaceAll(/[*,]/g, '').trim()));
  return new Map(cells.map(([, name = '', ...numbers]) => [name, numbers.slice(0, -1).map(Number)]));
}

const taken = tableOf('a request');

function usageOf(name: string): RequestUsage {
  const [writeUnits = 0, readUnits = 0, invocations = 0, billedMs = 0, logBytes = 0, answerBytes = 0] =
    taken.get(name) ?? [];
  return { writeUnits, readUnits, invocations, billedMs, logBytes, answerBytes };
}

/** What is measured stands on the page rounded. */
const ROUNDING = 0.011;

describe('the page of the costs', () => {
  test('is of the prices that are in use', () => {
    expect(page).toContain(`in ${priceRegion} of ${pricesTakenOn}`);
  });

  test.each([...tableOf('a million')])('computes a million of %s from what one takes', (name, printed) => {
    const costs = costPerMillion(usageOf(name));
    const computed = [...Object.values<number>({ ...costs }), totalOf(costs)];

    expect(taken.has(name)).toBe(true);
    expect(printed).toHaveLength(computed.length);
    for (const [index, cost] of computed.entries()) {
      expect(Math.abs(cost - (printed[index] ?? Number.NaN))).toBeLessThan(ROUNDING);
    }
  });

  test.each(planIds)('computes the plan %s from its mix and its limits', (plan) => {
    const row = tableOf('plan').get(plans[plan].title) ?? [];
    const [counting = Number.NaN, million = Number.NaN, requests, month = Number.NaN] = row;
    const usages = { update: usageOf('update'), pet: usageOf('one pet'), page: usageOf('page of 100 pets') };
    const total = totalOf(costOfMix(usages, counting));
    const inMonth = limitsOf(plan).perDay * DAYS_A_MONTH;

    expect(Math.abs(total - million)).toBeLessThan(ROUNDING);
    expect(requests).toBe(inMonth);
    expect((total * inMonth) / 1_000_000 / month).toBeCloseTo(1, 1);
  });
});

describe('by the month', () => {
  const folder = temporaryFolder();
  const told = { emails: ['oncall@example.com'], topicArns: [] };
  const { firewall: _, ...withoutFirewall } = stages.production;
  const { staging, production } = synthesizedStages();
  const templates: [name: string, bound: number, template: () => unknown][] = [
    ['staging', 1, () => staging.template],
    ['production', 15, () => production.template],
    // Without what is asked of its queue, which is free for the only such stage of an account, it is below 15.
    ['production with every guard', 15.25, () => readAssembly(path.join(folder, 'guarded'), 'production').template],
    ["a hobby's production", 3, () => readAssembly(path.join(folder, 'hobby'), 'production').template],
  ];

  beforeAll(() => {
    synthesizeApps(folder, {
      guarded: [{ ...stages.production, alarmTargets: { ...told, ownKey: true } }],
      hobby: [{ ...withoutFirewall, dashboard: false, alarmTargets: told }],
    });
  }, 60_000);

  test.each(templates)('%s has and costs what the page says, and at rest less than %i USD', (name, bound, template) => {
    const parts = fixedPartsOf(template());
    const { alarmMetrics, dashboards, metrics, webAcls, webAclRules, kmsKeys } = parts;
    const costs = [fixedMonthly(parts), atRestMonthly(parts)].map((usd) => Number(usd.toFixed(2)));

    expect(tableOf('by the month').get(name)).toEqual(
      [alarmMetrics, dashboards, metrics, webAcls, webAclRules, kmsKeys].concat(costs),
    );
    expect(atRestMonthly(parts)).toBeLessThan(bound);
  });

  test('beside each switch stands what it costs', () => {
    const { alarmMetrics, dashboards, webAcls, webAclRules, kmsKeys } = fixedPartsOf(templates[2]?.[2]());
    const nothing = { alarmMetrics: 0, dashboards: 0, metrics: 0, webAcls: 0, webAclRules: 0, kmsKeys: 0 };
    const priceOf = (parts: Partial<typeof nothing>) => fixedMonthly({ ...nothing, ...parts }).toFixed(2);
    const settings = readFileSync(path.join(import.meta.dirname, '../../../infra/stages.ts'), 'utf8');

    expect(settings).toContain(`that they look at, ${priceOf({ alarmMetrics })} together`);
    expect(settings).toContain(`page of graphs in CloudWatch: ${Number(priceOf({ dashboards }))} USD a month`);
    expect(settings).toContain(`in front of the API: ${Number(priceOf({ webAcls, webAclRules }))} USD a month`);
    expect(settings).toContain(`with a KMS key of the stack: ${Number(priceOf({ kmsKeys }))} USD a month`);
  });
});

test('The page of attacks has the costs of floods and of long lists, computed from what one request takes', () => {
  const attacks = readFileSync(path.join(import.meta.dirname, '../../../docs/operating/attacks.md'), 'utf8');
  const words = attacks.replaceAll(/\s+/g, ' ');
  const million = (name: string, differences: Partial<RequestUsage> = {}): number =>
    totalOf(costPerMillion({ ...usageOf(name), ...differences }));
  const unknown = million('refused: unknown key (401)');
  const mistyped = million('refused: unknown key (401)', { writeUnits: 0 });
  const refused = million('refused: over the limit (429)');
  const list = usageOf('list of 10000 pets');
  const lists = (bytes: number, seconds: number): number =>
    million('list of 10000 pets', {
      readUnits: (list.readUnits * bytes) / list.answerBytes,
      answerBytes: bytes,
      billedMs: 1_000 * seconds,
    });
  const longest = lists(400 * list.answerBytes, 94);

  for (const text of [
    `${(0.024 * mistyped).toFixed(2)} an hour and address (24,000`,
    `${(0.144 * mistyped).toFixed(2)} an hour and address (144,000 × ${mistyped.toFixed(2)}`,
    `${(0.144 * unknown).toFixed(2)} an hour and address (144,000 × ${unknown.toFixed(2)}`,
    `${(9 * unknown).toFixed(2)} an hour (9 million`,
    `${(36 * unknown).toFixed(2)} an hour (36 million`,
    `${(0.144 * refused).toFixed(2)} an hour and address (144,000 × ${refused.toFixed(2)}), ${(9 * refused).toFixed(2)} at 2,500 a second`,
    `${(0.1 * million('update')).toFixed(2)} a day on Business`,
    `${(lists(1_000_000, 10) / 1_000).toFixed(2)} a day on Free (1,000 lists × 10 seconds)`,
    `${(lists(30_700_000, 120) / 1_000).toFixed(2)} a day on Free (1,000 lists × 120 seconds`,
    `${(longest / 1_000).toFixed(2)} a day on Free`,
    `**A whole list of 4 million pets** is ${(longest / 1_000_000).toFixed(4)}:`,
    `${((longest / 1_000_000) * 100 * (3_600 / 94)).toFixed(2)} an hour at most`,
  ])
    expect(words).toContain(text);
});

test('A request pays for every 10 MB of its answer that is begun', () => {
  const gateway = [10, 11].map(
    (megabytes) => costPerMillion({ ...usageOf('one pet'), answerBytes: megabytes * 1_024 * 1_024 }).gateway,
  );

  expect(gateway).toEqual([3.5, 7]);
});

test('There is a metric for all requests, each operation, plan, status and reason, two more, and six of the sync', () => {
  const statuses = new Set([200, ...Object.values(errorCatalogue).map(({ status }) => status)]).size;
  // 4 operations and none; 4 plans and none; 6 reasons; all refusals, cold starts.
  expect(fixedPartsOf({ Resources: {} }).metrics).toBe(1 + 5 + 5 + statuses + 6 + 2 + 6);
});
