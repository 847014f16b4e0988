import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import {
  type Costs,
  costPerMillion,
  type CostSettings,
  fixedMonthly,
  meanUsage,
  type RequestUsage,
  totalOf,
} from '../../../infra/costs/cost-model.ts';
import { prices, priceSources, pricesTakenOn } from '../../../infra/costs/prices.ts';

const nothing: RequestUsage = {
  writeUnits: 0,
  readUnits: 0,
  invocations: 0,
  billedMs: 0,
  logBytes: 0,
  answerBytes: 0,
};
const settings: CostSettings = { memoryMegabytes: 1_024, tracedShare: 0, firewall: false };

/** What a million of them costs beside the requests at the gateway. */
function cost(usage: Partial<RequestUsage>, differences: Partial<CostSettings> = {}): Costs {
  return costPerMillion({ ...nothing, ...usage }, { ...settings, ...differences });
}

describe('a million requests', () => {
  test('that take nothing cost what the gateway does', () => {
    expect(totalOf(cost({}))).toBe(3.5);
  });

  test.each([
    ['a write unit each', { writeUnits: 1 }, 'dynamodb', 0.625],
    ['a read unit each', { readUnits: 1 }, 'dynamodb', 0.125],
    ['two functions each', { invocations: 2 }, 'lambda', 0.4],
    ['a second of a GB each', { billedMs: 1_000 }, 'lambda', 13.3334],
    ['1 kB of logs each: a GB', { logBytes: 1_000 }, 'logs', 0.5],
    ['1 kB of answer each: a GB', { answerBytes: 1_000 }, 'traffic', 0.09],
  ] as const)('with %s', (_, usage, part, usd) => {
    const costs = cost(usage);

    expect(costs[part]).toBeCloseTo(usd, 9);
    expect(totalOf(costs)).toBeCloseTo(3.5 + usd, 9);
  });

  test('in half the memory cost half the time', () => {
    expect(cost({ billedMs: 1_000 }, { memoryMegabytes: 512 }).lambda).toBeCloseTo(6.6667, 9);
  });

  test('pay for every 10 MB of an answer that is begun', () => {
    const megabytes = 1_024 * 1_024;
    expect(cost({ answerBytes: 10 * megabytes }).gateway).toBe(3.5);
    expect(cost({ answerBytes: 10 * megabytes + 1 }).gateway).toBe(7);
  });

  test('pay for the share that is traced, and for the firewall where there is one', () => {
    expect(cost({}, { tracedShare: 0.05, firewall: true })).toMatchObject({ tracing: 0.25, firewall: 0.6 });
  });
});

describe('the mean of a mix', () => {
  const usage = fc.record({
    writeUnits: fc.nat(10),
    readUnits: fc.nat(100),
    invocations: fc.nat(2),
    billedMs: fc.nat(1_000),
    logBytes: fc.nat(5_000),
    answerBytes: fc.nat(1_000_000),
  });

  test('costs the mean of the costs', () => {
    fc.assert(
      fc.property(usage, usage, fc.double({ min: 0, max: 1, noNaN: true }), (one, other, share) => {
        const mixed = totalOf(
          costPerMillion(
            meanUsage([
              [one, share],
              [other, 1 - share],
            ]),
            settings,
          ),
        );
        const apart =
          share * totalOf(costPerMillion(one, settings)) + (1 - share) * totalOf(costPerMillion(other, settings));
        expect(mixed).toBeCloseTo(apart, 6);
      }),
    );
  });
});

describe('a month', () => {
  test('costs what alarms, dashboards, metrics, the firewall and keys do', () => {
    const parts = { alarmMetrics: 10, dashboards: 1, metrics: 10, webAcls: 1, webAclRules: 2, kmsKeys: 1 };
    expect(fixedMonthly(parts)).toBeCloseTo(1 + 3 + 3 + 5 + 2 + 1, 9);
  });
});

describe('the prices', () => {
  test('are of a day, and each service has the page that they come from', () => {
    expect(pricesTakenOn).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    expect(Object.keys(priceSources)).toEqual(Object.keys(prices));
    for (const source of Object.values(priceSources)) expect(source).toMatch(/^https:\/\/aws\.amazon\.com\/.+\/$/);
  });

  test('are all above zero', () => {
    for (const price of Object.values(prices).flatMap((service) => Object.values(service))) {
      expect(price).toBeGreaterThan(0);
    }
  });
});
