import { BadRequestException, GetUsageCommand, NotFoundException } from '@aws-sdk/client-api-gateway';
import { customerPlans, type CustomerPlan } from '../../shared/key-registry/customer-plan.ts';
import type { PlanId } from '../../shared/keys/plans.ts';
import { findKey, predecessorsOf } from './keys/find-key.ts';
import { type KeyView, keyView } from './keys/key-view.ts';
import { listKeys } from './keys/list-keys.ts';
import type { Target } from './target.ts';

/** Requests of one customer on one UTC day. */
export interface DayOfUsage {
  /** `2026-11-21`. */
  readonly date: string;
  readonly requests: number;
}

export interface Usage {
  readonly id: string;
  readonly name: string;
  readonly plan: PlanId;
  readonly perDay: number;
  readonly days: readonly DayOfUsage[];
}

const DAY_MS = 86_400_000;

/**
 * Requests per day, today last. Today's are the exact count; those of earlier days are what API Gateway has metered,
 * those of the keys that were rotated to this one included.
 */
export async function dailyUsage(target: Target, id: string, dayCount: number): Promise<Usage> {
  const now = Date.now();
  const { record, usagePlan } = await findKey(target, id);
  const dates = Array.from({ length: dayCount }, (_, index) => dateText(now - (dayCount - 1 - index) * DAY_MS));
  const metered = new Map<string, number>();
  const { plans } = await customerPlans(target.gateway, target.apiStage);
  // A key may have been on other plans before; on those of other customers it was not.
  const candidates = plans.filter((plan) => !plan.isOwn || plan.usagePlanId === usagePlan?.usagePlanId);
  const earlier = await predecessorsOf(target, record);
  for (const keyId of [id, ...earlier.map((key) => key.keyId)]) {
    for (const plan of candidates) await addMetered(target, plan, keyId, dates, metered);
  }
  const today = dateText(now);
  metered.set(today, keyView(record, now).usedToday);
  return {
    id,
    name: record.name,
    plan: record.plan,
    perDay: record.perDay,
    days: dates.map((date) => ({ date, requests: metered.get(date) ?? 0 })),
  };
}

async function addMetered(
  { gateway }: Target,
  { usagePlanId }: CustomerPlan,
  keyId: string,
  dates: readonly string[],
  metered: Map<string, number>,
): Promise<void> {
  try {
    const { items = {} } = await gateway.send(
      new GetUsageCommand({ usagePlanId, keyId, startDate: dates[0], endDate: dates.at(-1) }),
    );
    for (const [index, [used = 0]] of (items[keyId] ?? []).entries()) {
      const date = dates[index] ?? '';
      metered.set(date, (metered.get(date) ?? 0) + used);
    }
  } catch (error) {
    // The key is not on this plan.
    if (!(error instanceof NotFoundException || error instanceof BadRequestException)) throw error;
  }
}

const dateText = (epochMs: number): string => new Date(epochMs).toISOString().slice(0, 10);

/** How close a key is to its limits. */
export interface Closeness {
  readonly id: string;
  readonly name: string;
  readonly plan: PlanId;
  readonly usedThisMinute: number;
  readonly perMinute: number;
  readonly usedToday: number;
  readonly perDay: number;
  /** The window with the least left, as the part that is used: 0 to 1. */
  readonly used: number;
}

/** The keys that are closest to their limits, the closest first; keys that were not used today are left out. */
export async function topUsage(target: Target, count: number): Promise<Closeness[]> {
  return closest(await listKeys(target)).slice(0, count);
}

export function closest(views: readonly KeyView[]): Closeness[] {
  return (
    views
      // What a rotated key still does counts on the key that replaced it.
      .filter(({ usedToday, state }) => usedToday > 0 && state !== 'rotated')
      .map(({ id, name, plan, usedThisMinute, perMinute, usedToday, perDay }) => {
        const used = Math.max(usedThisMinute / perMinute, usedToday / perDay);
        return { id, name, plan, usedThisMinute, perMinute, usedToday, perDay, used };
      })
      .toSorted((a, b) => b.used - a.used)
  );
}
