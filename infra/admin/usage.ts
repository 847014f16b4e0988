import { BadRequestException, GetUsageCommand, NotFoundException } from '@aws-sdk/client-api-gateway';
import { customerPlans } from '../../shared/key-registry/customer-plan.ts';
import { idOf } from '../../shared/keys/key-record.ts';
import { DAY_MS, isoDay } from '../../shared/keys/window.ts';
import { findKey } from './keys/find-key.ts';
import { type KeyView, keyView } from './keys/key-view.ts';
import type { Target } from './target.ts';

/** Requests of one customer by UTC day, today last. */
export interface Usage extends Pick<KeyView, 'id' | 'name' | 'plan' | 'perDay'> {
  /** The date as `2026-11-21`. */
  readonly days: readonly { readonly date: string; readonly requests: number }[];
}

/** API Gateway answers for at most this many days at once. */
export const MAX_DAYS = 90;

/** Requests per day, today last. Today's are the exact count; those of earlier days are what API Gateway metered. */
export async function dailyUsage(target: Target, key: string, dayCount: number): Promise<Usage> {
  const now = Date.now();
  const record = await findKey(target, key);
  const dates = Array.from({ length: dayCount }, (_, index) => isoDay(now - (dayCount - 1 - index) * DAY_MS));
  const id = idOf(record);
  const requests = dates.map(() => 0);
  // It may have been on other plans before.
  for (const { usagePlanId } of await customerPlans(target.gateway, target.apiStage)) {
    const metered = await meteredRequests(target, usagePlanId, id, dates);
    metered.forEach((count, day) => (requests[day] = (requests[day] ?? 0) + count));
  }
  const { name, plan, perDay, usedToday } = keyView(record, now);
  const days = dates.map((date, day) => ({ date, requests: requests[day] ?? 0 }));
  return { id, name, plan, perDay, days: [...days.slice(0, -1), { date: isoDay(now), requests: usedToday }] };
}

/** The requests of each day from the first date to the last; none where the key is not on the plan. */
async function meteredRequests(
  { gateway }: Target,
  usagePlanId: string,
  keyId: string,
  dates: readonly string[],
): Promise<number[]> {
  try {
    const { items = {} } = await gateway.send(
      new GetUsageCommand({ usagePlanId, keyId, startDate: dates[0], endDate: dates.at(-1) }),
    );
    return (items[keyId] ?? []).map(([used = 0]) => used);
  } catch (error) {
    if (error instanceof NotFoundException || error instanceof BadRequestException) return [];
    throw error;
  }
}

/** Of the window with the least left, the part that is used: 0 to 1. */
export const partUsed = ({ usedThisMinute, perMinute, usedToday, perDay }: KeyView): number =>
  Math.max(usedThisMinute / perMinute, usedToday / perDay);
