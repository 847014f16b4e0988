import type { PlanId } from '../../../shared/keys/plans.ts';
import { listKeys } from '../keys/list-keys.ts';
import type { Target } from '../target.ts';

/** How close a key is to its limits. */
export interface Closeness {
  readonly id: string;
  readonly name: string;
  readonly plan: PlanId;
  readonly usedThisMinute: number;
  readonly perMinute: number;
  readonly usedToday: number;
  readonly perDay: number;
  /** The window with the least left, as the share that is used: 0 to 1. */
  readonly used: number;
}

/** The keys that are closest to their limits, the closest first; keys that were not used today are left out. */
export async function topUsage(target: Target, count: number): Promise<Closeness[]> {
  const views = await listKeys(target);
  return (
    views
      // What a rotated key still does counts on the key that replaced it.
      .filter(({ usedToday, state }) => usedToday > 0 && state !== 'rotated')
      .map(({ id, name, plan, usedThisMinute, perMinute, usedToday, perDay }) => {
        const used = Math.max(usedThisMinute / perMinute, usedToday / perDay);
        return { id, name, plan, usedThisMinute, perMinute, usedToday, perDay, used };
      })
      .toSorted((a, b) => b.used - a.used)
      .slice(0, count)
  );
}
