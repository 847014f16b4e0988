import { daysOf, type DayUsage, sumByDay } from '../../../shared/key-registry/key-usage.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import { DAY_MS, isoDay } from '../../../shared/keys/verdict.ts';
import { findRecord } from './find-key.ts';
import { type KeyView, keyView, listKeys } from './key-view.ts';
import type { Target } from '../service/target.ts';

/** Requests of one customer by UTC day, today last. */
export interface Usage extends Pick<KeyView, 'id' | 'name' | 'plan' | 'perDay'> {
  readonly days: readonly DayUsage[];
}

/** Days for which usage is kept. */
export const MAX_DAYS = 400;

/** Requests per day since the key was created, also of a revoked key. */
export async function usageOfKey(target: Target, key: string, dayCount: number): Promise<Usage> {
  const record = await findRecord(target, key);
  const { id, name, plan, perDay } = keyView(record);
  return { id, name, plan, perDay, days: await dailyUsage(target, record, dayCount) };
}

/** The last days of a key since its creation, or of all keys together. */
export async function dailyUsage(
  { usage }: Target,
  of: KeyRecord | readonly KeyRecord[],
  dayCount: number,
): Promise<DayUsage[]> {
  const now = Date.now();
  const key = 'recordId' in of ? of : undefined;
  const dates = Array.from({ length: dayCount }, (_, index) => isoDay(now - (dayCount - 1 - index) * DAY_MS));
  const stored = await usage.of(key?.recordId, dates[0] ?? '');
  const byDay = new Map(stored.map((each) => [each.day, each]));
  // Today, and a day that has just ended.
  const held = sumByDay([of].flat().flatMap(daysOf));
  const first = [isoDay(key?.createdAt ?? 0), stored[0]?.day ?? '9'].toSorted()[0] ?? '';
  return dates
    .filter((day) => day >= first)
    .map((day) => byDay.get(day) ?? held.get(day) ?? { day, used: 0, refused: 0 });
}

export function usageFigures(days: readonly DayUsage[]) {
  const today = days.at(-1) ?? { day: '', used: 0, refused: 0 };
  const total = days.reduce((sum, { used }) => sum + used, 0);
  const refused = days.reduce((sum, day) => sum + day.refused, 0);
  const peak = days.reduce((highest, day) => (day.used >= highest.used ? day : highest), today);
  const highest = Math.max(...days.map((day) => day.used + day.refused));
  /** The last day of made-up figures; undefined if there are none. */
  const lastSampleDay = days.findLast(({ sample }) => sample)?.day;
  return { today, total, refused, peak, highest, lastSampleDay };
}

/** Whether so many requests of a day were refused that it must be seen. */
export const isMostlyRefused = ({ used, refused }: DayUsage): boolean => refused > (used + refused) / 10;

/** Keys with requests today, busiest first, with their remaining quota. */
export const busyKeys = async (target: Target) =>
  (await listKeys(target))
    .filter(({ usedToday, refusedToday }) => usedToday + refusedToday > 0)
    .toSorted((a, b) => b.usedToday - a.usedToday || b.refusedToday - a.refusedToday)
    .map(({ id, name, plan, usedToday, refusedToday, perDay }) => {
      return { id, name, plan, usedToday, refusedToday, perDay, leftToday: Math.max(0, perDay - usedToday) };
    });

/** Used share of the most restrictive window, from 0 to 1. */
export const partUsed = ({ usedThisMinute, perMinute, usedToday, perDay }: KeyView): number =>
  Math.max(usedThisMinute / perMinute, usedToday / perDay);
