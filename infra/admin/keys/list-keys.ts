import { type PlanId, planIds, plans } from '../../../shared/keys/plans.ts';
import type { Target } from '../target.ts';
import { findKey, keyPages } from './find-key.ts';
import { type KeyView, keyView } from './key-view.ts';

/** All keys, or those of one plan, by name. */
export async function listKeys(target: Target, plan?: PlanId): Promise<KeyView[]> {
  const now = Date.now();
  const views: KeyView[] = [];
  for await (const page of keyPages(target)) {
    for (const record of page) if (!record.revoked) views.push(keyView(record, now));
  }
  return views
    .filter((view) => plan === undefined || view.plan === plan)
    .toSorted((a, b) => a.name.localeCompare(b.name) || a.created.localeCompare(b.created));
}

/** @throws AdminError where there is no such key */
export async function showKey(target: Target, id: string): Promise<KeyView> {
  return keyView((await findKey(target, id)).record, Date.now());
}

export interface PlanView {
  readonly plan: PlanId;
  readonly title: string;
  /** Null: as agreed with each customer. */
  readonly perMinute: number | null;
  readonly perDay: number | null;
  readonly keys: number;
}

/** The plans of the catalogue, with the number of keys that each has. */
export async function listPlans(target: Target): Promise<PlanView[]> {
  const ofKeys = Map.groupBy(await listKeys(target), ({ plan }) => plan);
  return planIds.map((plan) => {
    const { title, limits } = plans[plan];
    const { perMinute, perDay } = limits === 'agreed' ? { perMinute: null, perDay: null } : limits;
    return { plan, title, perMinute, perDay, keys: ofKeys.get(plan)?.length ?? 0 };
  });
}
