import { type PlanId, planIds, plans } from '../../../shared/keys/plans.ts';
import type { KeyRecord } from '../../../shared/keys/key-record.ts';
import type { Target } from '../target.ts';
import { findKey, keyPages } from './find-key.ts';
import { type KeyView, keyView } from './key-view.ts';

/** All keys, or those of one plan, by name. */
export async function listKeys(target: Target, plan?: PlanId): Promise<KeyView[]> {
  const now = Date.now();
  return (await keyRecords(target))
    .map((record) => keyView(record, now))
    .filter((view) => plan === undefined || view.plan === plan)
    .toSorted((a, b) => byName.compare(a.name, b.name) || byName.compare(a.created, b.created));
}

const byName = new Intl.Collator();

/** The records of all keys that are not revoked. */
export async function keyRecords(target: Target): Promise<KeyRecord[]> {
  const records: KeyRecord[] = [];
  for await (const page of keyPages(target)) records.push(...page.filter(({ revoked }) => !revoked));
  return records;
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
  return plansWith(await listKeys(target));
}

export function plansWith(views: readonly KeyView[]): PlanView[] {
  const ofKeys = Map.groupBy(views, ({ plan }) => plan);
  return planIds.map((plan) => {
    const { title, limits } = plans[plan];
    const { perMinute, perDay } = limits === 'agreed' ? { perMinute: null, perDay: null } : limits;
    return { plan, title, perMinute, perDay, keys: ofKeys.get(plan)?.length ?? 0 };
  });
}
