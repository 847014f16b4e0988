import {
  BadRequestException,
  GetUsageCommand,
  type GetUsageCommandInput,
  type GetUsageCommandOutput,
  NotFoundException,
} from '@aws-sdk/client-api-gateway';
import { customerPlans, PAGE_SIZE } from '../../shared/key-registry/gateway.ts';
import { DAY_MS, isoDay } from '../../shared/keys/window.ts';
import { findKey } from './keys/find-key.ts';
import { type KeyView, keyView, listKeys } from './keys/key-view.ts';
import type { Target } from './target.ts';

/** Requests of one UTC day. */
export interface Day {
  /** As `2026-11-21`. */
  readonly date: string;
  readonly requests: number;
}

/** Requests by UTC day, as API Gateway meters them. */
export interface MeteredUsage {
  /** The oldest first. */
  readonly days: readonly Day[];
  /** False if the account has more keys than are read. */
  readonly isComplete: boolean;
}

/** Requests of one customer by UTC day, today last. */
export interface Usage extends Pick<KeyView, 'id' | 'name' | 'plan' | 'perDay'> {
  readonly days: readonly Day[];
}

/** Maximum days per call of API Gateway. */
export const MAX_DAYS = 90;

/** Maximum calls for the usage of all keys, 500 keys each: they take six seconds. */
const MAX_USAGE_CALLS = 25;

/** Requests per day since the key was created: today's exact count, and earlier days as API Gateway metered them. */
export async function dailyUsage(target: Target, key: string, dayCount: number): Promise<Usage> {
  const { id, name, plan, perDay, usedToday, created } = keyView(await findKey(target, key));
  const { days } = await meteredUsage(target, dayCount, id);
  return { id, name, plan, perDay, days: withToday(days, usedToday, created) };
}

/** The last days of a key, or of all keys together: at most {@link MAX_USAGE_CALLS} calls. */
export async function meteredUsage(target: Target, dayCount: number, keyId?: string): Promise<MeteredUsage> {
  const now = Date.now();
  const dates = Array.from({ length: dayCount }, (_, index) => isoDay(now - (dayCount - 1 - index) * DAY_MS));
  const requests = dates.map(() => 0);
  const days = () => dates.map((date, day) => ({ date, requests: requests[day] ?? 0 }));
  let calls = 0;
  // The key may have been on other plans.
  for (const { usagePlanId } of await customerPlans(target.gateway, target.apiStage)) {
    let position: string | undefined;
    do {
      if (calls === MAX_USAGE_CALLS) return { days: days(), isComplete: false };
      calls += 1;
      const query = { usagePlanId, keyId, position, limit: PAGE_SIZE, startDate: dates[0], endDate: dates.at(-1) };
      const page = await usagePage(target, query);
      for (const counts of Object.values(page.items ?? {}))
        counts.forEach(([used = 0], day) => (requests[day] = (requests[day] ?? 0) + used));
      position = page.position;
    } while (position !== undefined);
  }
  return { days: days(), isComplete: true };
}

type UsagePage = Pick<GetUsageCommandOutput, 'items' | 'position'>;

/** @returns nothing if the key is not on the plan or the plan was deleted */
async function usagePage({ gateway }: Target, query: GetUsageCommandInput): Promise<UsagePage> {
  try {
    return await gateway.send(new GetUsageCommand(query));
  } catch (error) {
    const isNotOnPlan = error instanceof BadRequestException && query.keyId !== undefined;
    if (isNotOnPlan || error instanceof NotFoundException) return {};
    throw error;
  }
}

/** Adds today's exact count, and drops the days before the key was created. @param created ISO 8601 */
export function withToday(days: readonly Day[], usedToday: number, created = ''): Day[] {
  const today = isoDay(Date.now());
  const earlier = days.filter(({ date }) => date >= created.slice(0, 10) && date < today);
  return [...earlier, { date: today, requests: usedToday }];
}

/** Figures shown next to the chart of days. */
export function usageFigures(days: readonly Day[]) {
  const today = days.at(-1) ?? { date: '', requests: 0 };
  const total = days.reduce((sum, { requests }) => sum + requests, 0);
  const peak = days.reduce((highest, day) => (day.requests >= highest.requests ? day : highest), today);
  return { today: today.requests, total, peak };
}

/** Keys with requests today, busiest first, with their remaining quota. */
export const busyKeys = async (target: Target) =>
  (await listKeys(target))
    .filter(({ usedToday }) => usedToday > 0)
    .toSorted((a, b) => b.usedToday - a.usedToday)
    .map(({ id, name, plan, usedToday, perDay }) => {
      return { id, name, plan, usedToday, perDay, leftToday: Math.max(0, perDay - usedToday) };
    });

/** Used share of the most restrictive window, from 0 to 1. */
export const partUsed = ({ usedThisMinute, perMinute, usedToday, perDay }: KeyView): number =>
  Math.max(usedThisMinute / perMinute, usedToday / perDay);
