import { beforeEach, describe, expect, test } from '@jest/globals';
import { parseDate } from '../../../../infra/local/gateway-records/daily-usage.ts';
import type { UsagePlan } from '../../../../infra/local/gateway-records/records.ts';
import { ControlPlaneCalls } from '../../../support/control-plane-calls.ts';
import { anApiKey, aUsagePlan } from '../../../support/gateway-records.ts';

const usage = '/usageplans/plan/usage';
const days = 'startDate=2026-11-19&endDate=2026-11-23';

let plane: ControlPlaneCalls;

function start(settings: Partial<UsagePlan> = {}): void {
  plane = new ControlPlaneCalls();
  plane.records.putUsagePlan(aUsagePlan(settings));
  for (const id of ['k1', 'k2']) {
    plane.records.putApiKey(anApiKey({ id }));
    plane.records.putOnPlan('plan', id);
  }
  use('k1', '2026-11-20', 3);
  use('k1', '2026-11-22', 2);
}

function use(keyId: string, date: string, requests: number): void {
  for (let count = 0; count < requests; count++) plane.records.countRequest('plan', keyId, parseDate(date) ?? 0);
}

beforeEach(() => start());

describe('GetUsage', () => {
  test('answers with a pair for each day and key, by the id of the key', async () => {
    start({ quota: { limit: 10 } });

    expect(await plane.call('GET', `${usage}?${days}`)).toMatchObject({
      status: 200,
      body: {
        usagePlanId: 'plan',
        startDate: '2026-11-19',
        endDate: '2026-11-23',
        values: {
          k1: [
            [0, 10],
            [3, 7],
            [0, 10],
            [2, 8],
            [0, 10],
          ],
          k2: [
            [0, 10],
            [0, 10],
            [0, 10],
            [0, 10],
            [0, 10],
          ],
        },
      },
    });
  });

  test.each<[string, Partial<UsagePlan>, number[]]>([
    ['of each day', { quota: { limit: 10 } }, [10, 7, 10, 8, 10]],
    ['of nothing, without a quota', {}, [0, 0, 0, 0, 0]],
    ['of nothing, beyond the quota', { quota: { limit: 2 } }, [2, 0, 2, 0, 2]],
  ])('tells the rest %s', async (_, settings, remaining) => {
    start(settings);
    const { body } = await plane.call('GET', `${usage}?${days}&keyId=k1`);

    expect(Object(body).values).toEqual({ k1: [0, 3, 0, 2, 0].map((used, day) => [used, remaining[day]]) });
  });

  test('pages over the keys', async () => {
    const { body: first } = await plane.call('GET', `${usage}?${days}&limit=1`);
    const { body: second } = await plane.call('GET', `${usage}?${days}&limit=1&position=${Object(first).position}`);

    expect([first, second].map((body) => Object.keys(Object(body).values))).toEqual([['k1'], ['k2']]);
    expect(second).not.toHaveProperty('position');
  });

  test.each([
    ['no start', 'endDate=2026-11-20', /startDate must be a date/],
    ['a date that is none', 'startDate=2026-02-30&endDate=2026-03-01', /startDate must be a date/],
    ['a time', 'startDate=2026-11-20T00:00:00Z&endDate=2026-11-21', /startDate must be a date/],
    ['an end before the start', 'startDate=2026-11-21&endDate=2026-11-20', /must not be before/],
    ['91 days', 'startDate=2026-01-01&endDate=2026-04-01', /at most 90 days/],
  ])('refuses %s', async (_, query, message) => {
    expect(await plane.call('GET', `${usage}?${query}`)).toMatchObject({
      status: 400,
      error: 'BadRequestException',
      message: expect.stringMatching(message),
    });
  });
});
